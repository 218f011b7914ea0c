/**
 * The records of the service: known fields are typed and normalised, unknown fields are kept unchanged. Field
 * names are the service's own (`oneTimeProfit` is its spelling). Money is in the company's currency, times are
 * ISO 8601 as sent.
 */

import { isKeyOf } from '../../values.ts';
import {
  currency,
  dayFrom,
  type Fields,
  flag,
  idAndName,
  listOf,
  mark,
  nameOf,
  nested,
  number,
  object,
  type Parsed,
  percent,
  ref,
  share,
  text,
  time,
  word,
} from './normalise.ts';

export type { Ref } from './normalise.ts';

const day = dayFrom('13');

const base = {
  ...idAndName,
  externalIdentifier: text,
  labels: listOf(nameOf),
  createdAt: time,
  updatedAt: time,
  /** Soft deletion: its time, or `true` if the service gives no time. */
  deletedAt: mark,
  deleted: mark,
  customFields: object,
};
export const quoteItem = {
  ...base,
  mpn: text,
  manufacturer: nameOf,
  category: ref,
  product: ref,
  quantity: number,
  /** Per unit and term. */
  price: number,
  cost: number,
  markup: percent,
  discount: percent,
  /** Charged once, regardless of the term. */
  setupPrice: number,
  setupCost: number,
  term: word,
  unit: text,
};
const bookPrice = {
  productId: text,
  /** Of the product; the service gives its id only. */
  name: text,
  mpn: text,
  price: number,
  cost: number,
  validFrom: day,
  validTo: day,
};
const category = { ...base, parentCategoryId: text, listed: flag, markup: percent };
const branch = { ...category, children: (raw: unknown) => listOf(nested<Fields>(branch))(raw) };

/** The known fields of each kind of record. */
export const fieldsOf = {
  company: {
    ...base,
    type: word,
    currency,
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
    probability: share,
    onetimeRevenue: number,
    oneTimeProfit: number,
    monthlyRevenue: number,
    monthlyProfit: number,
    monthlyChurn: number,
    valueMonths: number,
    startDate: day,
    expectedCloseDate: day,
    closedAt: time,
    stageUpdatedAt: time,
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
    markup: percent,
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
    sentAt: time,
    approvedAt: time,
    declinedAt: time,
    expiredAt: time,
    // More often a time of its own than a day.
    expiresAt: dayFrom('21'),
    contractStartDate: day,
    contractEndDate: day,
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
    validFrom: day,
    validTo: day,
    companyIds: listOf(text),
    classificationIds: listOf(text),
    products: listOf(nested(bookPrice)),
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
    company: ref,
    startDate: day,
    endDate: day,
  },
} satisfies Record<string, Fields>;

export type Resource = keyof typeof fieldsOf;

/** Records within others, in lists of this name: lines of quotes, prices in pricing books. */
export const partsOf = {
  quote: { list: 'items', kind: 'quote_line', fields: quoteItem },
  pricing_book: { list: 'products', kind: 'book_price', fields: bookPrice },
} as const satisfies { readonly [R in Resource]?: { list: string; kind: string; fields: Fields } };
export type Kind = Resource | Part['kind'];
type Part = (typeof partsOf)[keyof typeof partsOf];

/** The list of records within those of this kind. */
export const partOf = (kind: Kind): Part | undefined =>
  isKeyOf(partsOf, kind) ? partsOf[kind] : undefined;

/** Marks, which most tenants have on few records or on none: that no row has one means nothing. */
export const marks: ReadonlySet<string> = new Set([
  'deletedAt',
  'deleted',
  'listed',
  'discount',
  'optional',
]);

/** Fields that many tenants do not use: that no row has one means nothing. */
export const unusual: { readonly [R in Resource]?: readonly string[] } = {
  opportunity: ['oneTimeProfit', 'monthlyProfit'],
  product: ['term'],
  quote: ['items.setupPrice', 'items.setupCost', 'approvedAt', 'declinedAt'],
  pricing_book: ['products.validFrom', 'products.validTo', 'classificationIds'],
};

/** What sums and counts take from every record: where many lack it, they are of a part. */
export const needed: { readonly [R in Resource]?: readonly string[] } = {
  company: ['name', 'currency'],
  opportunity: ['name', 'company', 'onetimeRevenue', 'monthlyRevenue', 'probability', 'createdAt'],
  product: ['name', 'price', 'cost'],
  quote: ['status', 'items', 'items.price', 'items.cost', 'items.quantity'],
  pricing_book: ['products', 'products.productId'],
};

const deletedAt =
  /delet|archiv|remov|trash|recycl|tombst|void|merged|inactiv|hidden|supersed|^(is)?(active|latest|current|currentversion)$|(status|state|visibility|lifecycle)$/;
const company = /company|account|customer|client|organi[sz]ation/;
const price = /price|amount/;
/** Parts of the names, in lower case, of fields that are not read but may be one that is. */
export const mayBeCalled: {
  readonly [K in Kind]?: Readonly<Record<string, RegExp>>;
} = {
  company: { currency: /currenc/, deletedAt },
  contact: { companyId: company, deletedAt },
  opportunity: {
    ...{ company, pipelineStage: /stage|phase/, statusId: /outcome|iswon|isclosed|statusid/ },
    ...{ monthlyRevenue: /month|recurring/, onetimeRevenue: /amount|revenue|onetime|money/ },
    ...{ closedAt: /closed|closing/, deletedAt },
  },
  product: {
    price,
    cost: /cost/,
    listed: /listed|status|active|discontinued|hidden|availab|blocked|sellable|orderable/,
    deletedAt,
  },
  quote: {
    ...{ company, status: /status|state/, items: /item|line|section/, number: /number/ },
    ...{ discount: /discount|rebate/, deletedAt },
  },
  book_price: { 'products.productId': /product|partn|sku|article/, 'products.price': price },
  quote_line: {
    ...{ 'items.price': price, 'items.cost': /cost/, 'items.quantity': /quantity|qty/ },
    'items.term': /term|period|billing|frequen|recur|interval|cycle/,
    'items.discount': /discount|rebate|reduction/,
    'items.optional': /option|selected|alternative|included|parent/,
  },
};

export type RecordOf = { [R in Resource]: Parsed<(typeof fieldsOf)[R]> };
/** Records of several collections. */
export type RecordLists = { readonly [R in Resource]?: readonly RecordOf[R][] | undefined };
export type ApiRecord = Parsed<typeof base>;
export type Company = RecordOf['company'];
export type Contact = RecordOf['contact'];
export type Opportunity = RecordOf['opportunity'];
export type Product = RecordOf['product'];
export type Quote = RecordOf['quote'];
export type QuoteItem = Parsed<typeof quoteItem>;
export type PricingBook = RecordOf['pricing_book'];
export type Category = RecordOf['category'] & { readonly children?: readonly Category[] };
export type DiscountGroup = RecordOf['discount_group'];
export type ContractItem = RecordOf['contract_item'];
