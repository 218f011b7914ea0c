import {
  columnsOf,
  dates,
  type Field,
  flags,
  ids,
  inside,
  jsons,
  list,
  nest,
  numbers,
  ref,
  texts,
} from './fields.ts';

/** A resource of the API: its table, its wire fields in order, and its searchable text. */
export interface Resource {
  table: string;
  fields: Field[];
  /** SQL expressions over the row `t` that are searched for free text. */
  searchable: string[];
  /** Keys of filters that are the name of a field in another form. */
  aliases?: Readonly<Record<string, string>>;
}

const bookPrice: Field[] = [
  ...ids('productId'),
  ...numbers('price', 'cost'),
  ...dates('validFrom', 'validTo'),
];

const quoteItem: Field[] = [
  ...ids('id'),
  ...texts('name', 'description', 'mpn', 'manufacturer', 'productType'),
  ref('category', 'category', 'name'),
  ref('product', 'product'),
  ...numbers('quantity', 'price', 'cost', 'markup', 'discount', 'setupPrice', 'setupCost'),
  ...texts('term', 'unit'),
];

const companyName =
  '(select r.name from company r where r.tenant = t.tenant and r.id = t.companyId)';

export const company: Resource = {
  table: 'company',
  fields: [
    ...ids('id'),
    ...texts('name', 'type', 'currency', 'website', 'telephone'),
    ...ids('accountManagerId', 'parentCompanyId', 'classificationId', 'externalIdentifier'),
    ...jsons('labels', 'address', 'customFields'),
    ...dates('createdAt', 'updatedAt', 'deleted'),
  ],
  searchable: ['t.name', 't.website', 't.externalIdentifier'],
};

export const contact: Resource = {
  table: 'contact',
  fields: [
    ...ids('id'),
    ...texts('firstName', 'middleName', 'lastName', 'email', 'phone', 'mobilePhone', 'jobTitle'),
    ...ids('companyId'),
    ...texts('companyName'),
    ...jsons('labels'),
    ...ids('externalIdentifier'),
    ...dates('createdAt', 'updatedAt', 'deleted'),
  ],
  searchable: [
    't.firstName',
    't.middleName',
    't.lastName',
    't.email',
    't.companyName',
    't.externalIdentifier',
  ],
  aliases: { 'company.id': 'companyId' },
};

export const opportunity: Resource = {
  table: 'opportunity',
  fields: [
    ...ids('id'),
    ...texts('name', 'description'),
    ...ids('externalIdentifier'),
    ref('company', 'company', 'name'),
    ref('contact', 'contact', 'firstName', 'lastName'),
    ref('owner', 'owner', 'name'),
    ref('pipelineStage', 'pipeline_stage', 'name'),
    ref('category', 'opportunity_category', 'name'),
    ref('source', 'source', 'name'),
    ...texts('statusId'),
    ...numbers('probability', 'onetimeRevenue', 'oneTimeProfit', 'monthlyRevenue'),
    ...numbers('monthlyProfit', 'monthlyChurn', 'valueMonths'),
    ...dates('startDate', 'expectedCloseDate', 'createdAt', 'updatedAt'),
    ...dates('closedAt', 'deletedAt', 'stageUpdatedAt'),
    ...jsons('customFields'),
  ],
  searchable: ['t.name', 't.externalIdentifier', companyName],
};

export const product: Resource = {
  table: 'product',
  fields: [
    ...ids('id'),
    ...texts('name', 'shortDescription', 'mpn', 'ean', 'manufacturer', 'vendor', 'productType'),
    ...flags('listed'),
    ref('category', 'category', 'name'),
    ...jsons('categories'),
    ...numbers('cost', 'price', 'markup', 'msrp'),
    ...texts('unit', 'term'),
    ...jsons('labels', 'bundleItems'),
    ...ids('externalIdentifier'),
    ...dates('createdAt', 'updatedAt'),
  ],
  searchable: [
    't.name',
    't.mpn',
    't.ean',
    't.manufacturer',
    't.vendor',
    't.shortDescription',
    't.externalIdentifier',
  ],
};

export const quote: Resource = {
  table: 'quote',
  fields: [
    ...ids('id'),
    ...texts('number', 'title', 'status', 'link'),
    ...dates('createdAt', 'updatedAt', 'sentAt', 'approvedAt', 'declinedAt', 'expiredAt'),
    ...dates('expiresAt', 'deletedAt', 'contractStartDate', 'contractEndDate'),
    nest(
      'contractDuration',
      inside('number', 'amount', 'contractDurationAmount'),
      inside('text', 'unit', 'contractDurationUnit'),
    ),
    ref('company', 'company', 'name', 'currency'),
    ref('contact', 'contact', 'firstName', 'lastName', 'email'),
    ref('owner', 'owner', 'name'),
    ref('opportunity', 'opportunity', 'name'),
    list('items', 'quote_item', 'quoteId', quoteItem),
    nest(
      'discount',
      inside('text', 'type', 'discountType'),
      inside('number', 'amount', 'discountAmount'),
    ),
    ref('paymentTerm', 'payment_term', 'name', 'days'),
    ...flags('showUnitPrices', 'showTotals', 'showManufacturer'),
  ],
  searchable: ['t.number', 't.title', companyName],
};

export const quoteTemplate: Resource = {
  table: 'quote_template',
  fields: [
    ...ids('id'),
    ...texts('name', 'description', 'language', 'currency', 'dateFormat', 'accentColor', 'font'),
    ...flags('showCover', 'showUnitPrices', 'showTotals', 'showManufacturer', 'isDefault'),
    ref('paymentTerm', 'payment_term', 'name', 'days'),
    ...jsons('widgets'),
    ...dates('createdAt', 'updatedAt'),
  ],
  searchable: ['t.name', 't.description'],
};

export const quoteWidget: Resource = {
  table: 'quote_widget_template',
  fields: [
    ...ids('id'),
    ...texts('name', 'kind', 'title', 'content', 'language'),
    ...flags('pageBreakBefore'),
    ...dates('createdAt', 'updatedAt'),
  ],
  searchable: ['t.name', 't.title'],
};

export const pricingBook: Resource = {
  table: 'pricing_book',
  fields: [
    ...ids('id'),
    ...texts('name', 'specialBidNumber'),
    ...dates('validFrom', 'validTo'),
    ...jsons('companyIds', 'classificationIds'),
    list('products', 'pricing_book_product', 'pricingBookId', bookPrice),
  ],
  searchable: ['t.name', 't.specialBidNumber'],
};

export const category: Resource = {
  table: 'category',
  fields: [
    ...ids('id'),
    ...texts('name'),
    ...ids('parentCategoryId'),
    ...flags('listed'),
    ...numbers('markup'),
  ],
  searchable: ['t.name'],
};

export const discountGroup: Resource = {
  table: 'discount_group',
  fields: [
    ...ids('id'),
    ...texts('name'),
    ...jsons('discounts', 'companyIds', 'classificationIds'),
  ],
  searchable: ['t.name'],
};

export const contractItem: Resource = {
  table: 'contract_item',
  fields: [
    ...ids('id'),
    ...texts('service', 'vendor', 'term'),
    ...numbers('quantity', 'revenue', 'profit'),
    ref('company', 'company', 'name'),
    ...dates('startDate', 'endDate', 'deletedAt'),
  ],
  searchable: ['t.service', 't.vendor', companyName],
};

const resources = [
  company,
  contact,
  opportunity,
  product,
  quote,
  quoteTemplate,
  quoteWidget,
  pricingBook,
  category,
  discountGroup,
  contractItem,
];

const own = (fields: Field[]) => fields.flatMap(columnsOf);

/** Columns that are not in the wire record. */
const hidden: Record<string, string[]> = { opportunity: ['outcome'] };

/** Every table and its columns after `tenant`. Columns have the names of the wire fields. */
export const tables: Record<string, string[]> = {
  tenant: ['seed', 'profile', 'currency', 'probabilityScale', 'today', 'seeded'],
  api_key: ['scope', 'key', 'permissions'],
  owner: ['id', 'name', 'email', 'externalIdentifier'],
  pipeline_stage: ['id', 'name', 'position', 'outcome', 'statusId', 'externalIdentifier'],
  source: ['id', 'name', 'externalIdentifier'],
  opportunity_category: ['id', 'name', 'externalIdentifier'],
  classification: ['id', 'name'],
  payment_term: ['id', 'name', 'days'],
  quote_item: ['quoteId', 'position', ...own(quoteItem), 'nulls'],
  pricing_book_product: ['pricingBookId', ...own(bookPrice), 'nulls'],
  edge_case: ['resource', 'id', 'kind'],
  opportunity_version: ['opportunityId', 'at', 'record'],
  quote_version: ['quoteId', 'at', 'record'],
  ...Object.fromEntries(
    resources.map(({ table, fields }) => [
      table,
      [...own(fields), ...(hidden[table] ?? []), 'nulls'],
    ]),
  ),
};

const lookups: Record<string, string[]> = {
  contact: ['companyId'],
  opportunity: ['companyId', 'externalIdentifier'],
  company: ['externalIdentifier'],
  product: ['externalIdentifier'],
  quote: ['companyId'],
  quote_item: ['quoteId'],
  pricing_book_product: ['pricingBookId'],
  opportunity_version: ['opportunityId'],
  quote_version: ['quoteId'],
};

/**
 * The statements that create an empty database. Columns have no type on purpose: a money column may hold the
 * number 12.5 in one row and the text "12.50" in the next.
 */
export function createStatements(): string {
  return Object.entries(tables)
    .flatMap(([table, columns]) => [
      `create table if not exists ${table} (tenant text not null, ${columns.join(', ')});`,
      `create index if not exists ${table}_tenant on ${table} (tenant);`,
      ...(columns[0] === 'id'
        ? [`create unique index if not exists ${table}_id on ${table} (tenant, id);`]
        : []),
      ...(lookups[table] ?? []).map(
        (column) =>
          `create index if not exists ${table}_${column} on ${table} (tenant, ${column});`,
      ),
    ])
    .join('\n');
}
