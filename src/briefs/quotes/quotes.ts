/** Quotes over all customers: figures by group, and the quotes behind them. */

import { type Day, dayOf, within } from '../../figures/days.ts';
import { collectGroups, groupRows, monthOf, rankGroups } from '../../figures/group-labels.ts';
import {
  type CurrencyOf,
  type CurrencySums,
  currencyOfRecord,
  rounded,
  sumOf,
  unknownCurrency,
} from '../../figures/money.ts';
import {
  byName,
  compact,
  type Named,
  named,
  nonBlank,
  nonZero,
  nonZeroCounts,
  quoteName,
} from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import {
  acceptanceOf,
  acceptances,
  type DealState,
  dealStateReader,
  statusOfQuote,
} from '../../figures/quote-state.ts';
import {
  firstYearValue,
  hasUnknownItems,
  sumQuote,
  termTotals,
} from '../../figures/quote-totals.ts';
import { filterSteps, flatMapSteps, type ResultOf, sortSteps } from '../../figures/steps.ts';
import { isNamedTerm } from '../../figures/terms.ts';
import { mentionsText, refersTo } from '../../names/name-filters.ts';
import type { Opportunity, Quote } from '../../service/records/records.ts';

export const quotesBy = [
  'status',
  'acceptance',
  'owner',
  'company',
  'month',
  'currency',
  'deal_state',
] as const;

type QuotesBy = (typeof quotesBy)[number];

/** The dates of a quote that a period and months can be of. */
export const quoteDates = ['created', 'sent', 'approved', 'declined', 'expires'] as const;

type QuoteDate = (typeof quoteDates)[number];

export interface QuotesOptions {
  /** Filters as `resolveFilters` resolved them. */
  owner?: Named;
  company?: Named;
  status?: Named;
  currency?: Named;
  acceptance?: Named;
  dealState?: Named;
  /** The date that `from` and `to` are of. Default: sent. */
  date?: QuoteDate;
  from?: Day;
  to?: Day;
  /** A text in a line's name, part number or manufacturer; `(none)`: quotes without lines. */
  item?: string;
  today: Day;
  currencyOf: CurrencyOf;
  /** Default: status. */
  by?: QuotesBy;
  /** Groups shown; the others are one row. Default: 24. */
  maxGroups?: number;
}

const defaultDate: QuoteDate = 'sent';

const dateField = {
  created: 'createdAt',
  sent: 'sentAt',
  approved: 'approvedAt',
  declined: 'declinedAt',
  expires: 'expiresAt',
} as const satisfies Record<QuoteDate, keyof Quote>;

const dayIn = (quote: Quote, date: QuoteDate = defaultDate): Day | undefined =>
  dayOf(quote[dateField[date]]);

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
  const matching: readonly Quote[] = yield* filterSteps(
    quotes,
    (quote) =>
      !isDeleted(quote) &&
      (!owner || refersTo(quote.owner, owner)) &&
      (!company || refersTo(quote.company, company)) &&
      (!status || statusOfQuote(quote) === status.name) &&
      (!currency || currencyOfRecord(quote, options.currencyOf) === currency.name) &&
      (!acceptance || acceptanceOf(quote, today) === acceptance.name) &&
      (!dealState || dealOf?.(quote) === dealState.name) &&
      isInPeriod(quote, options),
  );
  return {
    matching,
    dealOf,
    deleted: quotes.filter(isDeleted).length,
  };
}

/** A quote without the date is in no period. */
function isInPeriod(quote: Quote, { date, from, to }: QuotesOptions): boolean {
  if (from === undefined && to === undefined) return true;
  const day = dayIn(quote, date);
  return day !== undefined && within(day, from, to);
}

/** As a filter by text in lines: quotes without lines. */
export const noItems = '(none)';

/** Whether a line has the text in its name, part number or manufacturer; of unknown lines none is known to. */
function hasItem(quote: Quote, text: string): boolean {
  const { items = [] } = quote;
  if (text === noItems) return items.length === 0 && !hasUnknownItems(quote);
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
  { matching, dealOf, deleted }: ResultOf<typeof findQuotes>,
  options: QuotesOptions,
) {
  const { today, date = defaultDate, from, to, by = 'status', item } = options;
  const facts = yield* flatMapSteps(matching, (quote) =>
    item === undefined || hasItem(quote, item) ? [factsOf(quote, dealOf, options)] : [],
  );
  // With a filter by lines they are in no other figure.
  const unread = matching.filter(hasUnknownItems).length;
  const ranked = yield* sortSteps(facts, byFirstYear);
  const total = figuresOf(facts);
  yield;
  const unknown = countUnknown(facts, unread);
  yield;
  const acceptance = acceptanceRows(facts);
  yield;
  const brief = compact({
    today,
    period: (from ?? to) ? compact({ date, from, to }) : undefined,
    total,
    unknown,
    // Quotes with amounts per quarter or another term: those are in no column.
    otherTerms: nonZero(facts.filter(hasOtherTerms).length),
    acceptance,
    by,
    groups: yield* groupsOf(facts, options),
    // Regardless of filters, and in no figure.
    deleted: nonZero(deleted),
  });
  const rows = (first: number, count: number) => ranked.slice(first, first + count).map(toRow);
  return { brief, count: ranked.length, rows };
}

export type QuotesReport = ResultOf<typeof quotesReport>;
export type QuotesBrief = QuotesReport['brief'];

type Facts = ReturnType<typeof factsOf>;

/** A quote with everything that is derived from it. */
function factsOf(quote: Quote, dealOf: DealOf, options: QuotesOptions) {
  const sums = sumQuote(quote);
  return {
    quote,
    currency: currencyOfRecord(quote, options.currencyOf),
    status: statusOfQuote(quote),
    acceptance: acceptanceOf(quote, options.today),
    dealState: dealOf?.(quote),
    sums,
    firstYear: firstYearValue(sums),
  };
}

const rankOf = ({ firstYear }: Facts): number => firstYear?.toNumber() ?? -Number.MAX_VALUE;

const byFirstYear = (a: Facts, b: Facts): number =>
  rankOf(b) - rankOf(a) || byName(namedQuote(a), namedQuote(b));

const namedQuote = ({ quote }: Facts): Named =>
  compact({ id: nonBlank(quote.id), name: quoteName(quote) });

/** Sums by currency, after discounts; amounts of unknown prices are in none. */
function figuresOf(facts: readonly Facts[]) {
  const ofTerm = (term: string) =>
    sumOf(facts, ({ sums }) => sums.terms.get(term)?.price).toAmounts();
  return compact({
    count: facts.length,
    oneTime: ofTerm('one-time'),
    monthly: ofTerm('monthly'),
    yearly: ofTerm('yearly'),
    firstYearValue: firstYearOf(facts).toAmounts(),
  });
}

const firstYearOf = (facts: readonly Facts[]): CurrencySums =>
  sumOf(facts, ({ firstYear }) => firstYear);

/** Numbers of quotes with an unknown or partly unknown figure. */
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

function acceptanceRows(facts: readonly Facts[]) {
  return acceptances.flatMap((acceptance) => {
    const these = facts.filter((each) => each.acceptance === acceptance);
    const firstYearValue = firstYearOf(these).toAmounts();
    return these.length > 0 ? [compact({ acceptance, count: these.length, firstYearValue })] : [];
  });
}

/** By count, then by the largest first-year value in one currency and by name; months in time order. */
function* groupsOf(
  facts: readonly Facts[],
  { by = 'status', date = defaultDate, maxGroups = 24 }: QuotesOptions,
) {
  const groups = collectGroups(facts, (each) => labelOf(each, by, date));
  yield;
  const ordered =
    by === 'month'
      ? groups.sort((a, b) => byName(a.label, b.label))
      : rankGroups(groups, (items) => [items.length, firstYearOf(items).largest]);
  return yield* groupRows(ordered, {
    limit: maxGroups,
    missing: by === 'month' ? `no ${date} date` : `no ${by.replace('_', ' ')}`,
    figuresOf,
  });
}

function labelOf(facts: Facts, by: QuotesBy, date: QuoteDate): Named {
  const { quote, status, acceptance, currency, dealState } = facts;
  if (by === 'owner' || by === 'company') return named(quote[by]);
  if (by === 'month') return compact({ name: monthOf(dayIn(quote, date)) });
  return compact({ name: { status, acceptance, currency, deal_state: dealState }[by] });
}

function toRow(facts: Facts) {
  const { quote, currency, status, acceptance, dealState, sums, firstYear } = facts;
  const { oneTime, monthly, yearly } = termTotals(sums);
  return compact({
    id: nonBlank(quote.id),
    number: nonBlank(quote.number),
    name: nonBlank(quote.title) ?? nonBlank(quote.name),
    company: nonBlank(quote.company?.name) ?? nonBlank(quote.company?.id),
    owner: nonBlank(quote.owner?.name) ?? nonBlank(quote.owner?.id),
    status,
    acceptance: acceptance === status ? undefined : acceptance,
    dealState,
    oneTime,
    monthly,
    yearly,
    firstYearValue: firstYear && rounded(firstYear),
    currency,
    sent: dayIn(quote, 'sent'),
    approved: dayIn(quote, 'approved'),
    expires: dayIn(quote, 'expires'),
  });
}
