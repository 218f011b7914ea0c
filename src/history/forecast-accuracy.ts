/** Deals that were expected to close by a day, compared with those that did. */
import { type PipelineFilters, passesFilters } from '../briefs/pipeline/pipeline.ts';
import { dayOf } from '../figures/days.ts';
import type { Deal, ReadDeal } from '../figures/deals.ts';
import { type Amounts, CurrencySums } from '../figures/money.ts';
import { compact } from '../figures/naming.ts';
import { weighted } from '../figures/probability.ts';
import { forEachInSlices } from '../slices.ts';
import { OpenSum, pairRecords } from './movements.ts';
import { ends, type PipelineState } from './pipeline-changes.ts';

/**
 * `expected`: deals that were expected to close in the period, with their values at its beginning. Then these deals by
 * their outcome, with values at the end; `removed` with those at the beginning. `wonUnexpected`: won in the period although
 * not expected to close.
 */
const rows = [
  'expected',
  'won',
  'lost',
  'closedUnknown',
  'stillOpen',
  'removed',
  'wonUnexpected',
] as const;

type Row = (typeof rows)[number];

interface ForecastRow {
  deals: Row;
  count: number;
  value?: Amounts;
  /** Of `expected`: value × probability. */
  weightedValue?: Amounts;
}

/**
 * What was expected on one day to close by another, and what did. Filters by stage and close date do not apply.
 * @returns no rows if nothing was expected and nothing won
 */
export async function forecastRows(
  then: PipelineState,
  now: PipelineState,
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<ForecastRow[]> {
  const isInPeriod = (time: string | undefined): boolean => {
    const day = dayOf(time);
    return day !== undefined && then.day < day && day <= now.day;
  };
  const wasExpected = ({ outcome, record }: Deal) =>
    outcome === 'open' && isInPeriod(record.expectedCloseDate);
  const wasWon = ({ outcome, record }: Deal, before: Deal | undefined) =>
    outcome === 'won' && (before ? before.outcome === 'open' : isInPeriod(record.closedAt));
  const passes = (deal: Deal) => passesFilters(deal, filters);
  const rowsOf = (before: Deal | undefined, after: Deal | undefined): [Row, Deal][] => {
    if (before && wasExpected(before) && passes(before)) {
      const outcome = (after ? ends[after.outcome] : 'removed') ?? 'stillOpen';
      const last = after && outcome !== 'removed' ? after : before;
      return [
        ['expected', before],
        [outcome, last],
      ];
    }
    return after && wasWon(after, before) && passes(after) ? [['wonUnexpected', after]] : [];
  };
  const sums = new Map(rows.map((row) => [row, new OpenSum()]));
  const weightedSum = new CurrencySums();
  await forEachInSlices(pairRecords(then.records, now.records), ({ before, after }) => {
    for (const [row, deal] of rowsOf(before && readDeal(before), after && readDeal(after))) {
      sums.get(row)?.add(deal);
      if (row === 'expected') weightedSum.add(deal.currency, weighted(deal.value, deal.chance));
    }
  });
  const found = [...sums].map(([deals, sum]): ForecastRow => ({ deals, ...sum.toCountAndValue() }));
  if (found.every(({ count }) => count === 0)) return [];
  const [expected = { deals: 'expected', count: 0 }, ...others] = found;
  return [
    { ...expected, ...compact({ weightedValue: weightedSum.toAmounts() }) },
    ...others.filter(({ count }) => count > 0),
  ];
}
