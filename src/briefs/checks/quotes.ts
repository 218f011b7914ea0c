/** Checks of quotes. */

import { addDays, type Day, dayOf, daysBetween } from '../../figures/days.ts';
import { currencyOfRecord, type Decimal } from '../../figures/money.ts';
import { compact, inDays, nonBlank, plural, quoteName } from '../../figures/naming.ts';
import {
  acceptanceOf,
  type DealState,
  Deals,
  isPastExpiry,
  isUnanswered,
  statusCategoryOf,
  statusOfQuote,
} from '../../figures/quote-state.ts';
import {
  applyDiscount,
  firstYearValue,
  quoteDiscount,
  sumItems,
  sumQuote,
} from '../../figures/quote-totals.ts';
import { filterSteps, type Steps } from '../../figures/steps.ts';
import { Catalogue } from '../../names/part-numbers.ts';
import type { Quote, QuoteItem } from '../../service/records/records.ts';
import { quote as quoteText, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import {
  type Check,
  type CheckContext,
  type CheckData,
  type CheckResult,
  examineEach,
  type RawFinding,
  type ReasonCounts,
} from './check.ts';
import { isListed } from './products.ts';

/** A check of quotes, with the opportunities that they belong to. */
interface QuoteContext extends CheckContext {
  /** `undefined` where opportunities may not be read. */
  deals: Deals | undefined;
}

export function* quoteContextOf(
  context: CheckContext,
  { opportunity }: CheckData,
): Steps<QuoteContext> {
  return { ...context, deals: opportunity && (yield* Deals.of(opportunity)) };
}

export const quoteFinding = (
  quote: Quote,
  { currencyOf, today, deals }: QuoteContext,
  atStake: Decimal | undefined,
): Omit<RawFinding, 'reason'> => ({
  ...compact({
    id: nonBlank(quote.id),
    number: nonBlank(quote.number),
    name: quoteName(quote),
    company: nonBlank(quote.company?.name),
    deal: nonBlank(quote.opportunity?.name) ?? nonBlank(quote.opportunity?.id),
  }),
  resource: 'quote',
  owner: quote.owner,
  status: statusOfQuote(quote),
  kinds: {
    acceptance: acceptanceOf(quote, today),
    ...(deals && { deal: describeDeal[deals.stateOf(quote)] }),
  },
  atStake,
  currency: currencyOfRecord(quote, currencyOf),
});

const describeDeal: Readonly<Record<DealState, string>> = {
  open: 'deal open',
  won: 'deal won',
  lost: 'deal lost',
  closed: 'deal closed',
  deleted: 'deal deleted',
  none: 'no deal',
  not_found: 'deal not found',
};

/** The reason why a quote is a finding, or `undefined`; counts quotes that cannot be checked. */
type ReasonOf = (quote: Quote, notChecked: ReasonCounts) => (() => Wording) | undefined;

const examineQuotes = (
  quotes: readonly Quote[],
  of: string,
  context: QuoteContext,
  reasonOf: ReasonOf,
): Steps<CheckResult> =>
  examineEach(quotes, of, (quote, notChecked): RawFinding | undefined => {
    const reason = reasonOf(quote, notChecked);
    const atStake = reason && firstYearValue(sumQuote(quote));
    return reason && { ...quoteFinding(quote, context, atStake), reason };
  });

const quoteCheck = {
  needs: ['quote'],
  wants: ['opportunity'],
  about: ['quote'],
  unit: 'quote',
  isAdditive: true,
} as const;

const stakeDefinition = 'At stake: one-time + 12 × monthly + yearly, after discounts.';

export const staleQuotes: Check = {
  ...quoteCheck,
  needsItems: (quote) => statusCategoryOf(quote) === 'sent',
  defaults: { days: 14 },
  define: ({ days, today }) =>
    `Sent quotes that went out ${days} or more days before ${today} and were not approved or declined since. ${stakeDefinition}`,
  *examine(data, context) {
    const sent = yield* filterSteps(data.quote ?? [], (each) => statusCategoryOf(each) === 'sent');
    const quoteContext = yield* quoteContextOf(context, data);
    return yield* examineQuotes(sent, 'sent quotes', quoteContext, (each, notChecked) => {
      const day = dayOf(each.sentAt);
      if (!day) {
        notChecked.add('no sending date');
        return undefined;
      }
      const age = daysBetween(day, context.today);
      if (age < context.days || wasAnswered(each, day)) return undefined;
      return () =>
        wording`sent ${trusted(day)}, ${plural(age, 'day')} without an answer${describeExpired(each, context.today)}`;
    });
  },
};

/** Ignores an answer older than the last sending: it was for an earlier version. */
const wasAnswered = (quote: Quote, sent: Day): boolean =>
  [quote.approvedAt, quote.declinedAt].some((time) => (dayOf(time) ?? '') >= sent);

const describeExpired = (quote: Quote, today: Day): Wording =>
  isPastExpiry(quote, today)
    ? wording`; expired ${trusted(dayOf(quote.expiresAt) ?? '')}`
    : wording``;

export const expiringQuotes: Check = {
  ...quoteCheck,
  needsItems: isUnanswered,
  defaults: { days: 14 },
  define: ({ days, today }) =>
    `Draft and sent quotes that expire from ${today} to ${addDays(today, days)}, both included. ${stakeDefinition}`,
  *examine(data, context) {
    const until = addDays(context.today, context.days);
    const quotes = yield* filterSteps(data.quote ?? [], isUnanswered);
    const quoteContext = yield* quoteContextOf(context, data);
    return yield* examineQuotes(quotes, unanswered, quoteContext, (each, notChecked) => {
      const expires = dayOf(each.expiresAt);
      if (!expires) {
        notChecked.add('no expiry date');
        return undefined;
      }
      if (expires < context.today || expires > until) return undefined;
      return () =>
        wording`expires ${trusted(expires)}, ${inDays(daysBetween(context.today, expires))}`;
    });
  },
};

const unanswered = 'draft and sent quotes';

export const quotesOfClosedDeals: Check = {
  ...quoteCheck,
  needsItems: isUnanswered,
  needs: ['quote', 'opportunity'],
  wants: [],
  define: () =>
    `Draft and sent quotes whose opportunity is won, lost, closed or deleted. ${stakeDefinition}`,
  *examine(data, context) {
    const quotes = yield* filterSteps(data.quote ?? [], isUnanswered);
    const deals = yield* Deals.of(data.opportunity ?? []);
    return yield* examineQuotes(quotes, unanswered, { ...context, deals }, (each, notChecked) => {
      const state = deals.stateOf(each);
      if (state === 'none') notChecked.add('no opportunity');
      if (state === 'not_found') notChecked.add('opportunity not found');
      const isClosed = !['open', 'none', 'not_found'].includes(state);
      return isClosed ? () => wording`${trusted(describeDeal[state])}` : undefined;
    });
  },
};

export const unlistedOnQuotes: Check = {
  ...quoteCheck,
  needs: ['quote', 'product'],
  needsItems: isUnanswered,
  parts: 'lines',
  define: () =>
    'Draft and sent quotes with lines whose product is no longer listed. At stake: first-year value of these lines, after percentage discounts.',
  *examine(data, context) {
    const catalogue = yield* Catalogue.of(data.product ?? [], data.quote ?? []);
    const quotes = yield* filterSteps(data.quote ?? [], isUnanswered);
    const quoteContext = yield* quoteContextOf(context, data);
    return yield* examineEach(quotes, unanswered, (each, notChecked) => {
      const isFound = (item: QuoteItem) => isUnlisted(item, catalogue, notChecked);
      const items = (each.items ?? []).filter(isFound);
      return items.length > 0 ? unlistedFinding(each, items, catalogue, quoteContext) : undefined;
    });
  },
};

function isUnlisted(item: QuoteItem, catalogue: Catalogue, notChecked: ReasonCounts): boolean {
  const product = catalogue.productOf(item);
  if (product) return !isListed(product);
  notChecked.add(
    item.product?.id ? 'lines: product not in the catalogue' : 'lines: no product named',
  );
  return false;
}

function unlistedFinding(
  quote: Quote,
  unlistedItems: readonly QuoteItem[],
  catalogue: Catalogue,
  context: QuoteContext,
): RawFinding {
  const [first = {}] = unlistedItems;
  const name = nonBlank(first.name) ?? nonBlank(catalogue.productOf(first)?.name);
  return {
    ...quoteFinding(quote, context, valueOfItems(quote, unlistedItems)),
    parts: unlistedItems.length,
    reason: () => describeLines(unlistedItems, name),
  };
}

/** "3 lines, first "Old switch"". */
export function describeLines(lines: readonly QuoteItem[], first: string | undefined): Wording {
  const all = plural(lines.length, 'line');
  if (first === undefined) return all;
  return lines.length === 1
    ? wording`1 line: ${quoteText(first)}`
    : wording`${all}, first ${quoteText(first)}`;
}

/** Applies a percentage discount only: an amount off the whole quote cannot be split by item. */
function valueOfItems(quote: Quote, items: readonly QuoteItem[]): Decimal | undefined {
  const discount = quoteDiscount(quote);
  const percent = discount?.kind === 'percent' ? discount : undefined;
  return firstYearValue(applyDiscount(sumItems(items), percent));
}
