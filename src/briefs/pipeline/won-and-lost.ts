import { type Day, daysFromTo } from '../../figures/days.ts';
import { countByCurrency, type Deal, profitOf, totalValue } from '../../figures/deals.ts';
import { percentagesOf, percentOfCounts } from '../../figures/money.ts';
import { compact, nonZero } from '../../figures/naming.ts';
import { meanDays } from '../../figures/spread.ts';

/** Which deals a brief is about; `closed`: won, lost or of unknown outcome. */
export const dealOutcomes = ['open', 'won', 'lost', 'closed'] as const;
export type DealOutcome = (typeof dealOutcomes)[number];

export type ClosedPeriod = ReturnType<typeof closedPeriod>;

const closed: readonly Deal['outcome'][] = ['won', 'lost', 'closed_unknown'];

/** Whether a brief on this outcome is about the deal. */
export const hasOutcome = (deal: Deal, outcome: DealOutcome): boolean =>
  outcome === 'closed' ? closed.includes(deal.outcome) : deal.outcome === outcome;

/** Days from creation to closing; `undefined` when either day is missing. */
export const daysToClose = ({ record }: Deal): number | undefined =>
  daysFromTo(record.createdAt, record.closedAt);

/** `deals` are all deals closed in the period. */
export function closedPeriod(
  deals: readonly Deal[],
  { periodFrom: from, periodTo: to }: { periodFrom: Day; periodTo: Day },
) {
  const { won, lost, unknown } = byOutcome(deals);
  return {
    from,
    to,
    won: { ...closedTotals(won), ...compact({ daysToClose: averageDays(won) }) },
    lost: { ...closedTotals(lost), ...compact({ daysToClose: averageDays(lost) }) },
    ...compact({
      outcomeUnknown: unknown.length > 0 ? closedTotals(unknown) : undefined,
      countByCurrency: countByCurrency(deals),
    }),
    ...winRates(won, lost),
  };
}

export function byOutcome(deals: readonly Deal[]): Record<'won' | 'lost' | 'unknown', Deal[]> {
  const of = (outcome: Deal['outcome']): Deal[] => deals.filter((deal) => deal.outcome === outcome);
  return { won: of('won'), lost: of('lost'), unknown: of('closed_unknown') };
}

export const closedTotals = (deals: readonly Deal[]) =>
  compact({
    count: deals.length,
    value: totalValue(deals).toAmounts(),
    withoutValue: nonZero(deals.filter(({ value }) => !value).length),
    ...profitOf(deals),
  });

const averageDays = (deals: readonly Deal[]): number | undefined =>
  meanDays(deals.flatMap((deal) => daysToClose(deal) ?? []));

/** won / (won + lost) × 100, by count and by value. */
function winRates(won: readonly Deal[], lost: readonly Deal[]) {
  return compact({
    winRatePercent: percentOfCounts(won.length, won.length + lost.length),
    winRatePercentByValue: percentagesOf(totalValue(won), totalValue([...won, ...lost])),
  });
}

export function closedFigures(deals: readonly Deal[]) {
  const { won, lost, unknown } = byOutcome(deals);
  return compact({
    won: won.length,
    wonValue: totalValue(won).toAmounts(),
    wonProfit: profitOf(won).profit,
    daysToWin: averageDays(won),
    lost: lost.length,
    lostValue: totalValue(lost).toAmounts(),
    daysToLose: averageDays(lost),
    outcomeUnknown: nonZero(unknown.length),
    ...winRates(won, lost),
  });
}
