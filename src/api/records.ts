/**
 * The records of the service: known fields are typed and normalised, unknown fields are kept unchanged. Field
 * names are the service's own (`oneTimeProfit` is its spelling). Money is in the company's currency, times are
 * ISO 8601 as sent.
 */

import { isObject } from './envelope.ts';

/** Parses a raw value: `undefined` if it is empty, `unreadable` if it has the wrong type. */
type Kind<T> = (raw: unknown) => T | undefined | typeof unreadable;
type Fields = Readonly<Record<string, Kind<unknown>>>;
type Read<F extends Fields> = { [N in keyof F]?: F[N] extends Kind<infer T> ? T : never } & {
  /** Raw values of known fields that have the wrong type, by field name. */
  unreadable?: Record<string, unknown>;
  [field: string]: unknown;
};

const unreadable = Symbol('unreadable');
const plainNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

const text: Kind<string> = (raw) => {
  if (typeof raw === 'string') return raw;
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : unreadable;
};

/** A value of an enumeration; tenants store them in any letter case. */
const word: Kind<string> = (raw) =>
  typeof raw === 'string' ? raw.trim().toLowerCase() : unreadable;

/** A number or a numeric string. A text such as "on request" is unreadable, never 0. */
const number: Kind<number> = (raw) => {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : unreadable;
  if (typeof raw !== 'string') return unreadable;
  const trimmed = raw.trim();
  if (trimmed === '') return undefined;
  return plainNumber.test(trimmed) ? Number(trimmed) : unreadable;
};

const flag: Kind<boolean> = (raw) => {
  if (typeof raw === 'boolean') return raw;
  if (raw === 'true' || raw === 1) return true;
  return raw === 'false' || raw === 0 ? false : unreadable;
};

const object: Kind<Record<string, unknown>> = (raw) => (isObject(raw) ? raw : unreadable);

/** A name, for fields in which the service sends a name or a nested record. */
const nameOf: Kind<string> = (raw) => text(isObject(raw) ? raw.name : raw);

const nested =
  <F extends Fields>(fields: F): Kind<Read<F>> =>
  (raw) =>
    isObject(raw) ? normalise(raw, fields) : unreadable;

const listOf =
  <T>(kind: Kind<T>): Kind<T[]> =>
  (raw) => {
    if (!Array.isArray(raw)) return unreadable;
    const read = raw.filter((entry) => entry !== null).map(kind);
    return read.includes(unreadable) ? unreadable : (read as T[]);
  };

const named = { id: text, name: text };

const nestedNamed = nested(named);

/** A nested record, usually with an id or a name; a string is its name. */
const ref: Kind<Ref> = (raw) => {
  if (typeof raw === 'string') return { name: raw };
  // The common case, without a copy.
  if (isObject(raw) && isTextOrAbsent(raw.id) && isTextOrAbsent(raw.name)) return raw as Ref;
  return nestedNamed(raw);
};

const isTextOrAbsent = (raw: unknown): boolean => typeof raw === 'string' || raw === undefined;

const base = {
  ...named,
  externalIdentifier: text,
  labels: listOf(nameOf),
  createdAt: text,
  updatedAt: text,
  deletedAt: text,
  customFields: object,
};
const quoteItem = {
  ...base,
  mpn: text,
  manufacturer: nameOf,
  category: ref,
  product: ref,
  quantity: number,
  /** Per unit and term. */
  price: number,
  cost: number,
  /** Percent. */
  markup: number,
  discount: number,
  /** Charged once, whatever the term. */
  setupPrice: number,
  setupCost: number,
  term: word,
  unit: text,
};
const category = { ...base, parentCategoryId: text, listed: flag, markup: number };
const branch = { ...category, children: (raw: unknown) => listOf(nested<Fields>(branch))(raw) };

const fieldsOf = {
  company: {
    ...base,
    type: word,
    currency: text,
    website: text,
    telephone: text,
    accountManagerId: text,
    parentCompanyId: text,
    address: object,
  },
  contact: {
    ...base,
    firstName: text,
    middleName: text,
    lastName: text,
    email: text,
    phone: text,
    mobilePhone: text,
    companyId: text,
    companyName: text,
    /** Time of soft deletion. */
    deleted: text,
  },
  opportunity: {
    ...base,
    description: text,
    company: ref,
    contact: ref,
    owner: ref,
    pipelineStage: ref,
    category: ref,
    source: ref,
    statusId: text,
    /** As stored: 0–1 for some tenants, 0–100 for others. */
    probability: number,
    onetimeRevenue: number,
    oneTimeProfit: number,
    monthlyRevenue: number,
    monthlyProfit: number,
    monthlyChurn: number,
    valueMonths: number,
    startDate: text,
    expectedCloseDate: text,
    closedAt: text,
    stageUpdatedAt: text,
  },
  product: {
    ...base,
    shortDescription: text,
    mpn: text,
    ean: text,
    manufacturer: nameOf,
    vendor: nameOf,
    productType: word,
    /** Absent means listed. */
    listed: flag,
    category: ref,
    categories: listOf(ref),
    /** Per unit and term. */
    cost: number,
    price: number,
    /** Percent. */
    markup: number,
    msrp: number,
    unit: text,
    /** `month`, `year`, or absent for one-time. */
    term: word,
  },
  quote: {
    ...base,
    number: text,
    title: text,
    status: word,
    link: text,
    sentAt: text,
    approvedAt: text,
    declinedAt: text,
    expiredAt: text,
    expiresAt: text,
    contractStartDate: text,
    contractEndDate: text,
    contractDuration: nested({ amount: number, unit: word }),
    company: ref,
    contact: ref,
    owner: ref,
    opportunity: ref,
    items: listOf(nested(quoteItem)),
    discount: nested({ type: word, amount: number }),
    paymentTerm: ref,
  },
  quote_template: { ...base, widgets: listOf(ref) },
  quote_widget: base,
  pricing_book: {
    ...base,
    specialBidNumber: text,
    validFrom: text,
    validTo: text,
    companyIds: listOf(text),
    classificationIds: listOf(text),
    products: listOf(
      nested({ productId: text, price: number, cost: number, validFrom: text, validTo: text }),
    ),
  },
  category,
  category_tree: branch,
  discount_group: {
    ...base,
    discounts: listOf(object),
    companyIds: listOf(text),
    classificationIds: listOf(text),
  },
  /** Beta: the schema may change. */
  contract_item: {
    ...base,
    service: text,
    vendor: text,
    term: word,
    quantity: number,
    revenue: number,
    profit: number,
  },
} satisfies Record<string, Fields>;

export type Resource = keyof typeof fieldsOf;
export type RecordOf = { [R in Resource]: Read<(typeof fieldsOf)[R]> };
export type ApiRecord = Read<typeof base>;
export type Ref = Read<typeof named>;
export type Company = RecordOf['company'];
export type Contact = RecordOf['contact'];
export type Opportunity = RecordOf['opportunity'];
export type Product = RecordOf['product'];
export type Quote = RecordOf['quote'];
export type QuoteItem = Read<typeof quoteItem>;
export type QuoteTemplate = RecordOf['quote_template'];
export type PricingBook = RecordOf['pricing_book'];
export type Category = RecordOf['category'] & { children?: Category[] };
export type DiscountGroup = RecordOf['discount_group'];
export type ContractItem = RecordOf['contract_item'];

/** Works in place: the record was just parsed, and a copy would cost as much as parsing. */
function normalise<F extends Fields>(raw: Record<string, unknown>, fields: F): Read<F> {
  for (const name in fields) {
    const before = raw[name];
    if (before === undefined) continue;
    const after = before === null ? undefined : fields[name]?.(before);
    if (after === before) continue;
    if (after === undefined || after === unreadable) delete raw[name];
    else raw[name] = after;
    if (after === unreadable) raw.unreadable = { ...(raw.unreadable ?? {}), [name]: before };
  }
  return raw as Read<F>;
}

/**
 * Types and normalises one raw record in place: numeric strings become numbers, enumeration values lower case,
 * labels strings. Empty known fields are removed, unknown fields are kept. Never throws.
 */
export function toRecord<R extends Resource>(
  resource: R,
  raw: Record<string, unknown>,
): RecordOf[R] {
  return normalise<Fields>(raw, fieldsOf[resource]) as RecordOf[R];
}
