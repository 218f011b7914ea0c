/** Pre-flight check of a quote before it goes out. Definitions: docs/definitions.md, "Pre-flight". */

import type { Company, PricingBook, Product, Quote, QuoteItem } from '../api/records.ts';
import { quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { BookPrices, deviates } from './books.ts';
import { type Day, dayOf, daysBetween } from './days.ts';
import {
  type Decimal,
  decimal,
  givenPercent,
  hundred,
  lessPercent,
  margin,
  percentOf,
  perUnit,
  rounded,
  roundedPercent,
  termOf,
  zero,
} from './money.ts';
import { compact, inDays, nonBlank } from './naming.ts';
import { standingOf } from './outcome.ts';
import {
  applyDiscount,
  lineAmounts,
  type QuoteDiscount,
  quoteDiscount,
  sumItems,
  type TermSums,
} from './quote-totals.ts';

export type FindingCode =
  | 'no_items'
  | 'missing_price'
  | 'missing_cost'
  | 'missing_quantity'
  | 'price_under_cost'
  | 'negative_margin'
  | 'zero_margin'
  | 'missing_term'
  | 'term_differs'
  | 'unrecognised_term'
  | 'discount_over_limit'
  | 'discount_not_applied'
  | 'setup_cost_without_price'
  | 'departs_from_book'
  | 'unlisted_product'
  | 'expired'
  | 'expiring'
  | 'missing_company'
  | 'missing_contact'
  | 'missing_payment_term';

/** `stop`: must be fixed before sending. `check`: review it, it may be intended. */
type Severity = 'stop' | 'check';

export interface PreflightFinding {
  code: FindingCode;
  severity: Severity;
  /** Position of the line, from 1; absent when it is about the quote. */
  line?: number;
  item?: string;
  why: Wording;
}

export interface PreflightOptions {
  today: Day;
  /** Highest discount in percent that needs no review. Default: 20. */
  discountLimit?: number;
  /** Days before expiry from which a quote is a finding. Default: 7. */
  expiresWithinDays?: number;
  /** Allowed difference from the pricing book, in percent. Default: 1. */
  bookTolerance?: number;
}

const preflightDefaults = { discountLimit: 20, expiresWithinDays: 7, bookTolerance: 1 };

export interface PreflightRecords {
  quote: Quote;
  company?: Company | undefined;
  books?: readonly PricingBook[] | undefined;
  products?: readonly Product[] | undefined;
}

type ResolvedOptions = Required<PreflightOptions>;

/** The input of the line checks. */
interface Line {
  item: QuoteItem;
  price: Decimal | undefined;
  cost: Decimal | undefined;
  /** Per unit after the line's discount and the percentage of the quote. */
  netPrice: Decimal | undefined;
  product: Product | undefined;
  prices: BookPrices;
  /** The quote's percentage discount, or 0. */
  quotePercent: Decimal;
  options: ResolvedOptions;
}

type FindingBody = Omit<PreflightFinding, 'line' | 'item'>;
type LineCheck = (line: Line) => FindingBody | undefined;

const mustFix = (code: FindingCode, why: Wording): FindingBody => ({ code, severity: 'stop', why });
const toReview = (code: FindingCode, why: Wording): FindingBody => ({
  code,
  severity: 'check',
  why,
});

const missingPrice: LineCheck = ({ price }) =>
  price ? undefined : mustFix('missing_price', wording`No price: the line is in no total.`);

const missingCost: LineCheck = ({ cost }) =>
  cost ? undefined : toReview('missing_cost', wording`No cost: the margin of the line is unknown.`);

const missingQuantity: LineCheck = ({ item }) =>
  item.quantity === undefined
    ? toReview('missing_quantity', wording`No quantity: counted as 1.`)
    : undefined;

const badMargin: LineCheck = ({ price, cost, netPrice }) => {
  if (!price || !cost || !netPrice) return undefined;
  if (price.lt(cost)) {
    return mustFix(
      'price_under_cost',
      wording`Price ${perUnit(price)} is under the cost of ${perUnit(cost)}.`,
    );
  }
  const after = wording`After discounts the price is ${perUnit(netPrice)}`;
  if (netPrice.lt(cost))
    return mustFix('negative_margin', wording`${after}, under the cost of ${perUnit(cost)}.`);
  const earnsNothing = netPrice.eq(cost) && !cost.eq(0);
  return earnsNothing
    ? toReview('zero_margin', wording`${after}, which is just the cost.`)
    : undefined;
};

const badTerm: LineCheck = ({ item, product }) => {
  const term = termOf(item.term);
  if (term === 'other') {
    return toReview(
      'unrecognised_term',
      wording`Term ${quote(item.term ?? '')} is neither once, month nor year: totalled apart.`,
    );
  }
  const expected = termOf(product?.term);
  if (!product || term === expected) return undefined;
  return term === 'one-time'
    ? mustFix(
        'missing_term',
        wording`No term, but the catalogue sells it ${describeTerm(product.term)}: it would be charged once.`,
      )
    : toReview(
        'term_differs',
        wording`Sold ${term}, but the catalogue sells it ${describeTerm(product.term)}.`,
      );
};

function describeTerm(term = ''): Wording {
  const known = termOf(term);
  return known === 'other' ? wording`by the ${quote(term)}` : wording`${known}`;
}

const deepDiscount: LineCheck = ({ item, quotePercent, options }) => {
  const own = decimal(item.discount);
  if (!own || own.lte(0)) return undefined;
  const combined = hundred.minus(lessPercent(hundred.minus(own), quotePercent));
  if (combined.lte(options.discountLimit)) return undefined;
  const added = quotePercent.eq(0) ? '' : wording`, ${roundedPercent(combined)} % with the quote's`;
  return toReview(
    'discount_over_limit',
    wording`Discount ${givenPercent(own)} %${added}, over the limit of ${options.discountLimit} %.`,
  );
};

const freeSetup: LineCheck = ({ item: { setupCost, setupPrice } }) =>
  setupCost && setupCost > 0 && !setupPrice
    ? mustFix(
        'setup_cost_without_price',
        wording`Setup costs ${rounded(zero.plus(setupCost))} and is not charged.`,
      )
    : undefined;

const offBook: LineCheck = ({ item, price, prices, options }) => {
  const productId = item.product?.id;
  if (!price || productId === undefined) return undefined;
  const findings = prices.nearestPrice(productId, price);
  const { bookTolerance } = options;
  if (!findings?.price || !deviates(price, findings.price, bookTolerance)) return undefined;
  const { unitPrice } = lineAmounts(item);
  if (unitPrice && !deviates(unitPrice, findings.price, bookTolerance)) return undefined;
  const away = percentOf(price.minus(findings.price), findings.price);
  const by = away ? wording` (${away.gt(0) ? '+' : ''}${roundedPercent(away)} %)` : '';
  return toReview(
    'departs_from_book',
    wording`Price ${perUnit(price)}, but pricing book ${quote(findings.book.name ?? findings.book.id ?? '')} asks ${perUnit(findings.price)}${by}.`,
  );
};

const unlisted: LineCheck = ({ product }) =>
  product?.listed === false
    ? toReview('unlisted_product', wording`The product is no longer listed in the catalogue.`)
    : undefined;

const lineChecks: readonly LineCheck[] = [
  missingPrice,
  missingCost,
  missingQuantity,
  badMargin,
  badTerm,
  deepDiscount,
  freeSetup,
  offBook,
  unlisted,
];

/** Findings on a quote: `stop` first, then by line, then in the order of the checks. */
export function preflight(
  records: PreflightRecords,
  options: PreflightOptions,
): PreflightFinding[] {
  const resolved: ResolvedOptions = { ...preflightDefaults, ...compact(options) };
  const findings: PreflightFinding[] = [
    ...quoteFindings(records.quote, resolved),
    ...lineFindings(records, resolved),
  ];
  const severities: readonly Severity[] = ['stop', 'check'];
  return findings.toSorted(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      (a.line ?? 0) - (b.line ?? 0),
  );
}

function lineFindings(records: PreflightRecords, options: ResolvedOptions): PreflightFinding[] {
  const { quote, company, books, products } = records;
  const items = quote.items ?? [];
  const productIds = new Set(items.map(({ product }) => product?.id));
  const catalogue = new Map(
    (products ?? []).filter(({ id }) => productIds.has(id)).map((product) => [product.id, product]),
  );
  const shared = {
    prices: new BookPrices(books ?? [], company, pricingDay(quote, options.today)),
    quotePercent: percentOff(quoteDiscount(quote)),
    options,
  };
  return items.flatMap((item, at) => {
    const product = item.product?.id === undefined ? undefined : catalogue.get(item.product.id);
    const line = toLine(item, product, shared);
    const findings = lineChecks.flatMap((lineCheck) => lineCheck(line) ?? []);
    const where = compact({ line: at + 1, item: nonBlank(item.name) ?? nonBlank(item.mpn) });
    return findings.map(({ code, severity, why }) => ({ code, severity, ...where, why }));
  });
}

/** The day whose pricing books apply: the day the quote was sent, else today. */
function pricingDay(quote: Quote, today: Day): Day {
  return standingOf(quote) === 'draft' ? today : (dayOf(quote.sentAt) ?? today);
}

const percentOff = (discount: QuoteDiscount | undefined): Decimal =>
  discount?.kind === 'percent' ? discount.percent : zero;

function toLine(
  item: QuoteItem,
  product: Product | undefined,
  shared: Pick<Line, 'prices' | 'quotePercent' | 'options'>,
): Line {
  const { unitPrice } = lineAmounts(item);
  return {
    item,
    product,
    price: decimal(item.price),
    cost: decimal(item.cost),
    netPrice: unitPrice && lessPercent(unitPrice, shared.quotePercent),
    ...shared,
  };
}

function quoteFindings(quote: Quote, options: ResolvedOptions): FindingBody[] {
  const items = quote.items ?? [];
  return [
    ...(items.length === 0 ? [mustFix('no_items', wording`The quote has no items.`)] : []),
    ...discountFindings(quote, options),
    ...validityFindings(quote, options),
    ...missingParties(quote),
  ];
}

function discountFindings(quote: Quote, { discountLimit }: ResolvedOptions): FindingBody[] {
  const discount = quoteDiscount(quote);
  if (!discount) return [];
  if (discount.kind === 'unreadable') {
    const type = describeType(nonBlank(quote.discount?.type));
    return [
      toReview('discount_not_applied', wording`The quote's discount ${type}: it is in no total.`),
    ];
  }
  if (discount.kind === 'percent') return deepQuoteDiscount(discount.percent, discountLimit);
  return amountFindings(quote, discount.amount, discountLimit);
}

const describeType = (type: string | undefined): Wording =>
  type === undefined ? wording`has no type` : wording`is of the type ${quote(type)}`;

function deepQuoteDiscount(percent: Decimal, limit: number): FindingBody[] {
  if (percent.lte(limit)) return [];
  const why = wording`The quote's discount is ${givenPercent(percent)} %, over the limit of ${limit} %.`;
  return [toReview('discount_over_limit', why)];
}

/** An amount is deducted from the one-time total, so it is compared with that total. */
function amountFindings(quote: Quote, amount: Decimal, limit: number): FindingBody[] {
  const before = sumItems(quote.items ?? []);
  const oneTime = before.terms.get('one-time')?.price ?? zero;
  const after = applyDiscount(before, { kind: 'amount', amount }).terms.get('one-time');
  const findings: FindingBody[] = [];
  if (amount.times(hundred).gt(oneTime.times(limit))) {
    const why = wording`The quote's discount of ${rounded(amount)} is over ${limit} % of the one-time total of ${rounded(oneTime)}.`;
    findings.push(toReview('discount_over_limit', why));
  }
  if (after && turnsToLoss(before.terms.get('one-time'), after)) {
    const why = wording`The quote's discount of ${rounded(amount)} takes the one-time total under its cost.`;
    findings.push(mustFix('negative_margin', why));
  }
  return findings;
}

function turnsToLoss(before: TermSums | undefined, after: TermSums): boolean {
  if (!before?.judgedPrice || !before.judgedCost || !after.judgedPrice) return false;
  return before.judgedPrice.gte(before.judgedCost) && after.judgedPrice.lt(before.judgedCost);
}

/** Only quotes without an answer can expire. */
function validityFindings(
  quote: Quote,
  { today, expiresWithinDays }: ResolvedOptions,
): FindingBody[] {
  const standing = standingOf(quote);
  if (standing === 'approved' || standing === 'declined') return [];
  const expires = dayOf(quote.expiresAt);
  const daysLeft = expires === undefined ? undefined : daysBetween(today, expires);
  if (standing === 'expired' || (daysLeft ?? 0) < 0)
    return [mustFix('expired', describeExpired(quote, today))];
  if (daysLeft === undefined || daysLeft > expiresWithinDays) return [];
  return [
    toReview(
      'expiring',
      wording`The quote expires on ${trusted(expires ?? '')}, ${inDays(daysLeft)}.`,
    ),
  ];
}

function describeExpired({ expiredAt, expiresAt }: Quote, today: Day): Wording {
  const day = dayOf(expiredAt) ?? dayOf(expiresAt);
  return day && day <= today
    ? wording`The quote expired on ${trusted(day)}.`
    : wording`The quote has expired.`;
}

function missingParties(quote: Quote): FindingBody[] {
  const has = (ref: { id?: string; name?: string } | undefined): boolean =>
    Boolean(nonBlank(ref?.id) ?? nonBlank(ref?.name));
  return [
    ...(has(quote.company)
      ? []
      : [toReview('missing_company', wording`The quote names no company.`)]),
    ...(hasContact(quote)
      ? []
      : [toReview('missing_contact', wording`The quote names no contact.`)]),
    ...(has(quote.paymentTerm)
      ? []
      : [toReview('missing_payment_term', wording`The quote has no payment term.`)]),
  ];
}

/** A nested contact may have first and last name instead of a name. */
const hasContact = ({ contact }: Quote): boolean =>
  Boolean(
    contact && Object.values(contact).some((value) => typeof value === 'string' && value.trim()),
  );

/** Margin in percent of the price after discounts. */
export const lineMargin = (
  price: Decimal | undefined,
  cost: Decimal | undefined,
): number | undefined => {
  const percent = margin(price, cost);
  return percent && roundedPercent(percent);
};
