/** Checks of quotes. */
import type { Quote, QuoteItem } from '../../records/records.ts';
import { trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import { addDays, type Day, dayOf, daysBetween } from '../days.ts';
import { currencyOfRecord, type Decimal } from '../money.ts';
import { compact, inDays, type Named, nonBlank, plural, quoteName } from '../naming.ts';
import { isDeleted, isOpenQuote, standingOf } from '../outcome.ts';
import { Catalogue } from '../part-numbers.ts';
import {
  applyDiscount,
  firstYearValue,
  quoteDiscount,
  sumItems,
  sumQuote,
} from '../quote-totals.ts';
import {
  type Check,
  type CheckContext,
  type CheckResult,
  type RawFinding,
  ReasonCounts,
} from './check.ts';
import { isListed } from './products.ts';

const quoteFinding = (
  quote: Quote,
  { currencyOf }: CheckContext,
  atStake: Decimal | undefined,
): Omit<RawFinding, 'reason'> => ({
  ...namedQuote(quote),
  ...compact({ company: nonBlank(quote.company?.name) }),
  resource: 'quote',
  atStake,
  currency: currencyOfRecord(quote, currencyOf),
});

const namedQuote = (quote: Quote): Named =>
  compact({ id: nonBlank(quote.id), name: quoteName(quote) });

/** The reason why a quote is a finding, or `undefined`; counts quotes that it cannot judge. */
type Judge = (quote: Quote, unjudged: ReasonCounts) => Wording | undefined;

function examineQuotes(
  quotes: readonly Quote[],
  of: string,
  context: CheckContext,
  judge: Judge,
): CheckResult {
  const unjudged = new ReasonCounts();
  const findings = quotes.flatMap((quote): RawFinding[] => {
    const reason = judge(quote, unjudged);
    if (reason === undefined) return [];
    return [
      { ...quoteFinding(quote, context, firstYearValue(sumQuote(quote))), reason: () => reason },
    ];
  });
  return { findings, examined: quotes.length, of, unjudged: unjudged.counts };
}

const stakeDefinition = 'At stake: one-time + 12 × monthly + yearly, after discounts.';

export const staleQuotes: Check = {
  name: 'stale_quotes',
  needs: ['quote'],
  needsItems: (quote) => standingOf(quote) === 'sent',
  defaults: { days: 14 },
  define: ({ days, today }) =>
    `Quotes that stand at sent, went out ${days} or more days before ${today}, and were not approved or declined since. ${stakeDefinition}`,
  examine: ({ quote = [] }, context) => {
    const sent = quote.filter((each) => standingOf(each) === 'sent');
    return examineQuotes(sent, 'sent quotes', context, (each, unjudged) => {
      const day = dayOf(each.sentAt);
      if (!day) {
        unjudged.add('no sending date');
        return undefined;
      }
      const age = daysBetween(day, context.today);
      if (age < context.days || wasAnswered(each, day)) return undefined;
      return wording`sent ${trusted(day)}, ${plural(age, 'day')} without an answer${describeExpired(each, context.today)}`;
    });
  },
};

/** Ignores an answer older than the last sending: it was for an earlier version. */
const wasAnswered = (quote: Quote, sent: Day): boolean =>
  [quote.approvedAt, quote.declinedAt].some((time) => (dayOf(time) ?? '') >= sent);

function describeExpired(quote: Quote, today: Day): Wording {
  const expires = dayOf(quote.expiresAt);
  return expires && expires < today ? wording`; expired ${trusted(expires)}` : wording``;
}

export const expiringQuotes: Check = {
  name: 'expiring_quotes',
  needs: ['quote'],
  needsItems: isOpenQuote,
  defaults: { days: 14 },
  define: ({ days, today }) =>
    `Quotes that stand at draft or sent and expire from ${today} to ${addDays(today, days)}, both included. ${stakeDefinition}`,
  examine: ({ quote = [] }, context) => {
    const until = addDays(context.today, context.days);
    const open = quote.filter(isOpenQuote);
    return examineQuotes(open, 'open quotes', context, (each, unjudged) => {
      const expires = dayOf(each.expiresAt);
      if (!expires) {
        unjudged.add('no expiry date');
        return undefined;
      }
      if (expires < context.today || expires > until) return undefined;
      return wording`${standingOf(each)}, expires ${trusted(expires)}, ${inDays(daysBetween(context.today, expires))}`;
    });
  },
};

export const unlistedOnQuotes: Check = {
  name: 'unlisted_on_quotes',
  needs: ['quote', 'product'],
  needsItems: isOpenQuote,
  defaults: {},
  define: () =>
    "Items of quotes that stand at draft or sent whose product is no longer listed, told quote by quote. At stake: one-time + 12 × monthly + yearly of these items, after line discounts and the quote's percentage.",
  examine: ({ quote = [], product = [] }, context) => {
    const unjudged = new ReasonCounts();
    const catalogue = new Catalogue(product);
    const open = quote.filter((each) => isOpenQuote(each) && !isDeleted(each));
    const findings = open.flatMap((each): RawFinding[] => {
      const unlistedItems = (each.items ?? []).filter((item) =>
        isUnlisted(item, catalogue, unjudged),
      );
      return unlistedItems.length > 0
        ? [unlistedFinding(each, unlistedItems, catalogue, context)]
        : [];
    });
    const examined = open.reduce((count, { items = [] }) => count + items.length, 0);
    return { findings, examined, of: 'items of open quotes', unjudged: unjudged.counts };
  },
};

function isUnlisted(item: QuoteItem, catalogue: Catalogue, unjudged: ReasonCounts): boolean {
  const product = catalogue.productOf(item);
  if (product) return !isListed(product);
  unjudged.add(item.product?.id ? 'product not in the catalogue' : 'item names no product');
  return false;
}

function unlistedFinding(
  quote: Quote,
  unlistedItems: readonly QuoteItem[],
  catalogue: Catalogue,
  context: CheckContext,
): RawFinding {
  const related = unlistedItems.map((item): Named => {
    const product = catalogue.productOf(item);
    return compact({
      id: nonBlank(product?.id),
      name: nonBlank(item.name) ?? nonBlank(product?.name),
    });
  });
  return {
    ...quoteFinding(quote, context, valueOfItems(quote, unlistedItems)),
    reason: () => wording`${standingOf(quote)}, ${plural(unlistedItems.length, 'item')} unlisted`,
    related,
  };
}

/** Applies a percentage discount only: an amount off the whole quote cannot be split by item. */
function valueOfItems(quote: Quote, items: readonly QuoteItem[]): Decimal | undefined {
  const discount = quoteDiscount(quote);
  const percent = discount?.kind === 'percent' ? discount : undefined;
  return firstYearValue(applyDiscount(sumItems(items), percent));
}
