/** Deals that were won or lost over a period: totals, win rates and groups. */
import { type Day, dayOf, daysBetween } from '../../figures/days.ts';
import { countByCurrency, type Deal, type DealExtra, totalValue } from '../../figures/deals.ts';
import { type GroupRow, monthOf } from '../../figures/group-labels.ts';
import { type Amounts, percentOf, roundedPercent, sumOf, zero } from '../../figures/money.ts';
import { compact, nonZero } from '../../figures/naming.ts';
import { type Grouping, meanDays, type PipelineBy } from './pipeline-groups.ts';

/** Which deals a brief is about; `closed`: won, lost or of unknown outcome. */
export const dealOutcomes = ['open', 'won', 'lost', 'closed'] as const;
export type DealOutcome = (typeof dealOutcomes)[number];

export type ClosedPeriod = ReturnType<typeof closedPeriod>;
export type ClosedGroup = GroupRow<ReturnType<typeof closedFigures>>;

const closed: readonly Deal['outcome'][] = ['won', 'lost', 'closed_unknown'];

/** Whether a brief on this outcome is about the deal. */
export const hasOutcome = (deal: Deal, outcome: DealOutcome): boolean =>
  outcome === 'closed' ? closed.includes(deal.outcome) : deal.outcome === outcome;

/** Days from creation to closing; `undefined` when either day is missing. */
export function daysToClose({ record }: Deal): number | undefined {
  const [created, closed] = [dayOf(record.createdAt), dayOf(record.closedAt)];
  return created && closed ? Math.max(0, daysBetween(created, closed)) : undefined;
}

/** `deals` are all deals closed from `from` to `to`. */
export function closedPeriod(
  deals: readonly Deal[],
  { from, to, show }: { from: Day; to: Day; show: readonly DealExtra[] },
) {
  const { won, lost, unknown } = byOutcome(deals);
  return {
    from,
    to,
    won: { ...closedTotals(won, show), ...compact({ daysToClose: averageDays(won) }) },
    lost: { ...closedTotals(lost, show), ...compact({ daysToClose: averageDays(lost) }) },
    ...compact({
      outcomeUnknown: unknown.length > 0 ? closedTotals(unknown, show) : undefined,
      countByCurrency: countByCurrency(deals),
    }),
    ...winRates(won, lost),
  };
}

function byOutcome(deals: readonly Deal[]): Record<'won' | 'lost' | 'unknown', Deal[]> {
  const of = (outcome: Deal['outcome']): Deal[] => deals.filter((deal) => deal.outcome === outcome);
  return { won: of('won'), lost: of('lost'), unknown: of('closed_unknown') };
}

function closedTotals(deals: readonly Deal[], show: readonly DealExtra[]) {
  return compact({
    count: deals.length,
    value: totalValue(deals).toAmounts(),
    profit: profitOf(deals, show),
  });
}

const profitOf = (deals: readonly Deal[], show: readonly DealExtra[]): Amounts | undefined =>
  show.includes('profit') ? sumOf(deals, ({ profit }) => profit).toAmounts() : undefined;

const averageDays = (deals: readonly Deal[]): number | undefined =>
  meanDays(deals.flatMap((deal) => daysToClose(deal) ?? []));

function winRates(won: readonly Deal[], lost: readonly Deal[]) {
  return compact({
    winRatePercent: rateByCount(won.length, lost.length),
    winRatePercentByValue: rateByValue(won, lost),
  });
}

/** won / (won + lost) × 100. */
function rateByCount(won: number, lost: number): number | undefined {
  const share = percentOf(zero.plus(won), zero.plus(won + lost));
  return share && roundedPercent(share);
}

function rateByValue(won: readonly Deal[], lost: readonly Deal[]): Amounts | undefined {
  const wonValue = totalValue(won);
  const all = totalValue([...won, ...lost]);
  const rates = all.currencies.flatMap((currency): [string, number][] => {
    const whole = all.of(currency) ?? zero;
    const share = whole.gt(0) ? percentOf(wonValue.of(currency) ?? zero, whole) : undefined;
    return share ? [[currency, roundedPercent(share)]] : [];
  });
  return rates.length > 0 ? Object.fromEntries(rates) : undefined;
}

/** Groups of closed deals, ranked by what was won; if the brief is about lost deals, by what was lost. */
export function closedGrouping(
  by: PipelineBy,
  outcome: DealOutcome,
  show: readonly DealExtra[],
): Grouping<ReturnType<typeof closedFigures>> {
  const ranking = outcome === 'lost' ? 'lost' : 'won';
  return {
    by,
    monthOf: ({ record }) => monthOf(dayOf(record.closedAt)),
    rankedBy: (deal) => deal.outcome === ranking,
    figuresOf: (deals) => closedFigures(deals, show),
  };
}

function closedFigures(deals: readonly Deal[], show: readonly DealExtra[]) {
  const { won, lost, unknown } = byOutcome(deals);
  return compact({
    won: won.length,
    wonValue: totalValue(won).toAmounts(),
    wonProfit: profitOf(won, show),
    daysToWin: averageDays(won),
    lost: lost.length,
    lostValue: totalValue(lost).toAmounts(),
    daysToLose: averageDays(lost),
    outcomeUnknown: nonZero(unknown.length),
    ...winRates(won, lost),
  });
}
