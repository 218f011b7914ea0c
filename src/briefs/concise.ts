import type {
  ApiRecord,
  Category,
  Company,
  Contact,
  ContractItem,
  DiscountGroup,
  Opportunity,
  PricingBook,
  Product,
  Quote,
  QuoteTemplate,
  RecordOf,
  Ref,
  Resource,
} from '../records/records.ts';
import { fieldOf, isObject } from '../values.ts';
import { contactName } from './naming.ts';
import { outcomeOf } from './outcome.ts';
import { quoteTotals } from './quote-totals.ts';

type Row = Record<string, unknown>;

/**
 * The fields of each record that people ask for most, chosen by hand: 25 opportunities take 2,000 tokens
 * instead of 7,500. Revenue is `oneTime` and `monthly`, as in every brief; a nested record is reduced to its
 * name and id.
 */
const conciseRows: { [R in Resource]: (record: RecordOf[R]) => Row } = {
  company: (company: Company) => ({
    id: company.id,
    name: company.name,
    type: company.type,
    currency: company.currency,
    city: company.address?.city,
    country: company.address?.country,
    website: company.website,
    telephone: company.telephone,
    externalIdentifier: company.externalIdentifier,
    labels: company.labels,
  }),
  contact: (contact: Contact) => ({
    id: contact.id,
    name: contactName(contact),
    email: contact.email,
    phone: contact.phone ?? contact.mobilePhone,
    company: contact.companyName,
    companyId: contact.companyId,
    externalIdentifier: contact.externalIdentifier,
    labels: contact.labels,
  }),
  opportunity: (opportunity: Opportunity) => {
    const outcome = outcomeOf(opportunity);
    return {
      id: opportunity.id,
      name: opportunity.name,
      company: opportunity.company?.name,
      companyId: opportunity.company?.id,
      stage: opportunity.pipelineStage?.name,
      stageId: idOfUnnamed(opportunity.pipelineStage),
      outcome: outcome === 'open' || outcome === 'deleted' ? undefined : outcome,
      probability: opportunity.probability,
      oneTime: opportunity.onetimeRevenue,
      monthly: opportunity.monthlyRevenue,
      closes: day(opportunity.expectedCloseDate),
      owner: opportunity.owner?.name,
      ownerId: idOfUnnamed(opportunity.owner),
    };
  },
  product: (product: Product) => ({
    id: product.id,
    name: product.name,
    mpn: product.mpn,
    manufacturer: product.manufacturer ?? product.vendor,
    productType: product.productType,
    price: product.price,
    cost: product.cost,
    term: product.term,
    category: product.category?.name ?? product.categories?.[0]?.name,
    categoryId: idOfUnnamed(product.category ?? product.categories?.[0]),
    listed: product.listed === false ? false : undefined,
  }),
  quote: (quote: Quote) => ({
    id: quote.id,
    number: quote.number,
    title: quote.title ?? quote.name,
    status: quote.status,
    company: quote.company?.name,
    companyId: quote.company?.id,
    opportunity: quote.opportunity?.name,
    opportunityId: idOfUnnamed(quote.opportunity),
    owner: quote.owner?.name,
    ownerId: idOfUnnamed(quote.owner),
    createdAt: day(quote.createdAt),
    expiresAt: day(quote.expiresAt),
    ...quoteTotals(quote),
  }),
  quote_template: (template: QuoteTemplate) => ({
    id: template.id,
    name: template.name,
    widgets: template.widgets?.map((widget) => widget.name ?? widget.id),
    updatedAt: day(template.updatedAt),
  }),
  quote_widget: (widget: ApiRecord) => ({
    id: widget.id,
    name: widget.name,
    type: widget.type,
    updatedAt: day(widget.updatedAt),
  }),
  pricing_book: (book: PricingBook) => ({
    id: book.id,
    name: book.name,
    specialBidNumber: book.specialBidNumber,
    validFrom: day(book.validFrom),
    validTo: day(book.validTo),
    companies: book.companyIds?.length || undefined,
    products: book.products?.length,
  }),
  category: (category: Category) => ({
    id: category.id,
    name: category.name,
    parentCategoryId: category.parentCategoryId,
    markup: category.markup,
    listed: category.listed === false ? false : undefined,
  }),
  category_tree: (category) => ({ id: category.id, name: category.name }),
  discount_group: (group: DiscountGroup) => ({
    id: group.id,
    name: group.name,
    discounts: group.discounts?.map(describeDiscount),
    companies: group.companyIds?.length || undefined,
    classifications: group.classificationIds?.length || undefined,
  }),
  contract_item: (item: ContractItem) => ({
    id: item.id,
    service: item.service ?? item.name,
    vendor: item.vendor,
    term: item.term,
    quantity: item.quantity,
    revenue: item.revenue,
    profit: item.profit,
  }),
};

/**
 * The concise form of one record; empty fields are left out. A deleted record says so right after its name.
 */
export function concise<R extends Resource>(resource: R, record: RecordOf[R]): Row {
  const { id, number, name, title, ...fields } = conciseRows[resource](record);
  const deleted = deletion(record as ApiRecord);
  return fullRecord({ id, number, name, title, deleted, ...fields });
}

/** Every field that is not empty. */
export const fullRecord = (record: object): Row => (withoutEmpty(record) ?? {}) as Row;

/** Selected fields by name, with dots for nested fields; always includes id and name. */
export function selectFields(record: Row, fields: readonly string[]): Row {
  const row: Row = { id: record.id, name: record.name };
  for (const field of fields) row[field] = withoutEmpty(valueAt(record, field));
  return fullRecord(row);
}

function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const name of path.split('.')) {
    if (Array.isArray(at)) at = at.map((entry) => valueAt(entry, name));
    else at = fieldOf(at, name);
  }
  return at;
}

/** Removes empty values at every depth: null, empty texts, lists and records. */
function withoutEmpty(value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (Array.isArray(value)) {
    const entries = value.map(withoutEmpty).filter((entry) => entry !== undefined);
    return entries.length > 0 ? entries : undefined;
  }
  if (!isObject(value)) return value;
  const entries: Row = {};
  let any = false;
  for (const name in value) {
    const inner = withoutEmpty(value[name]);
    if (inner === undefined) continue;
    entries[name] = inner;
    any = true;
  }
  return any ? entries : undefined;
}

/** What there is to call a record by that the service gives no name of. */
const idOfUnnamed = (ref: Ref | undefined): string | undefined =>
  ref?.name === undefined ? ref?.id : undefined;

/** The day when a record was deleted, `true` where no time is told; `undefined` for one that is not deleted. */
export function deletion({ deletedAt, deleted }: ApiRecord): string | true | undefined {
  const mark = deletedAt ?? deleted;
  return mark === true ? mark : day(mark);
}

/** The day of a timestamp, as written; text that is not a date is returned unchanged. */
const day = (time: string | undefined): string | undefined =>
  time !== undefined && /^\d{4}-\d{2}-\d{2}/.test(time) ? time.slice(0, 10) : time;

const describeDiscount = (discount: Row): string =>
  [discount.name, discount.category, discount.amount ?? discount.discount ?? discount.percent]
    .map((part) => (typeof part === 'object' && part !== null ? fieldOf(part, 'name') : part))
    .filter((part) => part !== undefined && part !== null)
    .join(' ');
