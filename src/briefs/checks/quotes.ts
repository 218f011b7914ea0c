import { addDays, dayOf, daysBetween } from '../../figures/days.ts';
import { compact, nonBlank } from '../../figures/fields.ts';
import { currencyOfRecord } from '../../figures/money.ts';
import { inDays, nameOrId, plural, quoteName } from '../../figures/naming.ts';
import { isListed } from '../../figures/outcome.ts';
import {
  acceptanceOf,
  type DealState,
  dealStateReader,
  isPastExpiry,
  isUnanswered,
  statusCategoryOf,
  statusOfQuote,
} from '../../figures/quote-state.ts';
import { firstYearValue, quoteOfLines, sumQuote } from '../../figures/quote-totals.ts';
import type { Steps } from '../../figures/steps.ts';
import { type Catalogue, catalogueFor } from '../../names/part-numbers.ts';
import { companyOf } from '../../names/references.ts';
import type { Quote, QuoteItem, RecordLists } from '../../service/records/records.ts';
import { quote as quoteText, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import {
  type Check,
  type CheckContext,
  type CheckResult,
  examineEach,
  type Judgement,
  type RawFinding,
} from './check.ts';

/** What a finding on a quote has besides the facts of the quote; its own kinds come first. */
type QuoteFinding = Partial<RawFinding> & Pick<RawFinding, 'reason'>;
type QuoteJudgement = Judgement<QuoteFinding>;

/** Examines draft and sent quotes, or others. `deal` is `undefined` where opportunities may not be read. */
function* examineQuotes(
  { quote, opportunity }: RecordLists,
  { currencyOf, today }: CheckContext,
  judge: (quote: Quote, deal: DealState | undefined) => QuoteJudgement | QuoteJudgement[],
  isExamined: (quote: Quote) => boolean = isUnanswered,
): Steps<CheckResult> {
  const dealOf = opportunity && (yield* dealStateReader(opportunity));
  const judgeOne = (each: Quote): Judgement[] => {
    const deal = dealOf?.(each);
    const toFinding = (finding: QuoteFinding): RawFinding => ({
      ...compact({
        id: nonBlank(each.id),
        number: nonBlank(each.number),
        name: quoteName(each),
        deal: nameOrId(each.opportunity),
      }),
      company: companyOf(each),
      owner: each.owner,
      status: statusOfQuote(each),
      atStake: firstYearValue(sumQuote(each)),
      currency: currencyOfRecord(each, currencyOf),
      ...finding,
      kinds: {
        ...finding.kinds,
        acceptance: acceptanceOf(each, today),
        ...(deal && { deal: dealWords(deal) }),
      },
    });
    const judged = [judge(each, deal)].flat();
    return judged.map((one) => (typeof one === 'object' ? toFinding(one) : one));
  };
  return yield* examineEach(quote, judgeOne, isExamined);
}

const dealWords = (deal: DealState): string =>
  deal === 'none' ? 'no deal' : `deal ${deal.replace('_', ' ')}`;

const quoteCheck = {
  needs: ['quote'],
  wants: ['opportunity'],
  unit: 'quote',
  of: 'draft and sent quotes',
} as const;

const stakeDefinition = 'At stake: one-time + 12 × monthly + yearly, after discounts.';

const isSent = (quote: Quote): boolean => statusCategoryOf(quote) === 'sent';

export const staleQuotes: Check = {
  ...quoteCheck,
  of: 'sent quotes',
  defaults: { days: 14 },
  define: ({ days, today }) =>
    `Sent quotes that went out ${days} or more days before ${today} and were not approved or declined since. ${stakeDefinition}`,
  examine: (data, context) =>
    examineQuotes(data, context, (quote) => judgeAge(quote, context), isSent),
};

function judgeAge(quote: Quote, { days, today }: CheckContext): QuoteJudgement {
  const day = dayOf(quote.sentAt);
  if (!day) return 'no sending date';
  const age = daysBetween(day, today);
  // An answer older than the last sending was for an earlier version.
  const isAnswered = [quote.approvedAt, quote.declinedAt].some((at) => (dayOf(at) ?? '') >= day);
  if (age < days || isAnswered) return undefined;
  const expired =
    isPastExpiry(quote, today) && wording`; expired ${trusted(dayOf(quote.expiresAt) ?? '')}`;
  return {
    reason: () => wording`sent ${trusted(day)}, ${plural(age, 'day')} without an answer${expired}`,
  };
}

export const expiringQuotes: Check = {
  ...quoteCheck,
  defaults: { days: 14 },
  define: ({ days, today }) =>
    `Draft and sent quotes that expire from ${today} to ${addDays(today, days)}, both included. ${stakeDefinition}`,
  examine: (data, context) =>
    examineQuotes(data, context, ({ expiresAt }) => {
      const expires = dayOf(expiresAt);
      if (!expires) return 'no expiry date';
      const days = daysBetween(context.today, expires);
      if (days < 0 || days > context.days) return undefined;
      return { reason: () => wording`expires ${trusted(expires)}, ${inDays(days)}` };
    }),
};

export const quotesOfClosedDeals: Check = {
  ...quoteCheck,
  needs: ['quote', 'opportunity'],
  wants: [],
  define: () =>
    `Draft and sent quotes whose opportunity is won, lost, closed or deleted. ${stakeDefinition}`,
  examine: (data, context) =>
    examineQuotes(data, context, (_, deal = 'none') => {
      if (deal === 'none') return 'no opportunity';
      if (deal === 'not_found') return 'opportunity not found';
      return deal === 'open' ? undefined : { reason: () => trusted(dealWords(deal)) };
    }),
};

export const unlistedOnQuotes: Check = {
  ...quoteCheck,
  needs: ['quote', 'product'],
  parts: 'lines',
  define: () =>
    'Draft and sent quotes with lines whose product is no longer listed. At stake: first-year value of these lines, after percentage discounts.',
  *examine(data, context) {
    const catalogue = yield* catalogueFor(data.product ?? [], data.quote ?? []);
    return yield* examineQuotes(data, context, (quote) => judgeLines(quote, catalogue));
  },
};

/** The lines whose product cannot be found are counted, and the others checked nevertheless. */
function judgeLines(quote: Quote, catalogue: Catalogue): QuoteJudgement[] {
  const { items = [] } = quote;
  const unlisted = items.filter((item) => {
    const product = catalogue.productOf(item);
    return product && !isListed(product);
  });
  const notFound = items
    .filter((item) => !catalogue.productOf(item))
    .map(({ product }) =>
      product?.id ? 'lines: product not in the catalogue' : 'lines: no product named',
    );
  const [first] = unlisted;
  if (!first) return notFound;
  const name = nonBlank(first.name) ?? nonBlank(catalogue.productOf(first)?.name);
  const reason = () => describeLines(unlisted, name);
  const atStake = firstYearValue(sumQuote(quoteOfLines(quote, unlisted)));
  return [...notFound, { atStake, parts: unlisted.length, reason }];
}

/** "3 lines, first "Old switch"". */
function describeLines(lines: readonly QuoteItem[], first: string | undefined): Wording {
  const all = plural(lines.length, 'line');
  if (first === undefined) return all;
  return lines.length === 1
    ? wording`1 line: ${quoteText(first)}`
    : wording`${all}, first ${quoteText(first)}`;
}

export const zeroPrices: Check = {
  ...quoteCheck,
  parts: 'lines',
  define: () =>
    `Draft and sent quotes with lines at a price of exactly 0. A missing price is not 0. ${stakeDefinition}`,
  examine: (data, context) =>
    examineQuotes(data, context, ({ items = [] }) => {
      const free = items.filter(({ price }) => price === 0);
      if (free.length === 0) return undefined;
      const reason = () => wording`price 0 in ${describeLines(free, nonBlank(free[0]?.name))}`;
      return { parts: free.length, reason };
    }),
};
