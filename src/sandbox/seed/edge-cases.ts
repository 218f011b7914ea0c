import type { Json, Row } from '../json.ts';
import { amountOf, type Dataset } from './dataset.ts';
import type { Random } from './random.ts';
import { html, injections, invisible, rightToLeft, withAccents, withApostrophes } from './words.ts';

/** A flaw in the data: how many rows of a table have it, and how it changes them. */
interface Flaw {
  kind: string;
  /** Share of the rows that qualify; at least one row is taken. */
  share: number;
  only: (row: Row, index: number) => boolean;
  change: (row: Row, context: FlawContext) => void;
}

interface FlawContext {
  random: Random;
  dataset: Dataset;
  rows: Row[];
  /** Number of rows that have the flaw already. */
  at: number;
}

const LONG_TEXT = 30_000;

/** Gives some rows realistic flaws, and records them in the table `edge_case`. */
export function addEdgeCases(dataset: Dataset): void {
  for (const [table, flaws] of Object.entries(flawsOf)) {
    const rows = dataset.rows.get(table) ?? [];
    for (const { kind, share, only, change } of flaws) {
      const random = dataset.random.fork(`${table}/${kind}`);
      const candidates = rows.filter(only);
      const count = Math.max(1, Math.round(candidates.length * share));
      random.some(candidates, count).forEach((row, at) => {
        change(row, { random, dataset, rows, at });
        dataset.mark(table, row, kind);
      });
    }
  }
}

const dropFields =
  (...names: string[]) =>
  (row: Row) => {
    for (const name of names) delete row[name];
  };
const setFields = (values: Row) => (row: Row) => {
  Object.assign(row, values);
};
const asText =
  (...names: string[]) =>
  (row: Row) => {
    for (const name of names) if (row[name] != null) row[name] = amountOf(row[name]).toFixed(2);
  };
const oddCase =
  (name: string) =>
  (row: Row, { random }: FlawContext) => {
    const text = String(row[name]);
    const title = text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
    row[name] = text === title || random.chance(0.4) ? text.toUpperCase() : title;
  };
const labelsAsObjects = (row: Row) => {
  if (Array.isArray(row.labels)) row.labels = row.labels.map((name: Json) => ({ name }));
};
const hasField = (name: string) => (row: Row) => row[name] != null;
const isOpen = (row: Row) => row.outcome === 'open';
const isValued = (row: Row) => isOpen(row) && !row.deletedAt && amountOf(row.onetimeRevenue) > 0;
const isSent = (row: Row) => row.status === 'sent' && !row.deletedAt;
/** A deletion is a change, as in this service when it runs. */
const deleteRow =
  (field: 'deleted' | 'deletedAt', days: number) =>
  (row: Row, { random, dataset }: FlawContext) => {
    row[field] = dataset.momentAfter(random, -random.int(0, days), String(row.updatedAt));
    row.updatedAt = row[field];
  };
const justTheDay = (name: string) => (row: Row) => {
  row[name] = String(row[name]).slice(0, 10);
};
const withOffset = (name: string) => (row: Row) => {
  row[name] = `${String(row[name]).slice(0, 10)}T17:00:00+02:00`;
};
/** Each row gets the next of the texts. */
const textOf =
  (name: string, texts: readonly string[]) =>
  (row: Row, { at: index }: FlawContext) => {
    row[name] = texts[index % texts.length];
  };

/** Gives a company another name and host, and its contacts with it. */
function rename(row: Row, name: string, host: string, { dataset }: FlawContext): void {
  const before = String(row.website).replace('https://www.', '');
  row.name = name;
  row.website = `https://www.${host}`;
  for (const contact of dataset.rows.get('contact') ?? []) {
    if (contact.companyId !== row.id) continue;
    contact.companyName = name;
    if (typeof contact.email === 'string') contact.email = contact.email.replace(before, host);
  }
}

/** Each row gets the next of the names, with its host. */
const named =
  (names: readonly (readonly [name: string, host: string])[]) =>
  (row: Row, context: FlawContext) => {
    const [name, host] = names[context.at % names.length] ?? [String(row.name), ''];
    rename(row, name, `${host}.${context.dataset.profile.domain}`, context);
  };

function nameOfAnother(row: Row, context: FlawContext): void {
  const others = context.rows.filter((other) => isOrdinary(other) && other !== row);
  if (others.length === 0) return;
  const other = context.random.pick(others);
  const host = String(other.website).replace('https://www.', '').replace('.', '-group.');
  rename(row, String(other.name), host, context);
}

const flaw = (
  kind: string,
  share: number,
  change: Flaw['change'],
  only: Flaw['only'] = () => true,
): Flaw => ({ kind, share, change, only });

const companyFlaws: Flaw[] = [
  flaw('apostrophes', 0.007, named(withApostrophes), isOrdinary),
  flaw('accents', 0.007, named(withAccents), isOrdinary),
  flaw('right-to-left name', 0.003, named(rightToLeft), isOrdinary),
  flaw('name of another company', 0.012, nameOfAnother, isOrdinary),
  flaw('type in odd case', 0.06, oddCase('type'), hasField('type')),
  flaw('no type', 0.02, dropFields('type'), isOrdinary),
  flaw('no currency', 0.02, dropFields('currency')),
  flaw('null website', 0.03, setFields({ website: null })),
  flaw('labels as objects', 0.15, labelsAsObjects, hasField('labels')),
  flaw('account manager that does not exist', 0.01, (row, { random }) => {
    row.accountManagerId = random.id();
  }),
];

/** Excludes manufacturers, whose type distinguishes them from customers. */
function isOrdinary(row: Row): boolean {
  return row.type !== undefined && !/manufacturer/i.test(String(row.type));
}

const contactFlaws: Flaw[] = [
  flaw('soft-deleted', 0.03, deleteRow('deleted', 19)),
  flaw('no company', 0.02, dropFields('companyId', 'companyName')),
  flaw('null e-mail', 0.03, setFields({ email: null })),
  flaw('e-mail of another contact', 0.01, (row, { random, rows }) => {
    row.email = random.pick(rows).email;
  }),
  flaw('labels as objects', 0.2, labelsAsObjects, hasField('labels')),
];

const opportunityFlaws: Flaw[] = [
  flaw('soft-deleted', 0.02, deleteRow('deletedAt', 30)),
  flaw(
    'stalled',
    0.03,
    (row, { random, dataset }) => {
      row.createdAt = dataset.moment(random, -400);
      row.stageUpdatedAt = dataset.moment(random, -random.int(180, 390));
      row.updatedAt = row.deletedAt ?? row.stageUpdatedAt;
    },
    isOpen,
  ),
  flaw(
    'zero value',
    0.03,
    setFields({ onetimeRevenue: 0, oneTimeProfit: 0, monthlyRevenue: 0, monthlyProfit: 0 }),
    isValued,
  ),
  flaw('null value', 0.03, setFields({ onetimeRevenue: null, monthlyRevenue: null }), isValued),
  flaw(
    'no value',
    0.02,
    dropFields('onetimeRevenue', 'oneTimeProfit', 'monthlyRevenue', 'monthlyProfit'),
    isValued,
  ),
  flaw(
    'money as text',
    0.08,
    asText('onetimeRevenue', 'oneTimeProfit', 'monthlyRevenue'),
    isValued,
  ),
  flaw('null contact', 0.03, setFields({ contactId: null })),
  flaw('no company', 0.01, dropFields('companyId')),
  flaw('no stage', 0.01, dropFields('pipelineStageId'), isOpen),
  flaw('no probability', 0.02, dropFields('probability'), isOpen),
  flaw(
    'close date with offset',
    0.04,
    withOffset('expectedCloseDate'),
    hasField('expectedCloseDate'),
  ),
  flaw('closed without time', 0.1, justTheDay('closedAt'), hasField('closedAt')),
  flaw('null closedAt', 0.1, setFields({ closedAt: null }), isOpen),
  flaw('html', 0.015, setFields({ description: html })),
  flaw('instructions', 0.009, textOf('description', injections)),
  flaw('invisible characters', 0.012, textOf('description', invisible)),
  flaw('very long', 0, longAsk, isLate),
];

/** After the first hundred rows, so that the first page has a typical size. */
function isLate(_row: Row, index: number): boolean {
  return index > 120;
}

function longAsk(row: Row): void {
  const line = `${String(row.description ?? row.name)} As discussed, see the list of sites below. `;
  row.description = line.repeat(Math.ceil(LONG_TEXT / line.length)).slice(0, LONG_TEXT);
}

const productFlaws: Flaw[] = [
  flaw('type in odd case', 0.12, oddCase('productType')),
  flaw('mpn of another product in other spelling', 0.008, copyMpn, isMade),
  flaw('no cost', 0.01, dropFields('cost', 'markup')),
  flaw('null cost', 0.008, setFields({ cost: null, markup: null })),
  flaw('no price', 0.007, dropFields('price', 'markup')),
  flaw('zero price', 0.004, setFields({ price: 0, markup: -100 })),
  flaw('money as text', 0.04, asText('price', 'cost')),
  flaw(
    'vendor',
    0.08,
    (row) => {
      row.vendor = row.manufacturer;
      delete row.manufacturer;
    },
    hasField('manufacturer'),
  ),
  flaw('several categories', 0.08, severalCategories),
  flaw('blank term', 0.1, setFields({ term: '' }), (row) => row.term === undefined),
  flaw('labels as objects', 0.2, labelsAsObjects, hasField('labels')),
  flaw('html', 0.01, setFields({ shortDescription: html })),
  flaw('instructions', 0.001, textOf('shortDescription', injections)),
  flaw('invisible characters', 0.002, textOf('shortDescription', invisible)),
];

function isMade(row: Row): boolean {
  return row.mpn !== undefined && row.manufacturer !== undefined;
}

function copyMpn(row: Row, { random, rows }: FlawContext): void {
  const others = rows.filter((other) => isMade(other) && other !== row);
  if (others.length === 0) return;
  const other = random.pick(others);
  const mpn = String(other.mpn);
  row.manufacturer = other.manufacturer;
  row.mpn = random.pick([mpn.toLowerCase(), ` ${mpn} `, mpn.replace('-', ' '), mpn]);
}

function severalCategories(row: Row, { random, dataset }: FlawContext): void {
  const all = dataset.rows.get('category') ?? [];
  const own = all.find(({ id }) => id === row.categoryId);
  const chosen = [own ?? random.pick(all), random.pick(all)];
  row.categories = chosen.map(({ id, name }) => ({ id, name }));
  delete row.categoryId;
}

const quoteFlaws: Flaw[] = [
  flaw('status in odd case', 0.12, oddCase('status')),
  flaw('soft-deleted', 0.02, deleteRow('deletedAt', 30)),
  flaw('soft-deleted', 0.02, deleteRow('deletedAt', 30), isSent),
  flaw('no company', 0.006, dropFields('companyId')),
  flaw('null contact', 0.02, setFields({ contactId: null })),
  flaw('no title', 0.006, dropFields('title')),
  flaw('no expiry', 0.03, dropFields('expiresAt'), hasField('expiresAt')),
  flaw('expiry without time', 0.1, justTheDay('expiresAt'), hasField('expiresAt')),
  flaw('expiry with offset', 0.05, withOffset('expiresAt'), hasField('expiresAt')),
  flaw('instructions', 0.003, textOf('title', injections)),
];

const itemFlaws: Flaw[] = [
  flaw('money as text', 0.02, asText('price', 'cost', 'setupPrice')),
  flaw('no product', 0.01, dropFields('productId', 'categoryId')),
  flaw('no cost', 0.007, dropFields('cost', 'markup')),
  flaw('html', 0.003, setFields({ description: html })),
];

const flawsOf: Record<string, Flaw[]> = {
  company: companyFlaws,
  contact: contactFlaws,
  opportunity: opportunityFlaws,
  product: productFlaws,
  quote: quoteFlaws,
  quote_item: itemFlaws,
};
