/** Pre-flight check of a quote before it goes out, and of its lines. Definitions: docs/definitions.md, "Pre-flight". */

import { type Day, dayOf, daysBetween } from '../../figures/days.ts';
import {
  type CurrencyOf,
  currencyOfRecord,
  type Decimal,
  decimal,
  givenPercent,
  hundred,
  lessPercent,
  percentOf,
  perUnit,
  rounded,
  roundedPercent,
  unknownCurrency,
  zero,
} from '../../figures/money.ts';
import { compact, contactName, inDays, nonBlank } from '../../figures/naming.ts';
import { deletionOf, isDeleted, outcomeOf } from '../../figures/outcome.ts';
import { isAnsweredOrDeleted, isPastExpiry, statusCategoryOf } from '../../figures/quote-state.ts';
import {
  applyDiscount,
  hasUnknownItems,
  lineAmounts,
  quoteDiscount,
  sumItems,
} from '../../figures/quote-totals.ts';
import { describeTerm, termOf } from '../../figures/terms.ts';
import type { Contact, Quote, QuoteItem, RecordOf, Ref } from '../../service/records/records.ts';
import { quote as quoteText, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import { keysOf } from '../../values.ts';
import { deviates, type KnownPrice, pricesFor } from '../prices/books.ts';

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
  /** Highest discount in percent that needs no review. Default: 20. */
  discountLimit?: number;
}

export type FindingCode = keyof typeof quoteChecks | keyof typeof lineChecks;

export interface PreflightFinding {
  code: FindingCode;
  /** `stop`: must be fixed before sending. `check`: review it, it may be intended. */
  severity: 'stop' | 'check';
  /** Position of the line, from 1; absent when it is about the quote. */
  line?: number;
  item?: string;
  why: Wording;
}

/** A check of a quote or a line: why it is a finding, if it is one. */
interface PreflightCheck<Subject> {
  severity: PreflightFinding['severity'];
  whyOf: WhyOf<Subject>;
}
type WhyOf<Subject> = (subject: Subject) => Wording | false | undefined;

type CheckOf = <Subject>(whyOf: WhyOf<Subject>) => PreflightCheck<Subject>;
const stop: CheckOf = (whyOf) => ({ severity: 'stop', whyOf });
const review: CheckOf = (whyOf) => ({ severity: 'check', whyOf });
/** Of a quote that was answered or deleted this does not matter any more. */
const ifGoingOut =
  (whyOf: WhyOf<Subject>): WhyOf<Subject> =>
  (subject) =>
    !isAnsweredOrDeleted(subject.quote) && whyOf(subject);

type Subject = PreflightRecords & Required<PreflightOptions>;

const quoteChecks = {
  deleted_quote: stop(({ quote }) => {
    const deleted = deletionOf(quote);
    if (deleted === undefined) return undefined;
    return wording`The quote was deleted${deleted === true ? '' : wording` on ${trusted(deleted)}`}.`;
  }),
  no_items: stop(
    ({ quote }) =>
      !hasUnknownItems(quote) && !quote.items?.length && wording`The quote has no items.`,
  ),
  items_unread: review(
    ({ quote }) => hasUnknownItems(quote) && wording`The quote's items could not be read.`,
  ),
  discount_not_applied: review(({ quote }) => {
    if (quoteDiscount(quote)?.kind !== 'unreadable') return undefined;
    const type = nonBlank(quote.discount?.type);
    const what = type ? wording`is of the type ${quoteText(type)}` : wording`has no type`;
    return wording`The quote's discount ${what}: it is in no total.`;
  }),
  discount_over_limit: review(({ quote, discountLimit: limit }) => {
    const discount = quoteDiscount(quote);
    if (discount?.kind === 'percent')
      return (
        discount.percent.gt(limit) &&
        wording`The quote's discount is ${givenPercent(discount.percent)} %, over the limit of ${limit} %.`
      );
    if (discount?.kind !== 'amount') return undefined;
    // An amount is deducted from the one-time total, so it is compared with that total.
    const oneTime = sumItems(quote.items ?? []).terms.get('one-time')?.price ?? zero;
    return (
      discount.amount.times(hundred).gt(oneTime.times(limit)) &&
      wording`The quote's discount of ${rounded(discount.amount)} is over ${limit} % of the one-time total of ${rounded(oneTime)}.`
    );
  }),
  negative_margin: stop(({ quote }) => {
    const discount = quoteDiscount(quote);
    if (discount?.kind !== 'amount') return undefined;
    const sums = sumItems(quote.items ?? []);
    const { comparablePrice: before, comparableCost: cost } = sums.terms.get('one-time') ?? {};
    const after = applyDiscount(sums, discount).terms.get('one-time')?.comparablePrice;
    const turnsToLoss = before && cost && after && !before.lt(cost) && after.lt(cost);
    return (
      turnsToLoss &&
      wording`The quote's discount of ${rounded(discount.amount)} takes the one-time total under its cost.`
    );
  }),
  unknown_currency: review(
    ({ quote, company, currencyOf }) =>
      currencyOfRecord({ ...quote, ...(company && { company }) }, currencyOf) === unknownCurrency &&
      wording`The currency is unknown: neither the quote nor its company names one.`,
  ),
  expired: stop(
    ifGoingOut(({ quote, today }) => {
      if (!isExpired(quote, today)) return undefined;
      const day = dayOf(quote.expiredAt) ?? dayOf(quote.expiresAt);
      return day && day <= today
        ? wording`The quote expired on ${trusted(day)}.`
        : wording`The quote has expired.`;
    }),
  ),
  expiring: review(
    ifGoingOut(({ quote, today }) => {
      const expires = dayOf(quote.expiresAt);
      if (!expires || isExpired(quote, today)) return undefined;
      const days = daysBetween(today, expires);
      return days <= 7 && wording`The quote expires on ${trusted(expires)}, ${inDays(days)}.`;
    }),
  ),
  missing_expiry: review(
    ifGoingOut(
      ({ quote, today }) =>
        !dayOf(quote.expiresAt) &&
        !isExpired(quote, today) &&
        wording`The quote has no expiry date: it never expires.`,
    ),
  ),
  missing_company: review(
    ({ quote }) => !isNamed(quote.company) && wording`The quote names no company.`,
  ),
  // A nested contact may have first and last name instead of a name.
  missing_contact: review(
    ({ quote: { contact = {} } }) =>
      !Object.values(contact).some((value) => typeof value === 'string' && value.trim()) &&
      wording`The quote names no contact.`,
  ),
  missing_payment_term: review(
    ({ quote }) => !isNamed(quote.paymentTerm) && wording`The quote has no payment term.`,
  ),
  deleted_company: stop(
    ifGoingOut(({ company }) => company && isDeleted(company) && wording`The company was deleted.`),
  ),
  deleted_contact: stop(
    ifGoingOut(
      ({ contact }) =>
        contact && isDeleted(contact) && wording`The contact ${nameOf(contact)} was deleted.`,
    ),
  ),
  contact_without_email: review(
    ifGoingOut(
      ({ contact }) =>
        contact &&
        !isDeleted(contact) &&
        !contact.email?.includes('@') &&
        wording`The contact ${nameOf(contact)} has no e-mail.`,
    ),
  ),
  opportunity_won: ifOutcome('won', wording`The opportunity is already won.`),
  opportunity_lost: ifOutcome('lost', wording`The opportunity is lost.`),
  opportunity_closed: ifOutcome('closed_unknown', wording`The opportunity is closed.`),
  opportunity_deleted: ifOutcome('deleted', wording`The opportunity was deleted.`),
} satisfies Record<string, PreflightCheck<Subject>>;

const isExpired = (quote: Quote, today: Day): boolean =>
  statusCategoryOf(quote) === 'expired' || isPastExpiry(quote, today);

const isNamed = (ref: Ref | undefined): boolean =>
  Boolean(nonBlank(ref?.id) ?? nonBlank(ref?.name));

const nameOf = (contact: Contact): Wording => quoteText(contactName(contact) ?? contact.id ?? '');

function ifOutcome(outcome: ReturnType<typeof outcomeOf>, why: Wording): PreflightCheck<Subject> {
  return review(
    ifGoingOut(({ opportunity }) => opportunity && outcomeOf(opportunity) === outcome && why),
  );
}

type Line = ReturnType<typeof toLine>;

const lineChecks = {
  missing_price: stop(({ price }) => !price && wording`No price: the line is in no total.`),
  missing_cost: review(({ cost }) => !cost && wording`No cost: the margin of the line is unknown.`),
  missing_quantity: review(
    ({ item }) => item.quantity === undefined && wording`No quantity: counted as 1.`,
  ),
  price_under_cost: stop(
    ({ price, cost }) =>
      price &&
      cost &&
      price.lt(cost) &&
      wording`Price ${perUnit(price)} is under the cost of ${perUnit(cost)}.`,
  ),
  negative_margin: stop(
    ({ price, cost, netPrice }) =>
      cost &&
      netPrice?.lt(cost) &&
      !price?.lt(cost) &&
      wording`After discounts the price is ${perUnit(netPrice)}, under the cost of ${perUnit(cost)}.`,
  ),
  zero_margin: review(
    ({ price, cost, netPrice }) =>
      cost &&
      !cost.eq(0) &&
      netPrice?.eq(cost) &&
      !price?.lt(cost) &&
      wording`After discounts the price is ${perUnit(netPrice)}, equal to the cost.`,
  ),
  unrecognised_term: review(
    ({ item, term }) =>
      term === 'other' &&
      wording`Term ${quoteText(item.term ?? '')} is neither once, month nor year: it has a total of its own.`,
  ),
  missing_term: stop(
    ({ term, product }) =>
      term === 'one-time' &&
      product &&
      termOf(product.term) !== term &&
      wording`No term, but the catalogue sells it ${describeTerm(product.term)}: it would be charged once.`,
  ),
  term_differs: review(
    ({ term, product }) =>
      (term === 'monthly' || term === 'yearly') &&
      product &&
      termOf(product.term) !== term &&
      wording`Sold ${term}, but the catalogue sells it ${describeTerm(product.term)}.`,
  ),
  discount_over_limit: review(({ item, quotePercent, discountLimit: limit }) => {
    const own = decimal(item.discount);
    if (!own?.gt(0)) return undefined;
    const combined = hundred.minus(lessPercent(hundred.minus(own), quotePercent));
    const added = quotePercent.eq(0)
      ? ''
      : wording`, ${roundedPercent(combined)} % with the quote's`;
    return (
      combined.gt(limit) &&
      wording`Discount ${givenPercent(own)} %${added}, over the limit of ${limit} %.`
    );
  }),
  setup_cost_without_price: stop(
    ({ item: { setupCost, setupPrice } }) =>
      setupCost !== undefined &&
      setupCost > 0 &&
      !setupPrice &&
      wording`Setup costs ${rounded(zero.plus(setupCost))} and is not charged.`,
  ),
  under_book: review(
    ({ netPrice, prices: [lowest] }) =>
      netPrice &&
      lowest &&
      isUnder(netPrice, lowest) &&
      wording`After discounts the price is ${perUnit(netPrice)}, under the ${describeBook(lowest, netPrice)}.`,
  ),
  departs_from_book: review(({ price, unitPrice, netPrice, prices }) => {
    const [lowest] = prices;
    if (!price || !unitPrice || !lowest || (netPrice && isUnder(netPrice, lowest)))
      return undefined;
    const nearest = prices.reduce((best, one) =>
      one.price.minus(price).abs().lt(best.price.minus(price).abs()) ? one : best,
    );
    const isOff = [price, unitPrice].every((own) => isOffBook(own, nearest));
    return (
      isOff && wording`Price ${perUnit(price)} differs from the ${describeBook(nearest, price)}.`
    );
  }),
  unlisted_product: review(
    ({ product }) =>
      product?.listed === false && wording`The product is no longer listed in the catalogue.`,
  ),
} satisfies Record<string, PreflightCheck<Line>>;

/** Allowed difference from a pricing book, in percent. */
const bookTolerance = 1;
const isOffBook = (own: Decimal, { price }: KnownPrice) => deviates(own, price, bookTolerance);
const isUnder = (own: Decimal, book: KnownPrice): boolean =>
  own.lt(book.price) && isOffBook(own, book);

/** "price of 100 in pricing book "Project" (−5 %)". */
function describeBook({ book, price }: KnownPrice, own: Decimal): Wording {
  const away = percentOf(own.minus(price), price);
  const by = away ? wording` (${away.gt(0) ? '+' : ''}${roundedPercent(away)} %)` : '';
  return wording`price of ${perUnit(price)} in pricing book ${quoteText(book.name ?? book.id ?? '')}${by}`;
}

/** Findings on a quote: `stop` first, then by line, then in the order of the checks. */
export function preflight(
  records: PreflightRecords,
  options: PreflightOptions,
): PreflightFinding[] {
  const subject: Subject = { discountLimit: 20, ...compact(options), ...records };
  const findings = [...findingsOn(subject, quoteChecks), ...lineFindings(subject)];
  return [
    ...findings.filter(({ severity }) => severity === 'stop'),
    ...findings.filter(({ severity }) => severity === 'check'),
  ];
}

const findingsOn = <On, Code extends FindingCode>(
  subject: On,
  checks: Readonly<Record<Code, PreflightCheck<On>>>,
  where: Pick<PreflightFinding, 'line' | 'item'> = {},
): PreflightFinding[] =>
  keysOf(checks).flatMap((code) => {
    const { severity, whyOf } = checks[code];
    const why = whyOf(subject);
    return why ? [{ code, severity, ...where, why }] : [];
  });

const lineFindings = (subject: Subject): PreflightFinding[] => {
  const shared = sharedByLines(subject);
  return (subject.quote.items ?? []).flatMap((item, at) => {
    const where = compact({ line: at + 1, item: nonBlank(item.name) ?? nonBlank(item.mpn) });
    return findingsOn(toLine(item, shared), lineChecks, where);
  });
};

function sharedByLines(subject: Subject) {
  const { quote, company, books = [], products = [], today, discountLimit } = subject;
  const ids = new Set(quote.items?.map(({ product }) => product?.id));
  const catalogue = products.filter(({ id }) => id !== undefined && ids.has(id));
  // Books apply as of the day on which the quote was sent, else today.
  const day = statusCategoryOf(quote) === 'draft' ? today : (dayOf(quote.sentAt) ?? today);
  const discount = quoteDiscount(quote);
  return {
    discountLimit,
    catalogue: new Map(catalogue.map((product) => [product.id, product])),
    pricesOf: pricesFor(books, company, day),
    // Or 0.
    quotePercent: discount?.kind === 'percent' ? discount.percent : zero,
  };
}

function toLine(item: QuoteItem, shared: ReturnType<typeof sharedByLines>) {
  const { unitPrice } = lineAmounts(item);
  return {
    item,
    product: shared.catalogue.get(item.product?.id),
    term: termOf(item.term),
    price: decimal(item.price),
    cost: decimal(item.cost),
    unitPrice,
    // Per unit after the line's discount and the percentage of the quote.
    netPrice: unitPrice && lessPercent(unitPrice, shared.quotePercent),
    prices: shared.pricesOf(item.product?.id ?? ''),
    ...shared,
  };
}

/** What was looked at, and what could not be, because its record may not be read or is not found. */
export function preflightScope(records: PreflightRecords) {
  const { quote } = records;
  const parties = isAnsweredOrDeleted(quote)
    ? []
    : (['company', 'contact', 'opportunity'] as const).filter((each) => quote[each]);
  const needed = [
    ['catalogue', records.products],
    ['pricing books', records.books],
    ...(isAnsweredOrDeleted(quote) ? [] : [['expiry', true] as const]),
    ...parties.map((each) => [each, records[each]] as const),
  ] as const;
  const missing = needed.flatMap(([area, found]) => (found ? [] : [area]));
  const checked = needed.flatMap(([area, found]) => (found ? [area] : []));
  return compact({
    checked: ['prices', 'costs', 'discounts', 'currency', ...checked],
    notChecked: missing.length > 0 ? missing : undefined,
  });
}
