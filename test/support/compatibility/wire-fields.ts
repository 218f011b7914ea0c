import type { Row } from '../hosts.ts';
import type { Rewrite } from '../upstream/behaviour.ts';
import { type Changes, ofEach, rewritten } from './changes.ts';
import { all, as, inField, inRecords, renamed, renamedAll } from './rewrite.ts';
import type { ListPath, Named } from './stored-data.ts';

/** How the fields of records may differ: names, shapes, units, words. */

type Make = (value: unknown) => unknown;

const deal = '/opportunity';
const closes = 'expectedCloseDate';

/** The parts of a day, `YYYY-MM-DD`. */
const partsOf = (value: unknown): [string, string, string] => {
  const [year = '', month = '', date = ''] = String(value).slice(0, 10).split('-');
  return [year, month, date];
};
const midnight = (value: unknown): number => Date.parse(String(value).slice(0, 10));

const dayForms = {
  'local midnight in UTC': (day) => new Date(midnight(day) - 3_600_000).toISOString(),
  'local midnight of New York': (day) => new Date(midnight(day) + 5 * 3_600_000).toISOString(),
  'midnight with an offset': (day) => `${day}T00:00:00+01:00`,
  'midnight in UTC': (day) => `${day}T00:00:00.000Z`,
  'noon in UTC': (day) => `${day}T12:00:00Z`,
  'day first': (day) => partsOf(day).reverse().join('/'),
  'day first with dots': (day) => partsOf(day).reverse().join('.'),
  'US order': (day) => {
    const [year, month, date] = partsOf(day);
    return `${month}/${date}/${year}`;
  },
  'RFC 2822': (day) => new Date(midnight(day)).toUTCString(),
  Firestore: (day) => ({ _seconds: midnight(day) / 1000, _nanoseconds: 0 }),
  'Firestore without underscores': (day) => ({ seconds: midnight(day) / 1000, nanoseconds: 0 }),
  compact: (day) => partsOf(day).join(''),
  'epoch with a fraction': (day) => midnight(day) / 1000 + 0.5,
  'epoch as text': (day) => String(midnight(day)),
  'Microsoft JSON': (day) => `/Date(${midnight(day)})/`,
  $date: (day) => ({ $date: new Date(midnight(day)).toISOString() }),
  'year, month, day': (day) => {
    const [year, month, date] = partsOf(day).map(Number);
    return { year, month, day: date };
  },
  'a list of numbers': (day) => partsOf(day).map(Number),
  'month by name': (day) =>
    new Date(midnight(day)).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' }),
  'a quarter': (day) => `Q${Math.ceil(Number(partsOf(day)[1]) / 3)} ${partsOf(day)[0]}`,
  'a month': (day) => partsOf(day).slice(0, 2).join('-'),
  'days since 1900': (day) => midnight(day) / 86_400_000 + 25_569,
  'epoch in nanoseconds': (day) => `${midnight(day)}000000`,
  slashes: (day) => partsOf(day).join('/'),
  'a space before the time': (day) => `${day} 00:00:00`,
} satisfies Record<string, Make>;

const noDates: readonly unknown[] = [
  ...['0001-01-01T00:00:00Z', '1900-01-01', '1970-01-01', '2099-12-31', '9999-12-31'],
  ...['-', 0, false],
];
/** What is open says a day that stands for none. */
const defaultDate = (date: unknown): (() => Rewrite) =>
  inRecords(deal, (row) => ({ closedAt: date, ...row }));

export const dates: Changes = rewritten({
  ...ofEach(dayForms, (make) => as(deal, closes, make), 'close date: '),
  ...Object.fromEntries(noDates.map((date) => [`closedAt ${date} where open`, defaultDate(date)])),
  ...Object.fromEntries(
    noDates.map((date) => [
      `deletedAt ${date} where not deleted`,
      inRecords(deal, (row) => ({ deletedAt: date, ...row })),
    ]),
  ),
  'sentAt: day first': as('/quote', 'sentAt', dayForms['day first']),
  'sentAt: RFC 2822': as('/quote', 'sentAt', dayForms['RFC 2822']),
  'sentAt: Firestore': as('/quote', 'sentAt', dayForms.Firestore),
  'sentAt: epoch with a fraction': as('/quote', 'sentAt', dayForms['epoch with a fraction']),
  'closedAt: day first': as(deal, 'closedAt', dayForms['day first']),
  'closedAt: Firestore': as(deal, 'closedAt', dayForms.Firestore),
});

const refForms: Readonly<Record<string, (field: string, named: Named) => Row>> = {
  '{value, label}': (field, { id, name }) => ({ [field]: { value: id, label: name } }),
  '{key, text}': (field, { id, name }) => ({ [field]: { key: id, text: name } }),
  'another key': (field, { id }) => ({ [`${field}Ref`]: id }),
  'a key in other words': (field, { id }) => ({ [`parent${field}Key`]: id }),
  link: (field, { id }) => ({ _links: { [field]: { href: `/public-api/${field}/${id}` } } }),
  URL: (field, { id }) => ({ [field]: `https://tenant.example/public-api/${field}/${id}` }),
  'an id in upper case': (field, { id }) => ({ [`${field}Id`]: String(id).toUpperCase() }),
  'an id with a prefix': (field, { id, name }) => ({ [field]: { id: `${field}_${id}`, name } }),
  'a list of one': (field, named) => ({ [field]: [named] }),
  'a list of ids': (field, { id }) => ({ [`${field}Ids`]: [id] }),
  '{data: {id}}': (field, { id }) => ({ [field]: { data: { type: field, id } } }),
  'JSON text': (field, named) => ({ [field]: JSON.stringify(named) }),
};

const referred = (route: ListPath, field: string): Changes =>
  rewritten(
    ofEach(
      refForms,
      (make) => inField(route, field, (named: Named) => make(field, named)),
      `${route.slice(1)}.${field}: `,
    ),
  );

export const references: Changes = {
  ...referred(deal, 'company'),
  ...referred('/quote', 'company'),
  ...referred(deal, 'owner'),
  ...referred(deal, 'pipelineStage'),
  ...rewritten({
    'contact.companyId: accountId': renamed('/contact', 'companyId', 'accountId'),
    'contact.companyId: companies[]': inField('/contact', 'companyId', (id, { companyName }) => ({
      companies: [{ id, name: companyName }],
    })),
    'contact.companyId: companies[] of ids': inField('/contact', 'companyId', (id) => ({
      companies: [id],
    })),
  }),
};

const deletions: Readonly<Record<string, (time: unknown) => Row>> = {
  isDeleted: (time) => ({ isDeleted: time !== undefined }),
  archived: (time) => ({ archived: time !== undefined }),
  'active: false': (time) => ({ active: time === undefined }),
  isActive: (time) => ({ isActive: time === undefined }),
  'a status': (time) => (time === undefined ? {} : { status: 'deleted' }),
  'deleted: {…}': (time) => ({ deleted: time === undefined ? null : { at: time, by: 'x' } }),
  'deleted: "N"': (time) => ({ deleted: time === undefined ? 'N' : 'Y' }),
  'deleted: 0 or 1': (time) => ({ deleted: time === undefined ? 0 : 1 }),
  isTrashed: (time) => ({ isTrashed: time !== undefined }),
  voidedAt: (time) => (time === undefined ? {} : { voidedAt: time }),
  'merged into another': (time) => (time === undefined ? {} : { mergedInto: 'x' }),
  visibility: (time) => ({ visibility: time === undefined ? 'visible' : 'hidden' }),
  archivedAt: (time) => (time === undefined ? {} : { archivedAt: time }),
  removedAt: (time) => (time === undefined ? {} : { removedAt: time }),
  'deleted_at: ""': (time) => ({ deleted_at: time ?? '' }),
};

const deleted = (route: ListPath, make: (time: unknown) => Row): (() => Rewrite) =>
  inRecords(route, ({ deletedAt, deleted: mark, ...row }) => ({
    ...row,
    ...make(deletedAt ?? mark),
  }));

/** Those that do not say when. */
const timeless = ['deleted: "N"', 'deleted: 0 or 1'];
const asFlag = (route: ListPath) => deleted(route, (time) => ({ deleted: time !== undefined }));

const deletedRows = (route: ListPath): Changes =>
  Object.fromEntries(
    Object.entries(deletions).map(([name, make]) => [
      `${route.slice(1)}: ${name}`,
      {
        rewrite: deleted(route, make),
        ...(timeless.includes(name) && { like: { rewrite: asFlag(route) } }),
      },
    ]),
  );

/** Says by other fields than `listed` whether a product is listed. */
const listed = (make: (isListed: boolean) => Row): (() => Rewrite) =>
  inField('/product', 'listed', make);

export const deletion: Changes = {
  ...deletedRows(deal),
  ...deletedRows('/contact'),
  ...rewritten({
    'product isListed': renamed('/product', 'listed', 'isListed'),
    'product unlisted': listed((isListed) => ({ unlisted: !isListed })),
    'product listed: "N"': as('/product', 'listed', (value) => (value ? 'Y' : 'N')),
    'product listed: 0 or 1': as('/product', 'listed', Number),
    'product blocked': listed((isListed) => ({ blocked: !isListed })),
    'product sellable': renamed('/product', 'listed', 'isSellable'),
    'product hidden': listed((isListed) => ({ hidden: !isListed })),
    'product availability': listed((it) => ({ availability: it ? 'in catalogue' : 'withdrawn' })),
    'product status inactive': listed((it) => ({ status: it ? 'active' : 'inactive' })),
  }),
};

const kebabCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
/** Every ninth row of a list, by these fields only: the record by id has all. */
const onlyWith =
  (route: ListPath, names: readonly string[]): (() => Rewrite) =>
  () => {
    let at = 0;
    const cut = inRecords(route, (row) => {
      at += 1;
      return at % 9 === 4 ? Object.fromEntries(names.map((name) => [name, row[name]])) : row;
    })();
    return (reply, request) => (request.endpoint === route ? cut(reply, request) : reply);
  };
const resources: readonly ListPath[] = ['/contact', deal, '/product', '/quote'];

export const rows: Changes = rewritten({
  ...Object.fromEntries(
    (['/company', ...resources] as const).map((route) => [
      `kebab-case in ${route}`,
      inRecords(route, renamedAll(kebabCase)),
    ]),
  ),
  'kebab-case in items': inRecords('item', renamedAll(kebabCase)),
  'rows of an id only': all(...resources.map((route) => onlyWith(route, ['id']))),
  'rows of an id and a name only': all(
    ...(['/opportunity', '/product'] as const).map((route) => onlyWith(route, ['id', 'name'])),
  ),
});

const term = (make: (term: unknown) => Row): (() => Rewrite) =>
  inRecords('item', ({ term: value, ...row }) => ({ ...row, ...make(value) }));
const months: Readonly<Record<string, number>> = { month: 1, year: 12 };
const monthsOf = (value: unknown): number => months[String(value)] ?? 0;

export const lines: Changes = rewritten({
  'term {amount, unit}': term((value) => ({
    term: value === undefined ? null : { amount: 1, unit: value },
  })),
  'term as months': term((value) => ({ term: monthsOf(value) })),
  'term in words': term((value) => ({
    term: value === undefined ? 'One-time' : { month: 'Monthly', year: 'Annual' }[String(value)],
  })),
  'term in German': term((value) => ({
    term:
      value === undefined ? 'einmalig' : { month: 'monatlich', year: 'jährlich' }[String(value)],
  })),
  'term P1M': term((value) => ({
    term: value === undefined ? null : { month: 'P1M', year: 'P1Y' }[String(value)],
  })),
  billingPeriod: term((value) => ({ billingPeriod: value ?? 'once' })),
  billingFrequency: term((value) => ({ billingFrequency: value ?? 'once' })),
  recurring: term((value) => ({ recurring: value !== undefined, interval: value })),
  isRecurring: term((value) => ({ isRecurring: value !== undefined })),
  lineItems: renamed('/quote', 'items', 'lineItems'),
  lines: renamed('/quote', 'items', 'lines'),
  'items.data': as('/quote', 'items', (data) => ({ data })),
  'items cut, itemCount': inField('/quote', 'items', (items: Row[]) => ({
    items: items.slice(0, 1),
    itemCount: items.length,
  })),
  'items {data, total}, one of them': as('/quote', 'items', (items: Row[]) => ({
    data: items.slice(0, 1),
    total: items.length,
  })),
  'items []': as('/quote', 'items', () => []),
  'items [] beside a total': inField('/quote', 'items', () => ({ items: [], total: 1_200 })),
  'items [] in lists': () => (reply, request) =>
    request.endpoint === '/quote' ? as('/quote', 'items', () => [])()(reply, request) : reply,
  'items in sections': inField('/quote', 'items', (items) => ({ sections: [{ items }] })),
});

/** Each with what the same would be in the documented form. */
const meaning = (like: () => Rewrite, of: Readonly<Record<string, () => Rewrite>>): Changes =>
  ofEach(of, (rewrite) => ({ rewrite, like: { rewrite: like } }));

const adding = (route: ListPath | 'item', more: Row): (() => Rewrite) =>
  inRecords(route, (row) => ({ ...row, ...more }));

/** The second of three or more lines. */
const everySecond = (change: (item: Row) => Row[]): (() => Rewrite) =>
  inRecords('/quote', (row) => ({
    ...row,
    ...(Array.isArray(row.items)
      ? { items: row.items.flatMap((item: Row, at) => (at % 2 === 1 ? change(item) : [item])) }
      : {}),
  }));
const marking = (more: Row): (() => Rewrite) => everySecond((item) => [{ ...item, ...more }]);

export const discounts: Changes = {
  ...meaning(adding('item', { discount: 10 }), {
    'discount {type, amount}': adding('item', { discount: { type: 'percent', amount: 10 } }),
    'discount "10%"': adding('item', { discount: '10%' }),
    'discount by another name': adding('item', { rebatePercent: 10 }),
    discountPercent: adding('item', { discountPercent: 10 }),
    'discount as a share': adding('item', { discountRate: 0.1 }),
  }),
  ...meaning(adding('/quote', { discount: { type: 'percent', amount: 10 } }), {
    'discount of the quote, 10': adding('/quote', { discount: 10 }),
    'discount of the quote, "10%"': adding('/quote', { discount: '10%' }),
    'discount of the quote, {type, value}': adding('/quote', {
      discount: { type: 'percentage', value: 10 },
    }),
    'discount of an unknown kind': adding('/quote', { discount: { type: 'loyalty', amount: 10 } }),
  }),
  ...meaning(
    everySecond(() => []),
    {
      'optional and not selected': marking({ optional: true, selected: false }),
      'isOptional, isSelected': marking({ isOptional: true, isSelected: false }),
      'included in a parent': marking({ parentItemId: 'x', includedInParent: true }),
    },
  ),
};

const won = { won: 'won', lost: 'lost', Active: 'Active' } as const;
const status = (words: Record<string, unknown>): (() => Rewrite) =>
  as(deal, 'statusId', (value) => words[String(value)]);
const withoutClosed = (change: () => Rewrite): (() => Rewrite) =>
  all(
    inField(deal, 'closedAt', () => ({})),
    change,
  );

const outcomes: Readonly<Record<string, () => Rewrite>> = {
  'in German': status({ won: 'gewonnen', lost: 'verloren', Active: 'offen' }),
  'as codes': status({ won: 4, lost: 7, Active: 1 }),
  'as ids': status({ won: '6f1c2a7e-1', lost: '6f1c2a7e-2', Active: '6f1c2a7e-3' }),
  'as objects': status({
    won: { id: 4, name: 'Won' },
    lost: { id: 7, name: 'Lost' },
    Active: { id: 1, name: 'Active' },
  }),
  'status: "won"': inField(deal, 'statusId', (value) => ({ status: value })),
  state: inField(deal, 'statusId', (value) => ({ state: value })),
  isWon: inField(deal, 'statusId', (value) => ({
    isWon: value === won.won,
    isClosed: value !== won.Active,
  })),
  'in the stage': inRecords(deal, ({ statusId, ...row }) => ({
    ...row,
    ...(statusId === won.Active ? {} : { pipelineStage: { id: 's', name: `Closed ${statusId}` } }),
  })),
  closedWon: status({ won: 'closedwon', lost: 'closedlost', Active: 'open' }),
};

const quoteStatus = (words: Record<string, unknown>): (() => Rewrite) =>
  as('/quote', 'status', (value) => words[String(value)]);

export const statuses: Changes = rewritten({
  ...Object.fromEntries(
    Object.entries(outcomes).flatMap(([name, change]) => [
      [`outcome ${name}`, change],
      [`outcome ${name}, without closedAt`, withoutClosed(change)],
    ]),
  ),
  'closedAt: closeDate': renamed(deal, 'closedAt', 'closeDate'),
  'closedAt: actualCloseDate': renamed(deal, 'closedAt', 'actualCloseDate'),
  'quote status in German': quoteStatus({
    draft: 'Entwurf',
    sent: 'versendet',
    approved: 'angenommen',
    declined: 'abgelehnt',
  }),
  'quote status: published, viewed': quoteStatus({
    draft: 'draft',
    sent: 'published',
    approved: 'accepted',
    declined: 'rejected',
  }),
  'quote status as an object': quoteStatus({
    draft: { id: 1, name: 'Draft' },
    sent: { id: 2, name: 'Sent' },
    approved: { id: 3, name: 'Approved' },
    declined: { id: 4, name: 'Declined' },
  }),
  'quote status as a number': quoteStatus({ draft: 0, sent: 1, approved: 2, declined: 3 }),
  'quote status in upper case': as('/quote', 'status', (it) => String(it).toUpperCase()),
  'quote state': renamed('/quote', 'status', 'state'),
  'quote statusId': renamed('/quote', 'status', 'statusId'),
});

const amountForms = {
  'German text': (value) => Number(value).toLocaleString('de-DE', { minimumFractionDigits: 2 }),
  'German text without cents': (value) => Number(value).toLocaleString('de-DE'),
  'Swiss text': (value) =>
    Number(value).toLocaleString('en-US', { minimumFractionDigits: 2 }).replaceAll(',', '’'),
  'English text': (value) => Number(value).toLocaleString('en-US', { minimumFractionDigits: 2 }),
  'with a symbol': (value) => `€${value}`,
  'with a code': (value) => `${value} EUR`,
  '{amount, currency}': (amount) => ({ amount, currency: 'EUR' }),
  '{value}': (value) => ({ value }),
  cents: (value) => ({ cents: Number(value) * 100 }),
  '{units, nanos}': (value) => ({ units: String(value), nanos: 0 }),
} satisfies Record<string, Make>;

const masked: Changes = rewritten({
  'one-time revenue masked': as(deal, 'onetimeRevenue', () => '***'),
  'cost masked': as('/product', 'cost', () => '-'),
  'price by currency': inField('/product', 'price', (value) => ({
    prices: [{ currency: 'EUR', value }],
  })),
  'total of a line only': inField('item', 'price', (price, { quantity }) => ({
    total: Number(price) * Number(quantity ?? 1),
  })),
  'quantity with a unit': as('item', 'quantity', (value) => `${value} pcs`),
  'probability −1': as(deal, 'probability', () => -1),
});

const percentages = as(deal, 'probability', (value) => Number(value) * 100);

export const amounts: Changes = {
  ...masked,
  'probability "50%"': {
    rewrite: as(deal, 'probability', (value) => `${Number(value) * 100}%`),
    like: { rewrite: percentages },
  },
  ...rewritten({
    ...Object.fromEntries(
      Object.entries(amountForms).flatMap(([name, make]) => [
        [`one-time revenue: ${name}`, as(deal, 'onetimeRevenue', make)],
        [`price of a line: ${name}`, as('item', 'price', make)],
      ]),
    ),
    'one-time revenue: amount': renamed(deal, 'onetimeRevenue', 'amount'),
    'one-time revenue in money': inField(deal, 'onetimeRevenue', (value) => ({
      money: { oneTime: value },
    })),
    'quantity as text': as('item', 'quantity', String),
    'quantity "3.00"': as('item', 'quantity', (value) => Number(value).toFixed(2)),
    'quantity "3,00"': as('item', 'quantity', (value) =>
      Number(value).toFixed(2).replace('.', ','),
    ),
    'quantity: qty': renamed('item', 'quantity', 'qty'),
    'price: unitPrice': renamed('item', 'price', 'unitPrice'),
    'product price: {amount}': as('/product', 'price', (amount) => ({ amount })),
    'product price: listPrice': renamed('/product', 'price', 'listPrice'),
    'product price, German text': as('/product', 'price', amountForms['German text']),
    'probability as text': as(deal, 'probability', String),
    'probability "0,5"': as(deal, 'probability', (value) => String(value).replace('.', ',')),
  }),
};

const symbols: Readonly<Record<string, string>> = { EUR: '€', USD: '$', GBP: '£' };
const currencyNames: Readonly<Record<string, string>> = {
  EUR: 'Euro',
  USD: 'US Dollar',
  GBP: 'Pound sterling',
};

export const currencies: Changes = rewritten({
  'currency {code}': as('/company', 'currency', (code) => ({ code })),
  'currency {id, name}': as('/company', 'currency', (name) => ({ id: '1', name })),
  'currency as a symbol': as('/company', 'currency', (code) => symbols[String(code)]),
  'currency by name': as('/company', 'currency', (code) => currencyNames[String(code)]),
  'currency in lower case': as('/company', 'currency', (code) => String(code).toLowerCase()),
  currencyCode: renamed('/company', 'currency', 'currencyCode'),
  'no currency': inField('/company', 'currency', () => ({})),
});

/** The fields that figures rest on, and by which they are told apart: not labels that a tenant may not use. */
const fields: Readonly<Partial<Record<ListPath | 'item', readonly string[]>>> = {
  '/company': ['name', 'currency'],
  '/contact': ['firstName', 'lastName', 'email', 'companyId', 'companyName', 'deleted'],
  '/opportunity': [
    ...['name', 'company', 'contact', 'owner', 'pipelineStage', 'category', 'source', 'statusId'],
    ...['probability', 'onetimeRevenue', 'monthlyRevenue', 'monthlyChurn', 'valueMonths'],
    ...['startDate', closes, 'createdAt', 'updatedAt', 'stageUpdatedAt', 'closedAt', 'deletedAt'],
  ],
  '/product': ['name', 'mpn', 'productType', 'listed', 'category', 'cost', 'price'],
  '/quote': [
    ...['number', 'title', 'status', 'company', 'contact', 'owner', 'opportunity', 'items'],
    ...['createdAt', 'updatedAt', 'sentAt', 'expiresAt', 'deletedAt'],
  ],
  item: ['name', 'product', 'quantity', 'price', 'cost', 'term'],
  '/contract/items': ['service', 'vendor', 'term', 'quantity', 'revenue', 'profit', 'companyId'],
  '/pricing-book': ['name', 'validFrom', 'validTo', 'companyIds', 'products'],
};

const reshapings: Readonly<Record<string, (field: string, value: unknown) => Row>> = {
  removed: () => ({}),
  renamed: (field, value) => ({ [`x${field}`]: value }),
  'in an object': (field, value) => ({ [field]: { inner: value } }),
  'in a list': (field, value) => ({ [field]: [value] }),
  null: (field) => ({ [field]: null }),
  'as a word': (field) => ({ [field]: 'unspecified' }),
};

const marks = ['deleted', 'deletedAt', 'listed'];
/** Fields of texts, and references: a word there is another text, and a name. */
const texts = [
  'company',
  'companyId',
  'opportunity',
  'name',
  'title',
  'number',
  'mpn',
  'contact',
  'owner',
  'pipelineStage',
  'product',
];
/** Where no record has a mark any more, nothing is marked: that is another tenant, and no other form. */
const reshapingsOf = (field: string) =>
  Object.entries(reshapings).filter(
    ([name]) =>
      !(marks.includes(field) && ['removed', 'null'].includes(name)) &&
      !(texts.includes(field) && name === 'as a word'),
  );

/** Any one field of any resource, renamed, reshaped or removed. */
export const anyField: Changes = Object.fromEntries(
  Object.entries(fields).flatMap(([route, names]) =>
    names.flatMap((field) =>
      reshapingsOf(field).map(([name, make]) => [
        `${route.replace('/', '')}.${field} ${name}`,
        { rewrite: inField(route as ListPath, field, (value) => make(field, value)) },
      ]),
    ),
  ),
);
