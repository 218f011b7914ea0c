/** Deals divided among the products or categories of the lines of their last quote. */
import { dayOf } from '../../figures/days.ts';
import { type Deal, scaleDeal } from '../../figures/deals.ts';
import { collectGroups, type Label, lineLabel } from '../../figures/group-labels.ts';
import { type Decimal, zero } from '../../figures/money.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { statusCategoryOf } from '../../figures/quote-state.ts';
import { firstYearValue, sumItems } from '../../figures/quote-totals.ts';
import { flatMapSteps, forEachStep, type Steps } from '../../figures/steps.ts';
import type { Quote } from '../../service/records/records.ts';

/** The part of a deal that is about one product or category: `worth` of the value of all lines, which is `of`. */
interface DealPart {
  deal: Deal;
  label: Label;
  worth: Decimal;
  of: Decimal;
}

/** A deal without a quote, or whose quote has no line worth more than 0, is one part. */
export function* partsByLine(
  deals: readonly Deal[],
  by: 'category' | 'product',
  quotes: readonly Quote[],
): Steps<DealPart[]> {
  const lastQuoteOf = yield* lastQuotes(quotes);
  return yield* flatMapSteps(deals, (deal): readonly DealPart[] => {
    const { items = [] } = lastQuoteOf.get(deal.record.id) ?? {};
    const groups = collectGroups(items, (item) => lineLabel(item, by)).flatMap((group) => {
      const worth = firstYearValue(sumItems(group.items));
      return worth?.gt(0) ? [{ label: group.label, worth }] : [];
    });
    const of = groups.reduce((sum, { worth }) => sum.plus(worth), zero);
    if (groups.length === 0) return [{ deal, label: unquoted, worth: one, of: one }];
    return groups.map((group) => ({ deal, of, ...group }));
  });
}

const one = zero.plus(1);
const unquoted: Label = { name: 'no quote lines' };

/** By opportunity: of its quotes that are not deleted an accepted one, else any; of several the newest. */
function* lastQuotes(quotes: readonly Quote[]): Steps<ReadonlyMap<string | undefined, Quote>> {
  const last = new Map<string | undefined, Quote>();
  const rankOf = (quote: Quote): string =>
    `${Number(statusCategoryOf(quote) === 'approved')} ${dayOf(quote.createdAt) ?? ''} ${quote.id ?? ''}`;
  yield* forEachStep(quotes, (quote) => {
    const id = quote.opportunity?.id;
    if (id === undefined || isDeleted(quote)) return;
    const other = last.get(id);
    if (other === undefined || rankOf(quote) > rankOf(other)) last.set(id, quote);
  });
  return last;
}

/** Each deal of these parts once, with their share of its amounts. */
export function dealsOfParts(parts: readonly DealPart[]): Deal[] {
  const byDeal = new Map<Deal, { worth: Decimal; of: Decimal }>();
  for (const { deal, worth, of } of parts)
    byDeal.set(deal, { of, worth: worth.plus(byDeal.get(deal)?.worth ?? zero) });
  return [...byDeal].map(([deal, { worth, of }]) =>
    scaleDeal(deal, (amount) => amount.times(worth).div(of)),
  );
}
