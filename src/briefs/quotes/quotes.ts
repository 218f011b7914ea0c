import { type Day, dayOf, daySpread, daysFromTo, within } from '../../figures/days.ts';
import { compact, nonZero, nonZeroCounts } from '../../figures/fields.ts';
import {
  bandLabel,
  collectGroups,
  groupRows,
  type Label,
  lineLabel,
  monthLabel,
} from '../../figures/group-labels.ts';
import { compare, countsBy } from '../../figures/lists.ts';
import {
  type CurrencyOf,
  type CurrencySums,
  currencyOfRecord,
  type Decimal,
  percentagesOf,
  percentOfCounts,
  rounded,
  sumOf,
  unknownCurrency,
  zero,
} from '../../figures/money.ts';
import {
  byName,
  type Named,
  named,
  namedQuote,
  nameOrId,
  quoteIdentity,
} from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import {
  type Acceptance,
  acceptanceOf,
  acceptances,
  type DealState,
  dealStateReader,
  isOpenQuote,
  statusCategoryOf,
  statusOfQuote,
} from '../../figures/quote-state.ts';
import {
  amountTakenOff,
  firstYearValue,
  hasUnknownItems,
  quoteOfLines,
  sumItems,
  sumQuote,
  type TermSums,
  termTotals,
} from '../../figures/quote-totals.ts';
import { filterSteps, flatMapSteps, type ResultOf, sortSteps } from '../../figures/steps.ts';
import { isNamedTerm } from '../../figures/terms.ts';
import { mentionsText, refersTo } from '../../names/name-filters.ts';
import type { Opportunity, Quote, QuoteItem } from '../../service/records/records.ts';

export const quotesBy = [
  'status',
  'acceptance',
  'owner',
  'company',
  'month',
  'currency',
  'deal_state',
  'value',
  'age',
  'category',
  'product',
] as const;

type QuotesBy = (typeof quotesBy)[number];

/** Figures on request only. */
export const quoteExtras = ['approval', 'days', 'discount'] as const;
export type QuoteExtra = (typeof quoteExtras)[number];

/** The dates of a quote that a period and months can be of. */
export const quoteDates = ['created', 'sent', 'approved', 'declined', 'expires'] as const;

/** Orders of the quotes; by `value` of the groups, too. */
export const quoteOrders = ['value', 'age', 'expiry'] as const;

type QuoteDate = (typeof quoteDates)[number];

type QuotesFilter = 'owner' | 'company' | 'status' | 'currency' | 'acceptance' | 'dealState';

/** Filters as `resolveFilters` resolved them. */
export interface QuotesOptions extends Partial<Record<QuotesFilter, Named | undefined>> {
  /** The date that `from` and `to` are of. */
  date: QuoteDate;
  from?: Day | undefined;
  to?: Day | undefined;
  /** A text in a line's name, part number or manufacturer; `none`: quotes without lines. */
  item?: string | undefined;
  today: Day;
  currencyOf: CurrencyOf;
  by: QuotesBy;
  /** Figures in place of the amounts of groups. Default: none. */
  show?: readonly QuoteExtra[] | undefined;
  /** Default: quotes by value, groups by their number of quotes. */
  sort?: (typeof quoteOrders)[number] | undefined;
  /** Groups shown; the others are one row. Default: 24. */
  maxGroups?: number | undefined;
}

const dayIn = (quote: Quote, date: QuoteDate): Day | undefined => dayOf(quote[`${date}At`]);

type DealOf = ((quote: Quote) => DealState) | undefined;

/** Finds the quotes that match all filters but `item`. */
export function* findQuotes(
  quotes: readonly Quote[],
  opportunities: readonly Opportunity[] | undefined,
  options: QuotesOptions,
) {
  const { today, owner, company, status, currency, acceptance, dealState } = options;
  // Only with opportunities is the state of a deal known.
  const dealOf = opportunities && (yield* dealStateReader(opportunities));
  const owned: readonly Quote[] = yield* filterSteps(
    quotes,
    (quote) =>
      (!owner || refersTo(quote.owner, owner)) && (!company || refersTo(quote.company, company)),
  );
  const passing: readonly Quote[] = yield* filterSteps(
    owned,
    (quote) =>
      !isDeleted(quote) &&
      (!status || statusOfQuote(quote) === status.name) &&
      (!currency || currencyOfRecord(quote, options.currencyOf) === currency.name) &&
      (!acceptance || acceptanceOf(quote, today) === acceptance.name) &&
      (!dealState || dealOf?.(quote) === dealState.name),
  );
  const isUndated = (quote: Quote) => dayIn(quote, options.date) === undefined;
  return {
    matching: yield* filterSteps(passing, (quote) => isInPeriod(quote, options)),
    undated: passing.filter((quote) => isUndated(quote) && !isInPeriod(quote, options)),
    dealOf,
    deleted: owned.filter(isDeleted).length,
  };
}

/** A quote without the date is in no period. */
const isInPeriod = (quote: Quote, { date, from, to }: QuotesOptions): boolean =>
  (from ?? to) === undefined || within(dayIn(quote, date), from, to);

/** Whether a filter by text in lines means quotes without lines. */
export const meansNoItems = (text: string): boolean => /^(none|\(none\))$/i.test(text);

/** Whether a line has the text in its name, part number or manufacturer; of unknown lines none is known to. */
function hasItem(quote: Quote, text: string): boolean {
  const { items = [] } = quote;
  if (meansNoItems(text)) return items.length === 0 && !hasUnknownItems(quote);
  return items.some(({ name, mpn, manufacturer }) =>
    [name, mpn, manufacturer].some((field) => field !== undefined && mentionsText(field, text)),
  );
}

/**
 * Quotes with their figures: the highest first-year value first, unknown ones last, then by name and id. Definition:
 * docs/definitions.md, "Quotes over all customers".
 *
 * The items of `matching` may have been read meanwhile.
 */
export function* quotesReport(
  { matching, undated, dealOf, deleted }: ResultOf<typeof findQuotes>,
  options: QuotesOptions,
) {
  const { today, date, from, to, by, item, show = [], sort } = options;
  const isWanted = (quote: Quote) => item === undefined || hasItem(quote, item);
  const facts = yield* flatMapSteps(matching, (quote) =>
    isWanted(quote) ? [factsOf(quote, dealOf, options)] : [],
  );
  const withoutDate = nonZero(undated.filter(isWanted).length);
  // With a filter by lines they are in no other figure.
  const unread = matching.filter(hasUnknownItems).length;
  const ranked = yield* sortSteps(facts, orderOf(sort, today));
  const total = { ...figuresOf(facts), ...extraFigures(facts, show) };
  yield;
  const unknown = countUnknown(facts, unread);
  yield;
  const acceptance = acceptanceRows(facts, dealOf !== undefined);
  yield;
  const brief = compact({
    today,
    period: (from ?? to) ? compact({ date, from, to, withoutDate }) : undefined,
    total,
    unknown,
    // Quotes with amounts per quarter or another term: those are in no column.
    otherTerms: nonZero(facts.filter(hasOtherTerms).length),
    acceptance,
    by,
    groups: yield* groupsOf(facts, options),
    // Of the owner and company, and in no figure.
    deleted: nonZero(deleted),
  });
  const rows = (first: number, count: number) =>
    ranked.slice(first, first + count).map((each) => toRow(each, sort));
  return { brief, count: ranked.length, rows };
}

export type QuotesReport = ResultOf<typeof quotesReport>;
export type QuotesBrief = QuotesReport['brief'];

/** `label`: of the category or product, if it is about the lines of one. */
type Facts = ReturnType<typeof factsOf> & { label?: Named };

function factsOf(quote: Quote, dealOf: DealOf, options: QuotesOptions) {
  return {
    quote,
    /** Also in the facts about some of its lines, whose `quote` has only these. */
    whole: quote,
    currency: currencyOfRecord(quote, options.currencyOf),
    status: statusOfQuote(quote),
    acceptance: acceptanceOf(quote, options.today),
    dealState: dealOf?.(quote),
    ...amountsOf(quote, options),
    age: daysFromTo(startOf(quote), options.today),
  };
}

function amountsOf(quote: Quote, { show = [] }: QuotesOptions) {
  const sums = sumQuote(quote);
  const items = (quote.items ?? []).map(({ discount: _, ...item }): QuoteItem => item);
  return {
    sums,
    firstYear: firstYearValue(sums),
    list: show.includes('discount') ? sumItems(items) : undefined,
  };
}

/** The day on which it was sent, else created. */
const startOf = (quote: Quote): Day | undefined => dayIn(quote, 'sent') ?? dayIn(quote, 'created');

const rankOf = ({ firstYear }: Facts): number => firstYear?.toNumber() ?? -Number.MAX_VALUE;

/** By value; `age`: those that wait for an answer first, the oldest before; `expiry`: open ones first, the next to expire before. */
function orderOf(sort: QuotesOptions['sort'], today: Day) {
  const byFirstYear = (a: Facts, b: Facts): number =>
    rankOf(b) - rankOf(a) || byName(namedQuote(a.quote), namedQuote(b.quote));
  if (sort !== 'age' && sort !== 'expiry') return byFirstYear;
  const keyOf = ({ quote }: Facts): string =>
    sort === 'age'
      ? `${statusCategoryOf(quote) === 'sent' ? 0 : 1} ${startOf(quote) ?? '~'}`
      : `${isOpenQuote(quote, today) ? 0 : 1} ${dayIn(quote, 'expires') ?? '~'}`;
  return (a: Facts, b: Facts): number => compare(keyOf(a), keyOf(b)) || byFirstYear(a, b);
}

function countUnknown(facts: readonly Facts[], items: number) {
  const count = (isUnknown: (each: Facts) => boolean): number => facts.filter(isUnknown).length;
  return nonZeroCounts({
    firstYearValue: count(({ firstYear }) => !firstYear),
    prices: count(({ sums }) => sums.unknownPrices > 0),
    items,
    currency: count(({ currency }) => currency === unknownCurrency),
  });
}

const hasOtherTerms = ({ sums }: Facts): boolean =>
  [...sums.terms].some(([term, { price }]) => price !== undefined && !isNamedTerm(term));

/** `deals`: the states of their deals, where these are known. */
function acceptanceRows(facts: readonly Facts[], knowsDeals: boolean) {
  const rows = acceptances.map((acceptance) => {
    const these = facts.filter((each) => each.acceptance === acceptance);
    const firstYearValue = firstYearOf(these).toAmounts();
    const isOpen = acceptance === 'open to acceptance' && knowsDeals;
    const deals = isOpen ? countsBy(these, ({ dealState = 'none' }) => dealState) : undefined;
    return compact({ acceptance, count: these.length, firstYearValue, deals });
  });
  return rows.filter(({ count }) => count > 0);
}

/** By count, then by the largest first-year value in one currency and by name, or the other way round. */
function* groupsOf(facts: readonly Facts[], options: QuotesOptions) {
  const { by, date, maxGroups = 24, show = [], sort } = options;
  const isOfLines = by === 'category' || by === 'product';
  const items = isOfLines
    ? yield* flatMapSteps(facts, (each) => linesBy(each, by, options))
    : facts;
  return yield* groupRows(items, {
    labelsOf: (each) => each.label ?? labelOf(each, by, date),
    ranksOf(group) {
      const ranks = [group.length, firstYearOf(group).largest];
      return sort === 'value' ? ranks.reverse() : ranks;
    },
    limit: maxGroups,
    showsLast: by === 'month',
    missing: by === 'month' ? `no ${date} date` : `no ${by.replace('_', ' ')}`,
    figuresOf: (group) =>
      show.length > 0
        ? { count: onceEach(group).length, ...extraFigures(group, show) }
        : figuresOf(group),
  });
}

function labelOf(facts: Facts, by: QuotesBy, date: QuoteDate): Label {
  const { quote, status, acceptance, currency, dealState, firstYear, age } = facts;
  if (by === 'owner' || by === 'company') return named(quote[by]);
  if (by === 'month') return monthLabel(dayIn(quote, date));
  if (by === 'value') return bandLabel(firstYear?.toNumber(), [1_000, 10_000, 25_000, 100_000]);
  if (by === 'age') return bandLabel(age, [8, 31, 61, 91], ' days');
  return { name: { status, acceptance, currency, deal_state: dealState }[by as 'status'] };
}

/** The quote as its lines of each category or product; an amount that is taken off the whole quote is apart. */
function linesBy(facts: Facts, by: 'category' | 'product', options: QuotesOptions): Facts[] {
  const { quote } = facts;
  const labelled = collectGroups(quote.items ?? [], (item) => lineLabel(item, by));
  const parts = labelled.map(({ label, items }) => {
    const part = quoteOfLines(quote, items);
    return { ...facts, label, quote: part, ...amountsOf(part, options) };
  });
  const off = amountTakenOff(quote);
  if (!off) return parts;
  const label = { name: 'taken off whole quotes' };
  return [
    ...parts,
    { ...facts, label, sums: off, firstYear: firstYearValue(off), list: undefined },
  ];
}

/** One of the parts of each quote: groups of lines that are merged have several. */
const onceEach = (facts: readonly Facts[]): readonly Facts[] => [
  ...new Map(facts.map((each) => [each.whole, each])).values(),
];

/** Sums by currency, after discounts; amounts of unknown prices are in none. */
function figuresOf(facts: readonly Facts[]) {
  const ofTerm = (term: string) =>
    sumOf(facts, ({ sums }) => sums.terms.get(term)?.price).toAmounts();
  return compact({
    count: onceEach(facts).length,
    oneTime: ofTerm('one-time'),
    monthly: ofTerm('monthly'),
    yearly: ofTerm('yearly'),
    firstYearValue: firstYearOf(facts).toAmounts(),
  });
}

const firstYearOf = (facts: readonly Facts[]): CurrencySums =>
  sumOf(facts, ({ firstYear }) => firstYear);

/** The figures that were asked for, in place of amounts. */
const extraFigures = (facts: readonly Facts[], show: readonly QuoteExtra[]) => ({
  ...(show.includes('approval') && approvalOf(onceEach(facts))),
  ...(show.includes('days') && daysOf(onceEach(facts))),
  ...(show.includes('discount') && discountsOf(facts)),
});

function approvalOf(facts: readonly Facts[]) {
  const count = (wanted: Acceptance) =>
    facts.filter(({ acceptance }) => acceptance === wanted).length;
  const [approved, declined] = [count('accepted'), count('declined')];
  return compact({
    approved,
    declined,
    expired: count('past expiry'),
    approvalRatePercent: percentOfCounts(approved, approved + declined),
  });
}

function daysOf(facts: readonly Facts[]) {
  const spread = (from: 'createdAt' | 'sentAt', to: 'sentAt' | 'approvedAt') =>
    daySpread(facts.flatMap(({ quote }) => daysFromTo(quote[from], quote[to]) ?? []));
  return compact({
    daysToSend: spread('createdAt', 'sentAt'),
    daysToApprove: spread('sentAt', 'approvedAt'),
  });
}

const discountsOf = (facts: readonly Facts[]) =>
  compact({
    ...discountOf(facts, 'one-time', 'oneTime'),
    ...discountOf(facts, 'monthly', 'monthly'),
    ...discountOf(facts, 'yearly', 'yearly'),
  });

function discountOf<const Name extends string>(facts: readonly Facts[], term: string, name: Name) {
  const sumOfTerm = (amountOf: (net: TermSums, list: TermSums) => Decimal | undefined) =>
    sumOf(facts, ({ sums, list }) =>
      amountOf(sums.terms.get(term) ?? {}, list?.terms.get(term) ?? {}),
    );
  const listed = sumOfTerm((_, list) => list.price);
  const discount = sumOfTerm(
    (net, list) => (net.price ?? list.price) && (list.price ?? zero).minus(net.price ?? zero),
  );
  const profit = sumOfTerm(
    ({ comparablePrice: price, comparableCost: cost }) => cost && price?.minus(cost),
  );
  const price = sumOfTerm(({ comparablePrice }) => comparablePrice);
  return {
    [`${name}List`]: listed.toAmounts(),
    [`${name}Discount`]: discount.toAmounts(),
    [`${name}DiscountPercent`]: percentagesOf(discount, listed),
    [`${name}MarginPercent`]: percentagesOf(profit, price),
  };
}

function toRow(facts: Facts, sort: QuotesOptions['sort']) {
  const { age, quote, currency, status, acceptance, dealState, sums, firstYear } = facts;
  const { oneTime, monthly, yearly } = termTotals([sums]);
  return compact({
    ...quoteIdentity(quote),
    company: nameOrId(quote.company),
    owner: nameOrId(quote.owner),
    status,
    acceptance: acceptance === status ? undefined : acceptance,
    dealState,
    oneTime,
    monthly,
    yearly,
    firstYearValue: firstYear && rounded(firstYear),
    currency,
    ageDays: sort === 'age' ? age : undefined,
    sent: dayIn(quote, 'sent'),
    approved: dayIn(quote, 'approved'),
    expires: dayIn(quote, 'expires'),
  });
}
