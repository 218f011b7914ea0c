import {
  amount,
  type BodyShape,
  date,
  oneOf,
  plainProperties,
  reference,
  rowFromBody,
  text,
} from './body.ts';
import type { Context } from './context.ts';
import { invalid, notFound, Refusal } from './errors.ts';
import type { Json, Row } from './json.ts';
import { readOne } from './read.ts';
import type { Reply, Request } from './route.ts';
import { quote } from './schema.ts';
import { announce, newId, withoutNulls } from './write-record.ts';

const PLAIN: BodyShape = {
  ...plainProperties(text, 'title'),
  ...plainProperties(date, 'expiresAt', 'contractStartDate', 'contractEndDate'),
  ...reference('company', 'company'),
  ...reference('contact', 'contact'),
  ...reference('owner', 'owner'),
  opportunityId: {
    column: 'opportunityId',
    check: text,
    refers: { table: 'opportunity', lookupColumn: 'id' },
  },
};
const QUOTE: BodyShape = {
  ...PLAIN,
  items: {
    column: 'items',
    check: (value) => (Array.isArray(value) ? undefined : 'must be an array'),
  },
};
const ITEM: BodyShape = {
  ...plainProperties(text, 'name', 'description', 'term', 'unit'),
  ...plainProperties(amount, 'quantity', 'price', 'cost', 'discount', 'setupPrice', 'setupCost'),
  productId: { column: 'productId', check: text, refers: { table: 'product', lookupColumn: 'id' } },
};
/** The date that goes with each status. */
const DATE_OF: Readonly<Record<string, string | undefined>> = {
  sent: 'sentAt',
  approved: 'approvedAt',
  declined: 'declinedAt',
  expired: 'expiredAt',
};
const CHANGED_QUOTE: BodyShape = {
  ...PLAIN,
  ...plainProperties(oneOf('draft', ...Object.keys(DATE_OF)), 'status'),
};
const ORDER: BodyShape = plainProperties(text, 'status');
/** Fields that an item copies from its product if the body omits them. */
const COPIED_FIELDS = [
  'name',
  'mpn',
  'manufacturer',
  'productType',
  'categoryId',
  'price',
  'cost',
  'markup',
  'term',
  'unit',
];

/**
 * `POST /quote`: adds a draft with its items (201).
 * @throws Refusal 400 for a body that is not valid.
 */
export function createQuote(context: Context, { body }: Request): Reply {
  const { items = [], ...given } = rowFromBody(context, QUOTE, body, ['title']);
  const id = newId();
  const rows = (Array.isArray(items) ? items : []).map((item, position) =>
    itemRow(context, item, id, position),
  );
  const { store, tenant } = context;
  const at = context.now().toISOString();
  const row = { ...given, id, number: nextNumber(context), status: 'draft', createdAt: at };
  store.transaction(() => {
    store.insert('quote', tenant, [withoutNulls({ ...row, updatedAt: at })]);
    store.insert('quote_item', tenant, rows);
  });
  return { status: 201, body: announce(context, quote, id, 'created') };
}

/**
 * `PUT /quote/{id}`: changes the properties that the body names, and sets the date of a new status (200).
 * @throws Refusal 404 for an unknown quote, 400 for a body that is not valid.
 */
export function updateQuote(context: Context, { key, body }: Request): Reply {
  const { store, tenant } = context;
  readOne(store, tenant, quote, 'id', key);
  const given = rowFromBody(context, CHANGED_QUOTE, body);
  const at = context.now().toISOString();
  const date = DATE_OF[String(given.status).toLowerCase()];
  store.update('quote', tenant, key, { ...given, ...(date && { [date]: at }), updatedAt: at });
  return { status: 200, body: announce(context, quote, key, 'updated') };
}

function itemRow(context: Context, item: Json, quoteId: string, position: number): Row {
  const given = rowFromBody(context, ITEM, item);
  const product = given.productId ? productOf(context, String(given.productId)) : {};
  const row: Row = { quantity: 1, discount: 0, ...product, ...given };
  if (row.name === undefined || row.name === null)
    throw invalid(`items.${position} must have a productId or a name`);
  return withoutNulls({ ...row, id: newId(), quoteId, position });
}

function productOf({ store, tenant }: Context, id: string): Row {
  const members = COPIED_FIELDS.map((column) => `'${column}', ${column}`);
  const sql = `select json_object(${members.join(', ')}) from product where tenant = ? and id = ?`;
  return JSON.parse(String(store.value(sql, tenant, id)));
}

function nextNumber({ store, tenant, now }: Context): string {
  const count = store.value('select count(*) from quote where tenant = ?', tenant);
  return `Q-${now().getUTCFullYear()}-${1001 + Number(count)}`;
}

/**
 * `POST /quote/{id}/order`: the quote is approved and becomes an order (201, with the order).
 * @throws Refusal 404 for an unknown quote, 400 if it is deleted or already ordered.
 */
export function orderQuote(context: Context, { key }: Request): Reply {
  const { store, tenant } = context;
  const present: Row = JSON.parse(readOne(store, tenant, quote, 'id', key));
  if (present.deletedAt) throw new Refusal(400, 'A deleted quote cannot be ordered');
  const ordered = 'select 1 from quote_order where tenant = ? and quoteId = ?';
  if (store.value(ordered, tenant, key) !== undefined) {
    throw new Refusal(400, 'The quote is ordered already');
  }
  const at = context.now().toISOString();
  const order = { id: newId(), quoteId: key, status: 'created', createdAt: at, updatedAt: at };
  store.transaction(() => {
    store.update('quote', tenant, key, { status: 'approved', approvedAt: at, updatedAt: at });
    store.insert('quote_order', tenant, [order]);
  });
  announce(context, quote, key, 'ordered');
  context.announce({ tenant, subject: 'order', event: 'created', id: order.id, at, record: order });
  return { status: 201, body: JSON.stringify(order) };
}

/**
 * `PUT /order/{id}`: changes the status of an order (200). The status `completed` completes it.
 * @throws Refusal 404 for an unknown order, 400 for a body that is not valid.
 */
export function updateOrder(context: Context, { key, body }: Request): Reply {
  const { store, tenant } = context;
  const { status } = rowFromBody(context, ORDER, body, ['status']);
  const sql = `select json_object('id', id, 'quoteId', quoteId, 'status', status,
    'createdAt', createdAt, 'updatedAt', updatedAt) from quote_order where tenant = ? and id = ?`;
  const [present] = store.read(sql, [tenant, key]);
  if (present === undefined) throw notFound(`No order with id ${key}`);
  const at = context.now().toISOString();
  const order = { ...JSON.parse(present), status, updatedAt: at };
  store.update('quote_order', tenant, key, { status, updatedAt: at });
  const event = status === 'completed' ? 'completed' : 'updated';
  context.announce({ tenant, subject: 'order', event, id: key, at, record: order });
  return { status: 200, body: JSON.stringify(order) };
}
