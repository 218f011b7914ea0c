/**
 * The columns of each list, chosen by hand: 25 opportunities take 2,000 tokens instead of 7,500. A column has the
 * same name in every answer, and is also the key to filter and sort by.
 */

import type { Assignable } from '../briefs/prices/books.ts';
import { discountWords } from '../briefs/prices/discounts.ts';
import { dealValue } from '../figures/deals.ts';
import { nonBlank } from '../figures/fields.ts';
import { type CurrencyOf, currencyOfRecord, rounded, unknownCurrency } from '../figures/money.ts';
import { contactName } from '../figures/naming.ts';
import { deletionOf, outcomeOf } from '../figures/outcome.ts';
import { type QuoteTotals, quoteTotals } from '../figures/quote-totals.ts';
import { termSpellings } from '../figures/terms.ts';
import { companyOf } from '../names/references.ts';
import type { ApiRecord, QuoteItem, RecordOf, Ref, Resource } from '../service/records/records.ts';
import { fieldOf } from '../values.ts';

/** Names and currencies from other records, as far as they are known. */
export interface Known {
  currencyOf: Pick<CurrencyOf, 'get'>;
  nameOf(kind: 'category' | 'company' | 'person', id: string | undefined): string | undefined;
}

export const nothingKnown: Known = { currencyOf: new Map(), nameOf: () => undefined };

export interface Column<R> {
  value(record: R, known: Known): unknown;
  /** What filters compare, where it is not what is shown. */
  compared?(record: R, known: Known): unknown;
  /** What is sorted by, where it is not what filters compare. */
  ordered?(record: R): unknown;
  /** What a filter may name instead, such as the part number of a product. */
  alternatives?(record: R): readonly (string | undefined)[];
  /** The texts that mean the same as a text, all of which the service is asked for. */
  spellings?(text: string): readonly string[];
  /** The field by which the service filters for equal texts; without it the filter is applied here. */
  filter?: string;
  /** The field that is filtered by where the values look like ids, if there is no column for it. */
  ids?: string;
  /** The field by which the service sorts; without it the order is made here. */
  sort?: string;
  /** The collections without which the value may be unknown. */
  needs?: readonly ('company' | 'opportunity' | 'product')[];
  /** It is no column of the list, but a field of the service. */
  isField?: true;
  /** Only deleted records have a value. */
  isMark?: true;
  /** Not in the concise form; for `fields`, filters and sort only. */
  hidden?: true;
}

type Columns<R extends Resource> = Readonly<Record<string, Column<RecordOf[R]>>>;

function reader(path: string): (record: unknown) => unknown {
  const [field = '', inner] = path.split('.');
  return (record) => {
    const value = fieldOf(record, field);
    return inner === undefined ? value : fieldOf(value, inner);
  };
}

/** A text that the service filters and sorts by. */
const text = (path: string): Column<unknown> => ({
  value: reader(path),
  filter: path,
  sort: path,
});
const number = (path: string): Column<unknown> => ({ value: reader(path), sort: path });
/** The day of a time; sorted by the time itself. Services store times in several forms, so filters are applied here. */
function date(path: string): Column<unknown> {
  const read = reader(path);
  return { value: (record) => dayOfTime(read(record)), ordered: read, sort: path };
}
const hidden = (column: Column<unknown>): Column<unknown> => ({ ...column, hidden: true });

/** The day of a timestamp, as written; anything that is not a date is returned unchanged. */
const dayOfTime = (time: unknown): unknown =>
  typeof time === 'string' && /^\d{4}-\d{2}-\d{2}/.test(time) ? time.slice(0, 10) : time;

/** The id of a reference, shown where it has no name. */
function referenceId(field: string): Column<unknown> {
  const read = reader(field);
  const id = reader(`${field}.id`);
  return {
    value: (record) => (fieldOf(read(record), 'name') === undefined ? id(record) : undefined),
    compared: id,
    filter: `${field}.id`,
  };
}

const currency: Column<{ company?: Ref; [field: string]: unknown }> = {
  needs: ['company'],
  value: (record, { currencyOf }) => {
    const code = currencyOfRecord(record, currencyOf);
    return code === unknownCurrency ? undefined : code;
  },
};

const times = { created: hidden(date('createdAt')), updated: hidden(date('updatedAt')) };
const externalIdentifier = text('externalIdentifier');
const labels: Column<ApiRecord> = { value: ({ labels }) => labels, filter: 'labels' };

const companyColumns: Columns<'company'> = {
  type: text('type'),
  currency: text('currency'),
  city: text('address.city'),
  country: text('address.country'),
  website: text('website'),
  telephone: text('telephone'),
  accountManager: { value: managerOf, needs: ['opportunity'] },
  accountManagerId: {
    value: (company, known) =>
      managerOf(company, known) === undefined ? company.accountManagerId : undefined,
    compared: ({ accountManagerId }) => accountManagerId,
    filter: 'accountManagerId',
  },
  externalIdentifier,
  labels,
  ...times,
};

function managerOf(company: RecordOf['company'], { nameOf }: Known): unknown {
  return fieldOf(company.accountManager, 'name') ?? nameOf('person', company.accountManagerId);
}

/** The phone numbers of a contact, as written. */
const numbersOf = ({ phone, mobilePhone }: RecordOf['contact']): string[] => [
  ...new Set([phone, mobilePhone].flatMap((number) => nonBlank(number) ?? [])),
];

const contactColumns: Columns<'contact'> = {
  email: text('email'),
  phone: {
    value: (contact) => numbersOf(contact)[0],
    compared: (contact) => oneOrAll(numbersOf(contact)),
  },
  company: text('companyName'),
  companyId: text('companyId'),
  externalIdentifier,
  labels,
  ...times,
};

function contractValue(deal: RecordOf['opportunity']): number | undefined {
  const value = dealValue(deal);
  return value && rounded(value);
}

const opportunityColumns: Columns<'opportunity'> = {
  company: text('company.name'),
  companyId: text('company.id'),
  stage: text('pipelineStage.name'),
  stageId: referenceId('pipelineStage'),
  outcome: {
    value: (deal) => {
      const outcome = outcomeOf(deal);
      // The default; and deletion has a column of its own.
      return outcome === 'open' || outcome === 'deleted' ? undefined : outcome;
    },
    compared: outcomeOf,
  },
  probability: {
    // Meaningless for a closed deal.
    value: (deal) => (outcomeOf(deal) === 'open' ? deal.probability : undefined),
    compared: ({ probability }) => probability,
    sort: 'probability',
  },
  oneTime: number('onetimeRevenue'),
  monthly: number('monthlyRevenue'),
  value: { value: contractValue, hidden: true },
  currency,
  closes: {
    // Of a closed deal it could be mistaken for the day on which it closed.
    value: (deal) => (deal.closedAt ? undefined : dayOfTime(deal.expectedCloseDate)),
    compared: ({ expectedCloseDate }) => dayOfTime(expectedCloseDate),
    sort: 'expectedCloseDate',
  },
  closed: date('closedAt'),
  owner: text('owner.name'),
  ownerId: referenceId('owner'),
  category: hidden({ ...text('category.name'), ids: 'category.id' }),
  source: hidden({ ...text('source.name'), ids: 'source.id' }),
  ask: hidden(text('description')),
  contact: {
    value: ({ contact }) => contact && contactName(contact),
    ids: 'contact.id',
    hidden: true,
  },
  valueMonths: hidden(number('valueMonths')),
  externalIdentifier: hidden(externalIdentifier),
  ...times,
};

/** The product's own category and the others, each once. */
function categoriesOf({ category, categories = [] }: RecordOf['product']): Ref[] {
  const all = category ? [category, ...categories] : categories;
  const keyOf = ({ id, name }: Ref) => id ?? name;
  return all.filter((one, at) => all.findIndex((other) => keyOf(other) === keyOf(one)) === at);
}

const oneOrAll = <T>(values: readonly T[]): T | readonly T[] | undefined =>
  values.length > 1 ? values : values[0];

const listed: Column<{ listed?: boolean }> = {
  value: (record) => (record.listed === false ? false : undefined),
  compared: (record) => record.listed !== false,
  filter: 'listed',
};

/** "monthly" finds "month", and "one-time" a blank one. */
const term: Column<{ term?: string }> = {
  value: ({ term }) => term,
  alternatives: ({ term }) => termSpellings(term),
  spellings: termSpellings,
  filter: 'term',
};

const productColumns: Columns<'product'> = {
  mpn: text('mpn'),
  manufacturer: { value: ({ manufacturer, vendor }) => nonBlank(manufacturer) ?? vendor },
  productType: text('productType'),
  price: number('price'),
  cost: number('cost'),
  currency: { value: (product) => product.currency },
  // A blank one is no value here, and one where the service sorts.
  term,
  category: {
    value: (product) => oneOrAll(categoriesOf(product).flatMap(({ name }) => name ?? [])),
  },
  categoryId: {
    value: (product) =>
      oneOrAll(categoriesOf(product).flatMap(({ id, name }) => (name === undefined && id) || [])),
    compared: (product) => categoriesOf(product).map(({ id }) => id),
  },
  listed,
  ean: hidden(text('ean')),
  externalIdentifier: hidden(externalIdentifier),
  labels: { ...labels, hidden: true },
  ...times,
};

/** By the items, not by the quote: items that a list lacks are read later and added to the same record. */
const totalsOf = new WeakMap<readonly QuoteItem[], QuoteTotals>();

function totals(quote: RecordOf['quote']): QuoteTotals {
  if (!quote.items) return quoteTotals(quote);
  const known = totalsOf.get(quote.items) ?? quoteTotals(quote);
  totalsOf.set(quote.items, known);
  return known;
}
const total = (name: keyof QuoteTotals): Column<RecordOf['quote']> => ({
  value: (quote) => totals(quote)[name],
});

const quoteColumns: Columns<'quote'> = {
  status: text('status'),
  company: text('company.name'),
  companyId: text('company.id'),
  opportunity: text('opportunity.name'),
  opportunityId: referenceId('opportunity'),
  owner: text('owner.name'),
  ownerId: referenceId('owner'),
  created: date('createdAt'),
  expires: date('expiresAt'),
  sent: hidden(date('sentAt')),
  approved: hidden(date('approvedAt')),
  declined: hidden(date('declinedAt')),
  currency,
  items: total('items'),
  oneTime: total('oneTime'),
  monthly: total('monthly'),
  yearly: total('yearly'),
  otherTerms: total('otherTerms'),
  unknownPrices: total('unknownPrices'),
  assumedQuantities: total('assumedQuantities'),
  discountNotApplied: total('discountNotApplied'),
};

const contractItemColumns: Columns<'contract_item'> = {
  company: {
    value: (item, { nameOf }) => companyOf(item).name ?? nameOf('company', companyOf(item).id),
  },
  companyId: { value: (item) => companyOf(item).id },
  vendor: text('vendor'),
  term: { ...term, sort: 'term' },
  quantity: number('quantity'),
  revenue: number('revenue'),
  profit: number('profit'),
  currency,
  starts: date('startDate'),
  ends: date('endDate'),
};

const assignees = (
  { companyIds = [], classificationIds = [] }: Assignable,
  { nameOf }: Known,
): string[] => [
  ...companyIds.map((id) => nameOf('company', id) ?? id),
  ...classificationIds.map((id) => `classificationId ${id}`),
];

const maxAssignees = 5;
/** Names of products that the list shows of a pricing book. */
export const shownProducts = 3;

/** The first of some texts, and how many more there are. */
const shortened = <T>(all: readonly T[], limit: number): readonly (T | string)[] =>
  all.length > limit ? [...all.slice(0, limit), `${all.length - limit} more`] : all;

/** The companies and classifications that it is for; `none` if it names none. */
function assignedTo(none: string): Column<Assignable> {
  const compared = (assigned: Assignable, known: Known) => {
    const all = assignees(assigned, known);
    return all.length === 0 ? [none] : all;
  };
  return {
    compared,
    value: (...of) => shortened(compared(...of), maxAssignees),
    alternatives: ({ companyIds = [], classificationIds = [] }) =>
      companyIds.concat(classificationIds),
  };
}

const productNames = ({ products = [] }: RecordOf['pricing_book']): (string | undefined)[] =>
  products.map(({ name, productId }) => name ?? productId);

const bookColumns: Columns<'pricing_book'> = {
  for: assignedTo('everyone'),
  specialBidNumber: text('specialBidNumber'),
  validFrom: date('validFrom'),
  validTo: date('validTo'),
  products: { value: ({ products }) => products?.length },
  product: {
    value: (book) =>
      book.products?.some(({ name }) => name)
        ? shortened(productNames(book), shownProducts)
        : undefined,
    compared: productNames,
    alternatives: ({ products = [] }) => products.flatMap(({ mpn, productId }) => [mpn, productId]),
    needs: ['product'],
  },
};

const deleted: Column<ApiRecord> = { value: deletionOf, isMark: true };

/** In their order; a deleted record says so right after what it is called. */
function listOf<R extends Resource>(
  columns: Columns<R>,
  called: Columns<R> = { name: text('name') },
) {
  const all: Columns<Resource> = { id: text('id'), ...called, deleted, ...columns };
  return {
    all,
    /** Those of the concise form. */
    shown: Object.entries(all).filter(([, { hidden }]) => !hidden),
    /** Whether the amounts of these records are in the currency of each record's company. */
    isInCompanyCurrency: all.currency?.needs !== undefined,
  };
}

export const listColumns: Readonly<Record<Resource, ReturnType<typeof listOf>>> = {
  company: listOf<'company'>(companyColumns),
  contact: listOf<'contact'>(contactColumns, { name: { value: contactName } }),
  opportunity: listOf<'opportunity'>(opportunityColumns),
  product: listOf<'product'>(productColumns),
  quote: listOf<'quote'>(quoteColumns, {
    number: text('number'),
    title: { value: ({ title, name }) => title ?? name, filter: 'title', sort: 'title' },
  }),
  quote_template: listOf<'quote_template'>({
    widgets: { value: ({ widgets }) => widgets?.map((widget) => widget.name ?? widget.id) },
    updated: date('updatedAt'),
  }),
  quote_widget: listOf({ type: text('type'), updated: date('updatedAt') }),
  pricing_book: listOf<'pricing_book'>(bookColumns),
  category: listOf({
    parentCategoryId: text('parentCategoryId'),
    markup: number('markup'),
    listed,
  }),
  category_tree: listOf({}),
  discount_group: listOf<'discount_group'>({
    for: assignedTo('nobody'),
    discounts: {
      value: ({ discounts }, { nameOf }) =>
        discounts?.map((discount) => discountWords(discount, (id) => nameOf('category', id))),
    },
  }),
  contract_item: listOf<'contract_item'>(contractItemColumns, {
    service: { value: ({ service, name }) => service ?? name, sort: 'service' },
  }),
};
