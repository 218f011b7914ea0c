import { Big } from 'big.js';
import { validOn } from './checks.ts';
import { numberIn } from './decimal.ts';
import { compare, grouped } from './order.ts';
import { later } from './pipeline.ts';
import type { Product } from './products.ts';
import {
  amountOff,
  grossOf,
  judgedOf,
  keptOf,
  type Line,
  notApplied,
  type Quote,
} from './quotes.ts';
import { type Ask, day, given, type SqlRow, statusCategory } from './sql.ts';

export interface Flaw {
  code: string;
  severity: 'stop' | 'check';
  line?: number;
}

/** Book prices for lines of quotes, from the most specific books that apply, by quote and product. */
export type Books = Map<string, SqlRow[]>;

const names = (column: string, id: string): string =>
  `exists (select 1 from json_each(coalesce(b.${column}, '[]')) j where j.value = ${id})`;
const isEmpty = (column: string): string => `json_array_length(coalesce(b.${column}, '[]')) = 0`;
const asOf = `iif(${statusCategory} <> 'draft' and ${day('q.sentAt')} is not null, ${day('q.sentAt')}, today)`;

/** How a book may apply, the most specific first. */
export const nearness = ['company', 'classification', 'everyone', 'unclear'];

/** How a book applies to a company, by the first rule that matches. */
export const appliesTo = (company: string, classification: string): string => `case
  when ${isEmpty('companyIds')} and ${isEmpty('classificationIds')} then 'everyone'
  when ${names('companyIds', company)} then 'company'
  when ${isEmpty('classificationIds')} then null
  when ${classification} is null then 'unclear'
  when ${names('classificationIds', classification)} then 'classification' end`;

const booksSql = `${given}, day(tenant, quoteId, companyId, classificationId, asOf) as (
    select q.tenant, q.id, c.id, c.classificationId, ${asOf} from it join quote q using (tenant)
    left join company c on c.tenant = q.tenant and c.id = q.companyId),
  price as (
    select day.quoteId, e.productId, e.price, ${appliesTo('day.companyId', 'day.classificationId')} as appliesTo
    from day join pricing_book b using (tenant)
    join pricing_book_product e on e.tenant = b.tenant and e.pricingBookId = b.id
    where ${validOn('day.asOf')})
  select * from price where appliesTo in ('company', 'classification', 'everyone')`;

export function booksOf(ask: Ask): Books {
  const prices = ask(booksSql).filter((row) => numberIn(row, 'price'));
  return grouped(prices, ({ quoteId, productId }) => `${quoteId} ${productId}`);
}

interface Known {
  today: string;
  products: ReadonlyMap<string, Product>;
  books: Books;
  discountLimit: number;
}

/** The expected findings: those to fix first, of the quote before those of its lines. */
export function flawsOf(quote: Quote, known: Known): Flaw[] {
  const lines = quote.lines.flatMap((line) => {
    const found = flawsOfLine(quote, line, known);
    return found.map((flaw) => ({ ...flaw, line: line.position }));
  });
  const all = [...flawsOfQuote(quote, known), ...lines];
  return all.sort((one, other) => compare(other.severity, one.severity));
}

type Found = [code: string, severity: 'stop' | 'check', is: boolean | undefined];

/** In this order. */
const reported = (all: readonly Found[]): Flaw[] =>
  all.filter(([, , is]) => is).map(([code, severity]) => ({ code, severity }));

function flawsOfQuote(quote: Quote, { today, discountLimit }: Known): Flaw[] {
  const { statusCategory, expires } = quote;
  const waiting = !['approved', 'declined', 'deleted'].includes(statusCategory);
  const over = statusCategory === 'expired' || (expires !== undefined && expires < today);
  const soon = expires !== undefined && expires >= today && expires <= later(today, 7);
  const { companyId, contactId, paymentTermId, contactDeleted, outcome } = quote;
  const reaches = contactId !== undefined && !contactDeleted;
  return reported([
    ['deleted_quote', 'stop', statusCategory === 'deleted'],
    ['no_items', 'stop', quote.lines.length === 0],
    ['discount_not_applied', 'check', notApplied(quote)],
    ['discount_over_limit', 'check', discountOver(quote, discountLimit)],
    ['negative_margin', 'stop', sinks(quote)],
    ['unknown_currency', 'check', quote.currency === 'unknown currency'],
    ['missing_company', 'check', companyId === undefined],
    ['missing_contact', 'check', contactId === undefined],
    ['missing_payment_term', 'check', paymentTermId === undefined],
    ['expired', 'stop', waiting && over],
    ['expiring', 'check', waiting && !over && soon],
    ['missing_expiry', 'check', waiting && !over && expires === undefined],
    ['deleted_company', 'stop', waiting && quote.companyDeleted],
    ['deleted_contact', 'stop', waiting && contactDeleted],
    ['contact_without_email', 'check', waiting && reaches && !quote.contactHasEmail],
    ['opportunity_won', 'check', waiting && outcome === 'won'],
    ['opportunity_lost', 'check', waiting && outcome === 'lost'],
    ['opportunity_closed', 'check', waiting && outcome === 'closed_unknown'],
    ['opportunity_deleted', 'check', waiting && outcome === 'deleted'],
  ]);
}

function discountOver(quote: Quote, limit: number): boolean {
  const off = amountOff(quote);
  const gross = grossOf(quote).get('one-time');
  if (off) return off.times(100).gt(gross?.times(limit) ?? 0);
  return new Big(1).minus(keptOf(quote)).times(100).gt(limit);
}

/** Whether the discount amount brings the one-time price below its cost. */
function sinks(quote: Quote): boolean {
  const { before, price, cost } = judgedOf(quote, 'one-time');
  if (!amountOff(quote) || !before || !price || !cost) return false;
  return before.gte(cost) && price.lt(cost);
}

function flawsOfLine(quote: Quote, line: Line, known: Known): Flaw[] {
  const { price, cost, kept, setupPrice, setupCost } = line;
  const product = known.products.get(line.productId ?? '');
  const net = price?.times(kept).times(keptOf(quote));
  const both = price !== undefined && cost !== undefined && net !== undefined;
  const fair = both && price.gte(cost);
  const off = new Big(1).minus(kept.times(keptOf(quote))).times(100);
  const productTerm = product?.blankTerm === false ? product.term : undefined;
  return reported([
    ['missing_price', 'stop', !price],
    ['missing_cost', 'check', !cost],
    ['missing_quantity', 'check', !line.quantity],
    ['price_under_cost', 'stop', both && price.lt(cost)],
    ['negative_margin', 'stop', fair && net.lt(cost)],
    [
      'missing_term',
      'stop',
      line.term === 'one-time' && (productTerm ?? 'one-time') !== 'one-time',
    ],
    ['term_differs', 'check', differs(line, product)],
    ['discount_over_limit', 'check', line.discount?.gt(0) && off.gt(known.discountLimit)],
    ['setup_cost_without_price', 'stop', setupCost?.gt(0) && !setupPrice?.gt(0)],
    ['under_book', 'check', bookSide(quote, line, known.books) === 'under'],
    ['over_book', 'check', bookSide(quote, line, known.books) === 'over'],
    ['unlisted_product', 'check', product?.listed === false],
  ]);
}

function differs({ term }: Line, product: Product | undefined): boolean {
  return product !== undefined && ['monthly', 'yearly'].includes(term) && term !== product.term;
}

/** The prices in the most specific books that have the product. */
function pricesFor({ id }: Quote, { productId }: Line, books: Books): Big[] {
  const all = books.get(`${id} ${productId}`) ?? [];
  const [nearest] = ['company', 'classification', 'everyone']
    .map((appliesTo) => all.filter((row) => row.appliesTo === appliesTo))
    .filter((rows) => rows.length > 0);
  return nearest?.flatMap((row) => numberIn(row, 'price') ?? []) ?? [];
}

/** Whether the price after all discounts is more than 1 % below, or above, each of the prices. */
function bookSide(quote: Quote, line: Line, books: Books): 'under' | 'over' | undefined {
  const prices = pricesFor(quote, line, books);
  const net = line.price?.times(line.kept).times(keptOf(quote));
  if (!net || prices.length === 0) return undefined;
  if (prices.every((book) => book.minus(net).times(100).gt(book.abs()))) return 'under';
  return prices.every((book) => net.minus(book).times(100).gt(book.abs())) ? 'over' : undefined;
}
