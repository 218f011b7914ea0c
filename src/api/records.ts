/**
 * The records of the service as the client hands them on: known fields typed and normalised, unknown
 * fields kept as they came. Field names are the service's own (`oneTimeProfit` is its spelling).
 */

/** A nested record, of which at least one of the two is usually there. */
export interface Ref {
  id?: string;
  name?: string;
  [field: string]: unknown;
}

/** Fields that every record may carry. Times are ISO 8601 as the service sent them. */
export interface ApiRecord {
  id?: string;
  name?: string;
  externalIdentifier?: string;
  labels?: string[];
  createdAt?: string;
  updatedAt?: string;
  deletedAt?: string;
  customFields?: Record<string, unknown>;
  /** Known fields whose value could not be read as what they should be; the raw value under their name. */
  unreadable?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface Company extends ApiRecord {
  type?: string;
  currency?: string;
  website?: string;
  telephone?: string;
  accountManagerId?: string;
  parentCompanyId?: string;
  address?: Record<string, unknown>;
}

export interface Contact extends ApiRecord {
  firstName?: string;
  middleName?: string;
  lastName?: string;
  email?: string;
  phone?: string;
  mobilePhone?: string;
  companyId?: string;
  companyName?: string;
  /** Time of soft deletion. */
  deleted?: string;
}

/** Revenue and profit in the company's currency; `probability` as stored: 0–1 or 0–100, by tenant. */
export interface Opportunity extends ApiRecord {
  description?: string;
  company?: Ref;
  contact?: Ref;
  owner?: Ref;
  pipelineStage?: Ref;
  category?: Ref;
  source?: Ref;
  statusId?: string;
  probability?: number;
  onetimeRevenue?: number;
  oneTimeProfit?: number;
  monthlyRevenue?: number;
  monthlyProfit?: number;
  monthlyChurn?: number;
  valueMonths?: number;
  startDate?: string;
  expectedCloseDate?: string;
  closedAt?: string;
  stageUpdatedAt?: string;
}

/** `price` and `cost` per unit and term; `markup` in percent; `term` is `month`, `year` or absent (one-time). */
export interface Product extends ApiRecord {
  shortDescription?: string;
  mpn?: string;
  ean?: string;
  manufacturer?: string;
  vendor?: string;
  /** Lower case: product, service, labor, bundle. */
  productType?: string;
  /** Absent means listed. */
  listed?: boolean;
  category?: Ref;
  categories?: Ref[];
  cost?: number;
  price?: number;
  markup?: number;
  msrp?: number;
  unit?: string;
  term?: string;
}

/** `price`, `cost` per unit; `discount` and `markup` in percent; `setupPrice`, `setupCost` once. */
export interface QuoteItem extends ApiRecord {
  mpn?: string;
  manufacturer?: string;
  category?: Ref;
  product?: Ref;
  quantity?: number;
  price?: number;
  cost?: number;
  markup?: number;
  discount?: number;
  setupPrice?: number;
  setupCost?: number;
  term?: string;
  unit?: string;
}

export interface Quote extends ApiRecord {
  number?: string;
  title?: string;
  /** Lower case: draft, sent, approved, declined, expired, or what the tenant uses. */
  status?: string;
  link?: string;
  sentAt?: string;
  approvedAt?: string;
  declinedAt?: string;
  expiredAt?: string;
  expiresAt?: string;
  contractStartDate?: string;
  contractEndDate?: string;
  contractDuration?: { amount?: number; unit?: string; [field: string]: unknown };
  company?: Ref;
  contact?: Ref;
  owner?: Ref;
  opportunity?: Ref;
  items?: QuoteItem[];
  discount?: { type?: string; amount?: number; [field: string]: unknown };
  paymentTerm?: Ref;
}

export interface QuoteTemplate extends ApiRecord {
  widgets?: Ref[];
}

export interface PricingBookProduct {
  productId?: string;
  price?: number;
  cost?: number;
  validFrom?: string;
  validTo?: string;
  [field: string]: unknown;
}

export interface PricingBook extends ApiRecord {
  specialBidNumber?: string;
  validFrom?: string;
  validTo?: string;
  companyIds?: string[];
  classificationIds?: string[];
  products?: PricingBookProduct[];
}

export interface Category extends ApiRecord {
  parentCategoryId?: string;
  listed?: boolean;
  markup?: number;
  children?: Category[];
}

export interface DiscountGroup extends ApiRecord {
  discounts?: Record<string, unknown>[];
  companyIds?: string[];
  classificationIds?: string[];
}

/** Beta: the schema may change. */
export interface ContractItem extends ApiRecord {
  service?: string;
  vendor?: string;
  term?: string;
  quantity?: number;
  revenue?: number;
  profit?: number;
}

export interface RecordOf {
  company: Company;
  contact: Contact;
  opportunity: Opportunity;
  product: Product;
  quote: Quote;
  quote_template: QuoteTemplate;
  quote_widget: ApiRecord;
  pricing_book: PricingBook;
  category: Category;
  category_tree: Category;
  discount_group: DiscountGroup;
  contract_item: ContractItem;
}

export type Resource = keyof RecordOf;

/**
 * Reads one raw value as one kind. `undefined` means "there is none" (an empty field); `unreadable`
 * means that something is there which is not of this kind.
 */
type Kind = (raw: unknown) => unknown;
const unreadable = Symbol('unreadable');
const plainNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const text: Kind = (raw) => {
  if (typeof raw === 'string') return raw;
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : unreadable;
};

/** Lower-cases words of a closed set, because tenants store them in any letter case. */
const word: Kind = (raw) => (typeof raw === 'string' ? raw.trim().toLowerCase() : unreadable);

/** Numbers and numeric strings. A text such as "on request" is unreadable, never 0. */
const number: Kind = (raw) => {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : unreadable;
  if (typeof raw !== 'string') return unreadable;
  const trimmed = raw.trim();
  if (trimmed === '') return undefined;
  return plainNumber.test(trimmed) ? Number(trimmed) : unreadable;
};

const flag: Kind = (raw) => {
  if (typeof raw === 'boolean') return raw;
  if (raw === 'true' || raw === 1) return true;
  return raw === 'false' || raw === 0 ? false : unreadable;
};

const isObject = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw);

/** A nested record; a bare string is its name. */
const ref: Kind = (raw) => {
  if (typeof raw === 'string') return { name: raw };
  return isObject(raw) ? normalise(raw, refFields) : unreadable;
};

/** The name alone, where the service sends either a name or a nested record. */
const nameOf: Kind = (raw) => (isObject(raw) ? text(raw.name) : text(raw));

const object: Kind = (raw) => (isObject(raw) ? raw : unreadable);

const listOf =
  (kind: Kind): Kind =>
  (raw) => {
    if (!Array.isArray(raw)) return unreadable;
    for (let at = 0; at < raw.length; at++) {
      const value = kind(raw[at]);
      if (value === unreadable) return unreadable;
      raw[at] = value;
    }
    return raw;
  };

const nested =
  (fields: Fields): Kind =>
  (raw) =>
    isObject(raw) ? normalise(raw, fields) : unreadable;

type Fields = Readonly<Record<string, Kind>>;

const refFields: Fields = { id: text, name: text };
const base: Fields = {
  id: text,
  name: text,
  externalIdentifier: text,
  labels: listOf(nameOf),
  createdAt: text,
  updatedAt: text,
  deletedAt: text,
  customFields: object,
};
const amounts = (...names: string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, number]));
const texts = (...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, text]));
const refs = (...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, ref]));

const quoteItem: Fields = {
  ...base,
  ...texts('mpn', 'unit'),
  ...amounts('quantity', 'price', 'cost', 'markup', 'discount', 'setupPrice', 'setupCost'),
  ...refs('category', 'product'),
  manufacturer: nameOf,
  term: word,
};
const category: Fields = {
  ...base,
  parentCategoryId: text,
  listed: flag,
  markup: number,
  children: (raw) => listOf(nested(category))(raw),
};

const fieldsOf: Readonly<Record<Resource, Fields>> = {
  company: {
    ...base,
    ...texts('currency', 'website', 'telephone', 'accountManagerId', 'parentCompanyId'),
    type: word,
    address: object,
  },
  contact: {
    ...base,
    ...texts('firstName', 'middleName', 'lastName', 'email', 'phone', 'mobilePhone'),
    ...texts('companyId', 'companyName', 'deleted'),
  },
  opportunity: {
    ...base,
    ...refs('company', 'contact', 'owner', 'pipelineStage', 'category', 'source'),
    ...amounts('probability', 'onetimeRevenue', 'oneTimeProfit', 'monthlyRevenue', 'monthlyProfit'),
    ...amounts('monthlyChurn', 'valueMonths'),
    ...texts('description', 'statusId', 'startDate', 'expectedCloseDate', 'closedAt'),
    stageUpdatedAt: text,
  },
  product: {
    ...base,
    ...texts('shortDescription', 'mpn', 'ean', 'unit'),
    ...amounts('cost', 'price', 'markup', 'msrp'),
    manufacturer: nameOf,
    vendor: nameOf,
    productType: word,
    listed: flag,
    category: ref,
    categories: listOf(ref),
    term: word,
  },
  quote: {
    ...base,
    ...texts('number', 'title', 'link', 'sentAt', 'approvedAt', 'declinedAt', 'expiredAt'),
    ...texts('expiresAt', 'contractStartDate', 'contractEndDate'),
    ...refs('company', 'contact', 'owner', 'opportunity', 'paymentTerm'),
    status: word,
    contractDuration: nested({ amount: number, unit: word }),
    items: listOf(nested(quoteItem)),
    discount: nested({ type: word, amount: number }),
  },
  quote_template: { ...base, widgets: listOf(ref) },
  quote_widget: base,
  pricing_book: {
    ...base,
    ...texts('specialBidNumber', 'validFrom', 'validTo'),
    companyIds: listOf(text),
    classificationIds: listOf(text),
    products: listOf(
      nested({ ...texts('productId', 'validFrom', 'validTo'), ...amounts('price', 'cost') }),
    ),
  },
  category,
  category_tree: category,
  discount_group: {
    ...base,
    discounts: listOf(object),
    companyIds: listOf(text),
    classificationIds: listOf(text),
  },
  contract_item: {
    ...base,
    ...texts('service', 'vendor'),
    ...amounts('quantity', 'revenue', 'profit'),
    term: word,
  },
};

/** Works in place: the record was just parsed and is nobody else's, and a copy of each would cost as much as the parse. */
function normalise(raw: Record<string, unknown>, fields: Fields): Record<string, unknown> {
  for (const name in fields) {
    const before = raw[name];
    if (before === undefined) continue;
    const after = before === null ? undefined : fields[name]?.(before);
    if (after === before) continue;
    if (after === undefined || after === unreadable) delete raw[name];
    else raw[name] = after;
    if (after === unreadable) setAside(raw, name, before);
  }
  return raw;
}

/** Nothing is lost: a value of another kind than its field's stays readable beside the record. */
function setAside(record: Record<string, unknown>, name: string, value: unknown): void {
  const aside = isObject(record.unreadable) ? record.unreadable : {};
  record.unreadable = { ...aside, [name]: value };
}

/**
 * Types and normalises one raw record, in place: numeric strings become numbers, closed words lower
 * case, labels strings; empty (`null`) known fields go, unknown fields stay. Never throws.
 */
export function toRecord<R extends Resource>(
  resource: R,
  raw: Record<string, unknown>,
): RecordOf[R] {
  return normalise(raw, fieldsOf[resource]) as RecordOf[R];
}
