/** Closed deals, and figures derived from open and closed deals together. Formulas: docs/definitions.md, "Pipeline". */
import { type Day, dayOf, daysFromTo, meanDays } from '../../figures/days.ts';
import { countByCurrency, type Deal, dealRow, profitOf, totalValue } from '../../figures/deals.ts';
import { compact, nonZero } from '../../figures/fields.ts';
import { countsBy } from '../../figures/lists.ts';
import {
  type Amounts,
  type Decimal,
  decimal,
  percentagesOf,
  percentOfCounts,
  rounded,
  sumOf,
  unknownCurrency,
  zero,
} from '../../figures/money.ts';
import { type Named, nameOrId } from '../../figures/naming.ts';
import { outcomeWord } from '../../figures/outcome.ts';
import { weighted } from '../../figures/probability.ts';

/** Which deals a brief is about; `closed`: won, lost or of unknown outcome. */
export const dealOutcomes = ['open', 'won', 'lost', 'closed'] as const;
export type DealOutcome = (typeof dealOutcomes)[number];

export type ClosedPeriod = ReturnType<typeof closedPeriod>;

const closed: readonly Deal['outcome'][] = ['won', 'lost', 'closed_unknown'];

/** Whether a brief on this outcome is about the deal. */
export const hasOutcome = (deal: Deal, outcome: DealOutcome): boolean =>
  outcome === 'closed' ? closed.includes(deal.outcome) : deal.outcome === outcome;

/** Days from creation to closing; `undefined` when either day is missing. */
const daysToClose = ({ record }: Deal): number | undefined =>
  daysFromTo(record.createdAt, record.closedAt);

export type ClosedDeal = ReturnType<typeof closedDealRow>;

export function closedDealRow(deal: Deal, about: DealOutcome) {
  const { ask, ...row } = dealRow(deal);
  return compact({
    ...row,
    owner: nameOrId(deal.record.owner),
    // Only where deals of several outcomes are listed together.
    outcome: about === 'closed' ? outcomeWord(deal.outcome) : undefined,
    closed: dayOf(deal.record.closedAt),
    daysToClose: daysToClose(deal),
    ask,
  });
}

/** `deals` are all deals closed in the period. */
export function closedPeriod(
  deals: readonly Deal[],
  { periodFrom: from, periodTo: to }: { periodFrom: Day; periodTo: Day },
) {
  const { won, lost, unknown } = byOutcome(deals);
  return compact({
    from,
    to,
    won: compact({ ...closedTotals(won), daysToClose: averageDays(won) }),
    lost: compact({ ...closedTotals(lost), daysToClose: averageDays(lost) }),
    outcomeUnknown: unknown.length > 0 ? closedTotals(unknown) : undefined,
    countByCurrency: countByCurrency(deals),
    ...winRates(won, lost),
  });
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

interface SalesOptions {
  show: readonly string[];
  target?: number | undefined;
  currency?: Named;
  today: Day;
}

/** Only what was asked for. */
export function salesFigures(
  open: readonly Deal[],
  closed: readonly Deal[],
  { show, target, currency, today }: SalesOptions,
) {
  const about = { currency: currency?.name, today };
  return {
    target: target === undefined ? undefined : againstTarget(target, open, closed, about),
    velocity: show.includes('velocity')
      ? compact({
          averageOpen: averageValue(open),
          averageWon: averageValue(byOutcome(closed).won),
          perDay: velocity(open, closed),
        })
      : undefined,
  };
}

/** Mean value of the deals whose value is known, by currency. */
function averageValue(deals: readonly Deal[]): Amounts | undefined {
  const known = deals.filter(({ value }) => value);
  const counts = countsBy(known, ({ currency }) => currency);
  return totalValue(known).toAmounts((sum, currency) => rounded(sum.div(counts[currency] ?? 1)));
}

/** Value won a day: open deals × mean value won × win rate ÷ mean days to win, in each currency that has all four. */
function velocity(open: readonly Deal[], closed: readonly Deal[]): Amounts | undefined {
  const openOf = countsBy(open, ({ currency }) => currency);
  return totalValue(byOutcome(closed).won).toAmounts((worth, code) => {
    const { won, lost } = byOutcome(closed.filter(({ currency }) => currency === code));
    const known = won.filter(({ value }) => value);
    const days = won.flatMap((deal) => daysToClose(deal) ?? []);
    const total = days.reduce((sum, one) => sum + one, 0);
    const parts = known.length * (won.length + lost.length) * total;
    const factor = (openOf[code] ?? 0) * won.length * days.length;
    return total === 0 ? undefined : rounded(worth.times(factor).div(parts));
  });
}

/**
 * A target in one currency against what was won in the period and the open deals.
 * @param currency default: that of most open deals, or else of those that were won
 */
function againstTarget(
  target: number,
  open: readonly Deal[],
  closed: readonly Deal[],
  { currency, today }: { currency: string | undefined; today: Day },
) {
  const { won: wonDeals } = byOutcome(closed);
  const overdue = open.filter(({ record }) => (dayOf(record.expectedCloseDate) ?? today) < today);
  const currenciesOf = (deals: readonly Deal[]) =>
    Object.keys(countsBy(deals, ({ currency: own }) => own));
  const [code = unknownCurrency] = [
    currency,
    ...currenciesOf(open),
    ...currenciesOf(wonDeals),
  ].filter((one) => one !== undefined);
  const amount = decimal(target) ?? zero;
  const worthOf = (deals: readonly Deal[]) => totalValue(deals).of(code) ?? zero;
  const won = worthOf(wonDeals);
  const gap = amount.minus(won);
  const value = worthOf(open);
  const likely = sumOf(open, (deal) => weighted(deal.value, deal.chance)).of(code) ?? zero;
  const isOther = ({ currency: own }: Deal) => own !== code;
  const inIt = (sum: Decimal): Amounts => ({ [code]: rounded(sum) });
  return compact({
    target: inIt(amount),
    won: inIt(won),
    gap: inIt(gap),
    open: inIt(value),
    overdue: inIt(worthOf(overdue)),
    coverage: gap.gt(0) ? rounded(value.div(gap)) : undefined,
    weightedValue: inIt(likely),
    gapAfterWeighted: inIt(gap.minus(likely)),
    inOtherCurrencies: nonZero(open.filter(isOther).length),
    wonInOtherCurrencies: nonZero(wonDeals.filter(isOther).length),
    wonWithoutValue: nonZero(wonDeals.filter(({ value: own }) => !own).length),
  });
}
