import { randomBytes } from 'node:crypto';
import {
  amount,
  type BodyShape,
  flag,
  object,
  oneOf,
  plainProperties,
  reference,
  rowFromBody,
  text,
  texts,
} from './body.ts';
import type { Context, EventName, Subject } from './context.ts';
import { invalid, notFound } from './errors.ts';
import type { Json, Row } from './json.ts';
import { readOne } from './read.ts';
import type { Reply } from './route.ts';
import { company, contact, product, quote, type Resource } from './schema.ts';

/** A resource with plain create and update routes. */
export interface WritableKind {
  resource: Resource<Subject>;
  shape: BodyShape;
  required: string[];
}

const companyShape: BodyShape = {
  ...plainProperties(
    text,
    'name',
    'type',
    'currency',
    'website',
    'telephone',
    'externalIdentifier',
  ),
  ...reference('accountManager', 'owner'),
  ...reference('parentCompany', 'company'),
  ...plainProperties(texts, 'labels'),
  ...plainProperties(object, 'address', 'customFields'),
};
const contactShape: BodyShape = {
  ...plainProperties(text, 'firstName', 'middleName', 'lastName', 'email', 'phone', 'mobilePhone'),
  ...plainProperties(text, 'jobTitle', 'externalIdentifier'),
  ...reference('company', 'company'),
  ...plainProperties(texts, 'labels'),
};
const productShape: BodyShape = {
  ...plainProperties(text, 'name', 'shortDescription', 'mpn', 'ean', 'manufacturer', 'vendor'),
  ...plainProperties(text, 'unit', 'externalIdentifier'),
  ...plainProperties(oneOf('product', 'service', 'labor', 'bundle'), 'productType'),
  ...plainProperties(oneOf('', 'month', 'year'), 'term'),
  ...plainProperties(flag, 'listed'),
  ...plainProperties(amount, 'cost', 'price', 'markup', 'msrp'),
  ...plainProperties(texts, 'labels'),
  categoryId: {
    column: 'categoryId',
    check: text,
    refers: { table: 'category', lookupColumn: 'id' },
  },
};

export const writable = {
  company: { resource: company, shape: companyShape, required: ['name'] },
  contact: { resource: contact, shape: contactShape, required: ['lastName'] },
  product: { resource: product, shape: productShape, required: ['name'] },
} satisfies Record<string, WritableKind>;

/** An identifier in the format of the existing records. */
export function newId(): string {
  const letters = randomBytes(60)
    .toString('base64')
    .replace(/[^A-Za-z0-9]/g, '');
  return letters.slice(0, 20);
}

/** In a new record, a property set to null is absent. */
export function withoutNulls(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

/**
 * Adds a record (201).
 * @throws Refusal 400 for a body that is not valid.
 */
export function createRecord(context: Context, kind: WritableKind, body: Json | undefined): Reply {
  const given = rowFromBody(context, kind.shape, body, kind.required);
  checkUnused(context, kind.resource, given);
  const { store, tenant } = context;
  const id = newId();
  const at = context.now().toISOString();
  const row = {
    ...given,
    ...companyNameOf(context, kind, given),
    id,
    createdAt: at,
    updatedAt: at,
  };
  store.insert(kind.resource.table, tenant, [withoutNulls(row)]);
  return { status: 201, body: announce(context, kind.resource, id, 'created') };
}

/**
 * Changes the properties that the body names (200).
 * @throws Refusal 404 when there is no such record, 400 for a body that is not valid.
 */
export function updateRecord(
  context: Context,
  kind: WritableKind,
  by: 'id' | 'externalIdentifier',
  key: string,
  body: Json | undefined,
): Reply {
  const { store, tenant } = context;
  const { table } = kind.resource;
  const id = store.value(`select id from ${table} where tenant = ? and ${by} = ?`, tenant, key);
  if (id === undefined) throw notFound(`No ${table} with ${by} ${key}`);
  const given = rowFromBody(context, kind.shape, body);
  checkUnused(context, kind.resource, given, String(id));
  const at = context.now().toISOString();
  const values = { ...given, ...companyNameOf(context, kind, given), updatedAt: at };
  store.update(table, tenant, String(id), values);
  return { status: 200, body: announce(context, kind.resource, String(id), 'updated') };
}

/** Refuses a duplicate external identifier. */
function checkUnused(
  { store, tenant }: Context,
  { table }: Resource,
  { externalIdentifier }: Row,
  id = '',
): void {
  if (typeof externalIdentifier !== 'string') return;
  const sql = `select 1 from ${table} where tenant = ? and externalIdentifier = ? and id <> ?`;
  if (store.value(sql, tenant, externalIdentifier, id) !== undefined) {
    throw invalid(`externalIdentifier "${externalIdentifier}" is in use`);
  }
}

/** Adds the company's name to a contact. */
function companyNameOf({ store, tenant }: Context, { resource }: WritableKind, given: Row): Row {
  if (resource !== contact || given.companyId === undefined) return {};
  const sql = 'select name from company where tenant = ? and id = ?';
  const name = store.value(sql, tenant, String(given.companyId));
  return { companyName: name === undefined ? null : String(name) };
}

/**
 * Soft-deletes a record, or unlists a product (200, with the changed record).
 * @throws Refusal 404 when there is no such record.
 */
export function unlistOrDeleteRecord(
  context: Context,
  resource: Resource<Subject>,
  id: string,
): Reply {
  const { store, tenant } = context;
  readOne(store, tenant, resource, 'id', id);
  const at = context.now().toISOString();
  const { column, value } = resource.unlist ?? { column: 'deletedAt', value: 'now' };
  const values = { [column]: value === 'now' ? at : false, updatedAt: at };
  store.update(resource.table, tenant, id, values);
  const event = resource === quote ? 'deleted' : 'updated';
  return { status: 200, body: announce(context, resource, id, event) };
}

/** Notifies the listeners of a change and returns the record's JSON text. */
export function announce(
  context: Context,
  resource: Resource<Subject>,
  id: string,
  event: EventName,
): string {
  const { store, tenant } = context;
  const body = readOne(store, tenant, resource, 'id', id);
  const at = context.now().toISOString();
  context.announce({ tenant, subject: resource.table, event, id, at, record: JSON.parse(body) });
  return body;
}
