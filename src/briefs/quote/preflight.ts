/** Pre-flight check of a quote before it goes out, and of its lines. Definitions: docs/definitions.md, "Pre-flight". */

import { type Day, dayOf, daysBetween } from '../../figures/days.ts';
import { compact, nonBlank } from '../../figures/fields.ts';
import {
  type CurrencyOf,
  currencyOfRecord,
  type Decimal,
  decimal,
  formatNumber,
  givenPercent,
  hundred,
  lessPercent,
  perUnit,
  rounded,
  roundedPercent,
  unknownCurrency,
  zero,
} from '../../figures/money.ts';
import { contactName, inDays, nameOrId } from '../../figures/naming.ts';
import { deletionOf, isDeleted, outcomeOf } from '../../figures/outcome.ts';
import { isAnsweredOrDeleted, isPastExpiry, statusCategoryOf } from '../../figures/quote-state.ts';
import {
  applyDiscount,
  hasUnknownItems,
  isWithoutQuantity,
  lineAmounts,
  type QuoteDiscount,
  quoteDiscount,
  sumItems,
} from '../../figures/quote-totals.ts';
import { describeTerm, termOf } from '../../figures/terms.ts';
import { currencyCode } from '../../service/records/normalise.ts';
import type { Product, Quote, QuoteItem, RecordOf, Ref } from '../../service/records/records.ts';
import { quote as quoteText, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import { keysOf } from '../../values.ts';
import { deviates, deviationWords, type KnownPrice, pricesFor } from '../prices/books.ts';

/** The quote and what it is compared with; `undefined` for what may not be read or is not found. */
export interface PreflightRecords {
  quote: Quote;
  company?: RecordOf['company'] | undefined;
  contact?: RecordOf['contact'] | undefined;
  opportunity?: RecordOf['opportunity'] | undefined;
  books?: readonly RecordOf['pricing_book'][] | undefined;
  products?: readonly RecordOf['product'][] | undefined;
}

export interface PreflightOptions {
  today: Day;
  currencyOf: CurrencyOf;
  /** Highest discount in percent that needs no review. */
  discountLimit: number;
}

type CodesOf<Findings> = Findings extends unknown ? keyof Findings : never;
export type FindingCode = CodesOf<
  ReturnType<typeof findingsOnQuote | typeof findingsBeforeSending | typeof findingsOnLine>
>;

/** What must be fixed before sending. The others are for review: they may be intended. */
const stops: ReadonlySet<FindingCode> = new Set<FindingCode>([
  'deleted_quote',
  'no_items',
  'negative_margin',
  'expired',
  'deleted_company',
  'deleted_contact',
  'missing_price',
  'price_under_cost',
  'missing_term',
  'setup_cost_without_price',
]);

export interface PreflightFinding {
  code: FindingCode;
  severity: 'stop' | 'check';
  /** Position of the line, from 1; absent when it is about the quote. */
  line?: number;
  item?: string;
  why: Wording;
}

/** Why something is a finding, if it is one. */
type Why = Wording | false | undefined;

type Subject = PreflightRecords & PreflightOptions;

/** The currency of a quote, also where it names its company without an id. */
export const currencyOfQuote = ({ quote, company, currencyOf }: Omit<Subject, 'discountLimit'>) =>
  currencyOfRecord(quote, { get: (id) => currencyOf.get(id) ?? currencyCode(company?.currency) });

/** Whatever the state of the quote. */
function findingsOnQuote(subject: Subject) {
  const { quote, discountLimit } = subject;
  const discount = quoteDiscount(quote);
  const deleted = deletionOf(quote);
  const on = typeof deleted === 'string' && wording` on ${trusted(deleted)}`;
  return {
    deleted_quote: deleted !== undefined && wording`The quote was deleted${on}.`,
    no_items: !hasUnknownItems(quote) && !quote.items?.length && wording`The quote has no items.`,
    items_unread: hasUnknownItems(quote) && wording`The quote's items could not be read.`,
    discount_not_applied: discount?.kind === 'unreadable' && describeUnreadable(quote),
    discount_over_limit: discount && describeDiscount(discount, quote, discountLimit),
    negative_margin: discount?.kind === 'amount' && describeLoss(discount, quote),
    unknown_currency:
      currencyOfQuote(subject) === unknownCurrency &&
      wording`The currency is unknown: neither the quote nor its company names one.`,
    missing_company: !nameOrId(quote.company) && wording`The quote names no company.`,
    missing_contact: !isContact(quote.contact) && wording`The quote names no contact.`,
    missing_payment_term: !nameOrId(quote.paymentTerm) && wording`The quote has no payment term.`,
  };
}

function describeUnreadable({ discount }: Quote): Wording {
  const type = nonBlank(discount?.type);
  const what = type ? wording`is of the type ${quoteText(type)}` : wording`has no type`;
  return wording`The quote's discount ${what}: it is in no total.`;
}

/** An amount is deducted from the one-time total, so it is compared with that total. */
function describeDiscount(discount: QuoteDiscount, quote: Quote, limit: number): Why {
  if (discount.kind === 'unreadable') return undefined;
  if (discount.kind === 'percent')
    return (
      discount.percent.gt(limit) &&
      wording`The quote's discount is ${givenPercent(discount.percent)} %, over the limit of ${limit} %.`
    );
  const { terms, unknownPrices } = sumItems(quote.items ?? []);
  const oneTime = terms.get('one-time')?.price ?? (unknownPrices > 0 ? undefined : zero);
  return (
    oneTime !== undefined &&
    discount.amount.times(hundred).gt(oneTime.times(limit)) &&
    wording`The quote's discount of ${formatNumber(rounded(discount.amount))} is over ${limit} % of the one-time total of ${formatNumber(rounded(oneTime))}.`
  );
}

function describeLoss(discount: QuoteDiscount & { kind: 'amount' }, quote: Quote): Why {
  const sums = sumItems(quote.items ?? []);
  const { comparablePrice: before, comparableCost: cost } = sums.terms.get('one-time') ?? {};
  const after = applyDiscount(sums, discount).terms.get('one-time')?.comparablePrice;
  return (
    cost &&
    after?.lt(cost) &&
    !before?.lt(cost) &&
    wording`The quote's discount of ${formatNumber(rounded(discount.amount))} takes the one-time total under its cost.`
  );
}

/** A nested contact may have first and last name instead of a name. */
const isContact = (contact: Ref = {}): boolean =>
  Object.values(contact).some((value) => typeof value === 'string' && value.trim());

/** Of a quote that was answered or deleted these do not matter any more. */
function findingsBeforeSending({ quote, company, contact, opportunity, today }: Subject) {
  const outcome = opportunity && outcomeOf(opportunity);
  return {
    ...findingsOnExpiry(quote, today),
    deleted_company: company && isDeleted(company) && wording`The company was deleted.`,
    ...findingsOnContact(contact),
    opportunity_won: outcome === 'won' && wording`The opportunity is already won.`,
    opportunity_lost: outcome === 'lost' && wording`The opportunity is lost.`,
    opportunity_closed: outcome === 'closed_unknown' && wording`The opportunity is closed.`,
    opportunity_deleted: outcome === 'deleted' && wording`The opportunity was deleted.`,
  };
}

function findingsOnExpiry(quote: Quote, today: Day) {
  const expires = dayOf(quote.expiresAt);
  const isExpired = statusCategoryOf(quote) === 'expired' || isPastExpiry(quote, today);
  const day = dayOf(quote.expiredAt) ?? expires;
  const days = expires === undefined ? Number.NaN : daysBetween(today, expires);
  const on = day && day <= today ? wording`expired on ${trusted(day)}` : 'has expired';
  return {
    expired: isExpired && wording`The quote ${on}.`,
    expiring:
      !isExpired &&
      days <= 7 &&
      wording`The quote expires on ${trusted(expires ?? '')}, ${inDays(days)}.`,
    missing_expiry:
      !isExpired && !expires && wording`The quote has no expiry date: it never expires.`,
  };
}

function findingsOnContact(contact: Subject['contact']) {
  if (!contact) return {};
  const name = quoteText(contactName(contact) ?? contact.id ?? '');
  const isReachable = contact.email?.includes('@') ?? contact.unreadable?.email !== undefined;
  return isDeleted(contact)
    ? { deleted_contact: wording`The contact ${name} was deleted.` }
    : { contact_without_email: !isReachable && wording`The contact ${name} has no e-mail.` };
}

interface Line {
  item: QuoteItem;
  product: Product | undefined;
  prices: readonly KnownPrice[];
  quotePercent: Decimal;
  discountLimit: number;
}

function findingsOnLine(line: Line) {
  const { item, product, prices, quotePercent } = line;
  const [price, cost] = [decimal(item.price), decimal(item.cost)];
  const { unitPrice } = lineAmounts(item);
  // Per unit after the line's discount and the percentage of the quote.
  const netPrice = unitPrice && lessPercent(unitPrice, quotePercent);
  const isUnderCost = price && cost && price.lt(cost);
  const term = termOf(item.term);
  const catalogueTerm = product ? termOf(product.term) : term;
  return {
    missing_price: !price && wording`No price: the line is in no total.`,
    missing_cost: !cost && wording`No cost: the margin of the line is unknown.`,
    missing_quantity: isWithoutQuantity(item) && wording`No quantity: counted as 1.`,
    price_under_cost:
      isUnderCost &&
      wording`Price ${formatNumber(perUnit(price))} is under the cost of ${formatNumber(perUnit(cost))}.`,
    negative_margin:
      cost &&
      netPrice?.lt(cost) &&
      !isUnderCost &&
      wording`After discounts the price is ${formatNumber(perUnit(netPrice))}, under the cost of ${formatNumber(perUnit(cost))}.`,
    missing_term:
      term === 'one-time' &&
      item.unreadable?.term === undefined &&
      catalogueTerm !== term &&
      wording`No term, but the catalogue sells it ${describeTerm(product?.term)}: it would be charged once.`,
    term_differs:
      (term === 'monthly' || term === 'yearly') &&
      catalogueTerm !== term &&
      wording`Sold ${term}, but the catalogue sells it ${describeTerm(product?.term)}.`,
    discount_over_limit: describeLineDiscount(line),
    setup_cost_without_price:
      item.setupCost !== undefined &&
      item.setupCost > 0 &&
      !item.setupPrice &&
      item.unreadable?.setupPrice === undefined &&
      wording`Setup costs ${formatNumber(rounded(zero.plus(item.setupCost)))} and is not charged.`,
    under_book: describeBook('under', netPrice, prices[0]),
    over_book: describeBook('over', netPrice, prices.at(-1)),
    unlisted_product:
      product?.listed === false && wording`The product is no longer listed in the catalogue.`,
  };
}

function describeLineDiscount({ item, quotePercent, discountLimit: limit }: Line): Why {
  const own = decimal(item.discount);
  if (!own?.gt(0)) return undefined;
  const combined = hundred.minus(lessPercent(hundred.minus(own), quotePercent));
  const added = !quotePercent.eq(0) && wording`, ${roundedPercent(combined)} % with the quote's`;
  return (
    combined.gt(limit) &&
    wording`Discount ${givenPercent(own)} %${added}, over the limit of ${limit} %.`
  );
}

/** Allowed difference from a pricing book, in percent. */
const bookTolerance = 1;

function describeBook(
  side: 'under' | 'over',
  own: Decimal | undefined,
  known: KnownPrice | undefined,
): Why {
  if (!own || !known || !deviates(own, known.price, bookTolerance)) return undefined;
  const { book, price } = known;
  if (own.lt(price) !== (side === 'under')) return undefined;
  return wording`After discounts the price is ${formatNumber(perUnit(own))}, ${side} the price of ${formatNumber(perUnit(price))} in pricing book ${quoteText(book.name ?? book.id ?? '')}${deviationWords(own, price)}.`;
}

/** Findings on a quote: `stop` first, then by line, then in the order of the checks. */
export function preflight(
  records: PreflightRecords,
  options: PreflightOptions,
): PreflightFinding[] {
  const subject: Subject = { ...options, ...records };
  const isOver = isAnsweredOrDeleted(records.quote);
  const findings = [
    ...toFindings(findingsOnQuote(subject)),
    ...(isOver ? [] : toFindings(findingsBeforeSending(subject))),
    ...lineFindings(subject),
  ];
  return [
    ...findings.filter(({ severity }) => severity === 'stop'),
    ...findings.filter(({ severity }) => severity === 'check'),
  ];
}

const toFindings = (
  whys: { readonly [Code in FindingCode]?: Why },
  where: Pick<PreflightFinding, 'line' | 'item'> = {},
): PreflightFinding[] =>
  keysOf(whys).flatMap((code) => {
    const why = whys[code];
    return why ? [{ code, severity: stops.has(code) ? 'stop' : 'check', ...where, why }] : [];
  });

function lineFindings(subject: Subject): PreflightFinding[] {
  const { quote, company, books = [], products = [], today, discountLimit } = subject;
  const ids = new Set(quote.items?.map(({ product }) => product?.id));
  const catalogue = products.filter(({ id }) => id !== undefined && ids.has(id));
  // Books apply as of the day on which the quote was sent, else today.
  const day = statusCategoryOf(quote) === 'draft' ? today : (dayOf(quote.sentAt) ?? today);
  const discount = quoteDiscount(quote);
  const quotePercent = discount?.kind === 'percent' ? discount.percent : zero;
  const productOf = new Map(catalogue.map((product) => [product.id, product]));
  const pricesOf = pricesFor(books, company, day);
  return (quote.items ?? []).flatMap((item, at) => {
    const where = compact({ line: at + 1, item: nonBlank(item.name) ?? nonBlank(item.mpn) });
    const product = productOf.get(item.product?.id);
    const prices = pricesOf(item.product?.id ?? '');
    return toFindings(
      findingsOnLine({ item, product, prices, quotePercent, discountLimit }),
      where,
    );
  });
}

/** What could not be looked at, because its record may not be read or is not found. */
export function notChecked(records: PreflightRecords): string[] | undefined {
  const { quote, products, books } = records;
  const parties = (['company', 'contact', 'opportunity'] as const).filter(
    (each) => !isAnsweredOrDeleted(quote) && quote[each] && !records[each],
  );
  const missing = [products ? [] : 'catalogue', books ? [] : 'pricing books', parties].flat();
  return missing.length > 0 ? missing : undefined;
}
