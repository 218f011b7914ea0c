import type { Json, Row } from '../json.ts';
import type { Random } from './random.ts';
import { html, injections, invisible, rightToLeft, withAccents, withApostrophes } from './words.ts';
import { amountOf, type World } from './world.ts';

/** A flaw in the data: how many rows of a table have it, and how it changes them. */
interface Flaw {
  kind: string;
  /** Share of the rows that qualify; at least one row is taken. */
  share: number;
  only?: (row: Row, index: number) => boolean;
  change: (row: Row, context: FlawContext) => void;
}

interface FlawContext {
  random: Random;
  world: World;
  rows: Row[];
  /** Number of rows that have the flaw already. */
  at: number;
}

const LONG_TEXT = 30_000;

/** Gives some rows realistic flaws, and records them in the table `awkward`. */
export function makeAwkward(world: World): void {
  for (const [table, flaws] of Object.entries(flawsOf)) {
    const rows = world.rows.get(table) ?? [];
    for (const flaw of flaws) applyFlaws(world, table, rows, flaw);
  }
}

function applyFlaws(
  world: World,
  table: string,
  rows: Row[],
  { kind, share, only, change }: Flaw,
): void {
  const random = world.random.fork(`${table}/${kind}`);
  const candidates = only ? rows.filter(only) : rows;
  const count = Math.max(1, Math.round(candidates.length * share));
  random.some(candidates, count).forEach((row, index) => {
    change(row, { random, world, rows, at: index });
    world.mark(table, row, kind);
  });
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
const deleteRow = (row: Row, { random, world }: FlawContext) => {
  row.deletedAt = world.momentAfter(random, -random.int(0, 30), String(row.updatedAt));
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
function rename(row: Row, name: string, host: string, { world }: FlawContext): void {
  const before = String(row.website).replace('https://www.', '');
  row.name = name;
  row.website = `https://www.${host}`;
  for (const contact of world.rows.get('contact') ?? []) {
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
    rename(row, name, `${host}.${context.world.profile.domain}`, context);
  };

function nameOfAnother(row: Row, context: FlawContext): void {
  const others = context.rows.filter((other) => isOrdinary(other) && other !== row);
  if (others.length === 0) return;
  const other = context.random.pick(others);
  const host = String(other.website).replace('https://www.', '').replace('.', '-group.');
  rename(row, String(other.name), host, context);
}

const companyFlaws: Flaw[] = [
  { kind: 'apostrophes', share: 0.007, only: isOrdinary, change: named(withApostrophes) },
  { kind: 'accents', share: 0.007, only: isOrdinary, change: named(withAccents) },
  { kind: 'right-to-left name', share: 0.003, only: isOrdinary, change: named(rightToLeft) },
  { kind: 'name of another company', share: 0.012, only: isOrdinary, change: nameOfAnother },
  { kind: 'type in odd case', share: 0.06, only: hasField('type'), change: oddCase('type') },
  { kind: 'no type', share: 0.02, only: isOrdinary, change: dropFields('type') },
  { kind: 'no currency', share: 0.02, change: dropFields('currency') },
  { kind: 'null website', share: 0.03, change: setFields({ website: null }) },
  { kind: 'labels as objects', share: 0.15, only: hasField('labels'), change: labelsAsObjects },
  {
    kind: 'account manager that does not exist',
    share: 0.01,
    change: (row, { random }) => {
      row.accountManagerId = random.id();
    },
  },
];

/** Excludes manufacturers, whose type distinguishes them from customers. */
function isOrdinary(row: Row): boolean {
  return row.type !== undefined && !/manufacturer/i.test(String(row.type));
}

const contactFlaws: Flaw[] = [
  {
    kind: 'soft-deleted',
    share: 0.03,
    change: (row, { random, world }) => {
      row.deleted = world.momentAfter(random, -random.int(0, 19), String(row.updatedAt));
    },
  },
  { kind: 'no company', share: 0.02, change: dropFields('companyId', 'companyName') },
  { kind: 'null e-mail', share: 0.03, change: setFields({ email: null }) },
  {
    kind: 'e-mail of another contact',
    share: 0.01,
    change: (row, { random, rows }) => {
      row.email = random.pick(rows).email;
    },
  },
  { kind: 'labels as objects', share: 0.2, only: hasField('labels'), change: labelsAsObjects },
];

const opportunityFlaws: Flaw[] = [
  { kind: 'soft-deleted', share: 0.02, change: deleteRow },
  {
    kind: 'stalled',
    share: 0.03,
    only: isOpen,
    change: (row, { random, world }) => {
      row.createdAt = world.moment(random, -400);
      row.stageUpdatedAt = world.moment(random, -random.int(180, 390));
      row.updatedAt = row.stageUpdatedAt;
    },
  },
  {
    kind: 'zero value',
    share: 0.03,
    only: isValued,
    change: setFields({ onetimeRevenue: 0, oneTimeProfit: 0, monthlyRevenue: 0, monthlyProfit: 0 }),
  },
  {
    kind: 'null value',
    share: 0.03,
    only: isValued,
    change: setFields({ onetimeRevenue: null, monthlyRevenue: null }),
  },
  {
    kind: 'no value',
    share: 0.02,
    only: isValued,
    change: dropFields('onetimeRevenue', 'oneTimeProfit', 'monthlyRevenue', 'monthlyProfit'),
  },
  {
    kind: 'money as text',
    share: 0.08,
    only: isValued,
    change: asText('onetimeRevenue', 'oneTimeProfit', 'monthlyRevenue'),
  },
  { kind: 'null contact', share: 0.03, change: setFields({ contactId: null }) },
  { kind: 'no company', share: 0.01, change: dropFields('companyId') },
  { kind: 'no stage', share: 0.01, only: isOpen, change: dropFields('pipelineStageId') },
  { kind: 'no probability', share: 0.02, only: isOpen, change: dropFields('probability') },
  {
    kind: 'close date with offset',
    share: 0.04,
    only: hasField('expectedCloseDate'),
    change: withOffset('expectedCloseDate'),
  },
  {
    kind: 'closed without time',
    share: 0.1,
    only: hasField('closedAt'),
    change: justTheDay('closedAt'),
  },
  { kind: 'null closedAt', share: 0.1, only: isOpen, change: setFields({ closedAt: null }) },
  { kind: 'html', share: 0.015, change: setFields({ description: html }) },
  { kind: 'instructions', share: 0.009, change: textOf('description', injections) },
  { kind: 'invisible characters', share: 0.012, change: textOf('description', invisible) },
  { kind: 'very long', share: 0, only: isLate, change: longAsk },
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
  { kind: 'type in odd case', share: 0.12, change: oddCase('productType') },
  { kind: 'mpn of another product in other spelling', share: 0.008, only: isMade, change: copyMpn },
  { kind: 'no cost', share: 0.01, change: dropFields('cost', 'markup') },
  { kind: 'null cost', share: 0.008, change: setFields({ cost: null, markup: null }) },
  { kind: 'no price', share: 0.007, change: dropFields('price', 'markup') },
  { kind: 'zero price', share: 0.004, change: setFields({ price: 0, markup: -100 }) },
  { kind: 'money as text', share: 0.04, change: asText('price', 'cost') },
  {
    kind: 'vendor',
    share: 0.08,
    only: hasField('manufacturer'),
    change: (row) => {
      row.vendor = row.manufacturer;
      delete row.manufacturer;
    },
  },
  { kind: 'several categories', share: 0.08, change: severalCategories },
  {
    kind: 'blank term',
    share: 0.1,
    only: (row) => row.term === undefined,
    change: setFields({ term: '' }),
  },
  { kind: 'labels as objects', share: 0.2, only: hasField('labels'), change: labelsAsObjects },
  { kind: 'html', share: 0.01, change: setFields({ shortDescription: html }) },
  { kind: 'instructions', share: 0.001, change: textOf('shortDescription', injections) },
  { kind: 'invisible characters', share: 0.002, change: textOf('shortDescription', invisible) },
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

function severalCategories(row: Row, { random, world }: FlawContext): void {
  const all = world.rows.get('category') ?? [];
  const own = all.find(({ id }) => id === row.categoryId);
  const chosen = [own ?? random.pick(all), random.pick(all)];
  row.categories = chosen.map(({ id, name }) => ({ id, name }));
  delete row.categoryId;
}

const quoteFlaws: Flaw[] = [
  { kind: 'status in odd case', share: 0.12, change: oddCase('status') },
  { kind: 'soft-deleted', share: 0.02, change: deleteRow },
  { kind: 'soft-deleted', share: 0.02, only: isSent, change: deleteRow },
  { kind: 'no company', share: 0.006, change: dropFields('companyId') },
  { kind: 'null contact', share: 0.02, change: setFields({ contactId: null }) },
  { kind: 'no title', share: 0.006, change: dropFields('title') },
  { kind: 'no expiry', share: 0.03, only: hasField('expiresAt'), change: dropFields('expiresAt') },
  {
    kind: 'expiry without time',
    share: 0.1,
    only: hasField('expiresAt'),
    change: justTheDay('expiresAt'),
  },
  {
    kind: 'expiry with offset',
    share: 0.05,
    only: hasField('expiresAt'),
    change: withOffset('expiresAt'),
  },
  { kind: 'instructions', share: 0.003, change: textOf('title', injections) },
];

const itemFlaws: Flaw[] = [
  { kind: 'money as text', share: 0.02, change: asText('price', 'cost', 'setupPrice') },
  { kind: 'no product', share: 0.01, change: dropFields('productId', 'categoryId') },
  { kind: 'no cost', share: 0.007, change: dropFields('cost', 'markup') },
  { kind: 'html', share: 0.003, change: setFields({ description: html }) },
];

const flawsOf: Record<string, Flaw[]> = {
  company: companyFlaws,
  contact: contactFlaws,
  opportunity: opportunityFlaws,
  product: productFlaws,
  quote: quoteFlaws,
  quote_item: itemFlaws,
};
