/** The fields that the figures of each brief, check and list rest on: where one cannot be read, an answer says so first. */

import type { fieldsOf, partsOf, quoteItem, Resource } from '../service/records/records.ts';
import type { CheckName } from './checks/checks.ts';

type Path<R extends Resource> =
  | (keyof (typeof fieldsOf)[R] & string)
  | (R extends 'quote' ? `items.${keyof typeof quoteItem & string}` | 'items.optional' : never)
  | (R extends 'pricing_book'
      ? `products.${keyof (typeof partsOf)['pricing_book']['fields'] & string}`
      : never);
type Rests = { readonly [R in Resource]?: readonly Path<R>[] };

export const deletion = ['deletedAt', 'deleted'] as const;
const company = ['id', 'name', ...deletion] as const;
const currencies = { company: ['currency'] } as const;
const product = ['id', 'name', 'price', 'cost', 'term', 'listed', ...deletion] as const;
const contact = ['id', 'lastName', 'email', 'companyId', ...deletion] as const;
const pipeline = [
  ...(['id', 'name', 'company', 'owner', 'pipelineStage', 'statusId', ...deletion] as const),
  ...(['onetimeRevenue', 'monthlyRevenue', 'valueMonths', 'probability'] as const),
  ...(['oneTimeProfit', 'monthlyProfit'] as const),
  ...(['expectedCloseDate', 'createdAt', 'updatedAt', 'stageUpdatedAt', 'closedAt'] as const),
] as const;
const lines = [
  ...(['items.price', 'items.quantity', 'items.term', 'items.discount', 'items.optional'] as const),
  ...(['items.setupPrice', 'items.setupCost', 'discount'] as const),
] as const;
const called = ['id', 'number', 'title', 'status', 'company'] as const;
const quote = [...called, 'owner', ...deletion, ...lines] as const;
const lineParts = ['items.name', 'items.product', 'items.cost'] as const;
const dealOfQuote = ['statusId', 'closedAt', ...deletion] as const;
const quoteDates = [
  ...(['createdAt', 'updatedAt', 'sentAt', 'expiresAt', 'approvedAt', 'declinedAt'] as const),
] as const;

const bookPrices = [
  ...(['products', 'products.productId', 'products.price'] as const),
  ...(['products.validFrom', 'products.validTo', 'classificationIds'] as const),
] as const;
const bookDates = ['validFrom', 'validTo', ...deletion] as const;
const contractItem = ['company', 'revenue', 'term'] as const;

const ofDeals = { opportunity: pipeline, ...currencies } as const;
const ofQuotes = {
  quote: [...quote, ...quoteDates, 'opportunity'],
  opportunity: dealOfQuote,
  ...currencies,
} as const;

export const restsOn = {
  pipeline: ofDeals,
  quotes: { ...ofQuotes, quote: [...ofQuotes.quote, 'items.cost'] },
  company: {
    company: [...company, 'currency'],
    contact,
    opportunity: pipeline,
    quote: [...quote, ...quoteDates, 'opportunity'],
    contract_item: contractItem,
    pricing_book: ['companyIds', 'classificationIds', 'products', ...bookDates],
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
    pricing_book: ['companyIds', ...bookPrices, ...bookDates],
  },
  find: {
    company,
    contact,
    opportunity: ['id', 'name', 'company', 'pipelineStage', 'statusId', ...deletion],
    product: [...product, 'mpn'],
    quote: [...called, ...deletion],
  },
} as const satisfies Readonly<Record<string, Rests>>;

export const checksRestOn: Readonly<Record<CheckName, Rests>> = {
  thin_margins: { product },
  below_cost: { product },
  duplicate_products: { product: ['name', 'mpn', 'listed', ...deletion] },
  pricing_drift: { product, pricing_book: [...bookPrices, ...bookDates] },
  zero_prices: ofQuotes,
  stale_quotes: ofQuotes,
  expiring_quotes: ofQuotes,
  quotes_of_closed_deals: ofQuotes,
  unlisted_on_quotes: { ...ofQuotes, quote: [...ofQuotes.quote, 'items.product'], product },
  contracts: { contract_item: [...contractItem, 'startDate', 'endDate'], ...currencies },
  contracts_running_out: { contract_item: [...contractItem, 'endDate'], ...currencies },
  stalled_opportunities: ofDeals,
  missing_close_dates: ofDeals,
  incomplete_opportunities: { ...ofDeals, opportunity: [...pipeline, 'contact', 'category'] },
  duplicate_contacts: { contact: [...contact, 'phone', 'mobilePhone'] },
  opportunities_without_quote: { ...ofDeals, quote: ['opportunity', ...deletion] },
};

/** Of a list, what its rows show of each record; and what they are filtered and sorted by. */
export const listsRestOn: Rests = {
  ...restsOn.find,
  opportunity: [
    ...restsOn.find.opportunity,
    ...(['closedAt', 'probability', 'onetimeRevenue', 'monthlyRevenue'] as const),
  ],
  quote: [...restsOn.find.quote, 'items', ...lines],
  pricing_book: ['companyIds', 'products', ...bookDates],
  contract_item: contractItem,
};
