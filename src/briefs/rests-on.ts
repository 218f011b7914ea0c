/** The fields that the figures of each brief, check and list rest on: where one cannot be read, an answer says so first. */

import type { fieldsOf, quoteItem, Resource } from '../service/records/records.ts';
import type { CheckName } from './checks/checks.ts';

type Path<R extends Resource> =
  | (keyof (typeof fieldsOf)[R] & string)
  | (R extends 'quote' ? `items.${keyof typeof quoteItem & string}` | 'items.optional' : never);
type Rests = { readonly [R in Resource]?: readonly Path<R>[] };

const deletion = ['deletedAt', 'deleted'] as const;
const company = ['id', 'name', ...deletion] as const;
const currencies = { company: ['currency'] } as const;
const product = ['id', 'name', 'price', 'cost', 'listed', ...deletion] as const;
const contact = ['id', 'lastName', 'email', 'companyId', ...deletion] as const;
const deal = [
  ...(['id', 'name', 'company', 'owner', 'pipelineStage', 'statusId', ...deletion] as const),
  ...(['onetimeRevenue', 'monthlyRevenue', 'valueMonths'] as const),
] as const;
const pipeline = [
  ...deal,
  ...(['probability', 'expectedCloseDate', 'createdAt', 'updatedAt', 'stageUpdatedAt'] as const),
  'closedAt',
] as const;
const lines = [
  ...(['items.price', 'items.quantity', 'items.term', 'items.discount', 'items.optional'] as const),
  'discount',
] as const;
const called = ['id', 'number', 'title', 'status', 'company'] as const;
const quote = [...called, 'owner', ...deletion, ...lines] as const;
const lineParts = ['items.name', 'items.product', 'items.cost'] as const;
const dealOfQuote = ['statusId', 'closedAt', ...deletion] as const;
const quoteDates = ['createdAt', 'updatedAt', 'sentAt', 'expiresAt'] as const;

export const restsOn = {
  pipeline: { opportunity: pipeline, ...currencies },
  openDeals: { opportunity: [...deal, 'closedAt'], ...currencies },
  quotes: {
    quote: [...quote, ...quoteDates, 'opportunity', 'items.cost'],
    opportunity: dealOfQuote,
    ...currencies,
  },
  company: {
    company: [...company, 'currency'],
    contact,
    opportunity: pipeline,
    quote: [...quote, ...quoteDates, 'opportunity'],
    contract_item: ['company', 'revenue', 'term'],
    pricing_book: ['companyIds', 'products', 'validFrom', 'validTo'],
  },
  quote: {
    company: ['name', 'currency'],
    quote: [...quote, ...quoteDates, 'contact', 'opportunity', 'items', ...lineParts],
    product: ['price', 'listed'],
    opportunity: pipeline,
  },
  price: {
    company: [...company, 'currency'],
    product: [...product, 'mpn'],
    pricing_book: ['companyIds', 'products', 'validFrom', 'validTo'],
  },
  find: {
    company,
    contact,
    opportunity: ['id', 'name', 'company', 'pipelineStage', 'statusId', ...deletion],
    product: [...product, 'mpn'],
    quote: [...called, ...deletion],
  },
} as const satisfies Readonly<Record<string, Rests>>;

const ofDeal = ['opportunity', ...deletion] as const;
const ofQuotes = { opportunity: dealOfQuote, ...currencies } as const;

export const checksRestOn: Readonly<Record<CheckName, Rests>> = {
  thin_margins: { product },
  below_cost: { product },
  duplicate_products: { product: ['name', 'mpn', 'listed', ...deletion] },
  pricing_drift: { product, pricing_book: ['products', 'validFrom', 'validTo'] },
  zero_prices: { quote, ...ofQuotes },
  stale_quotes: { quote: [...quote, 'opportunity', 'sentAt', 'expiresAt'], ...ofQuotes },
  expiring_quotes: { quote: [...quote, 'opportunity', 'expiresAt'], ...ofQuotes },
  quotes_of_closed_deals: { quote: [...quote, 'opportunity'], ...ofQuotes },
  unlisted_on_quotes: { quote: [...quote, 'items.product'], product, ...ofQuotes },
  contracts: { contract_item: ['startDate', 'endDate', 'revenue', 'term'] },
  contracts_running_out: { contract_item: ['endDate', 'revenue', 'term'] },
  stalled_opportunities: { opportunity: [...deal, 'updatedAt', 'stageUpdatedAt'], ...currencies },
  missing_close_dates: { opportunity: [...deal, 'expectedCloseDate'], ...currencies },
  incomplete_opportunities: {
    opportunity: [...deal, 'contact', 'category'],
    ...currencies,
  },
  duplicate_contacts: { contact: [...contact, 'phone', 'mobilePhone'] },
  opportunities_without_quote: { opportunity: deal, quote: ofDeal, ...currencies },
};

/** Of a list, what its rows show of each record; and what they are filtered and sorted by. */
export const listsRestOn: Rests = {
  company,
  contact: ['companyId', ...deletion],
  opportunity: [
    ...(['name', 'company', 'pipelineStage', 'statusId'] as const),
    ...(['onetimeRevenue', 'monthlyRevenue', ...deletion] as const),
  ],
  product: ['name', 'price', 'listed', ...deletion],
  quote: ['number', 'status', 'company', 'items', ...lines, ...deletion],
};
