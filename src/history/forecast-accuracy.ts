/** Deals that were expected to close by a day, compared with those that did. */
import { type PipelineFilters, passesFilters } from '../briefs/pipeline/pipeline.ts';
import { dayOf } from '../figures/days.ts';
import type { Deal, ReadDeal } from '../figures/deals.ts';
import { type Amounts, sumOf } from '../figures/money.ts';
import { compact } from '../figures/naming.ts';
import type { Outcome } from '../figures/outcome.ts';
import { weighted } from '../figures/probability.ts';
import { forEachInSlices } from '../slices.ts';
import { type Pair, pairRecords, totalOf } from './movements.ts';
import type { PipelineState } from './pipeline-changes.ts';

/**
 * `expected`: deals that were expected to close in the period, with their values at its beginning. Then these deals by
 * their outcome, with values at the end; `removed` with those at the beginning. `wonUnexpected`: won in the period although
 * not expected to close.
 */
export interface ForecastRow {
  deals: 'expected' | ForecastOutcome | 'wonUnexpected';
  count: number;
  value?: Amounts;
  /** Of `expected`: value × probability. */
  weightedValue?: Amounts;
}

const outcomes = ['won', 'lost', 'closedUnknown', 'stillOpen', 'removed'] as const;
type ForecastOutcome = (typeof outcomes)[number];

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
  const expected: Pair<Deal>[] = [];
  const unexpected: Pair<Deal>[] = [];
  await forEachInSlices(pairRecords(then.records, now.records), (records) => {
    const before = records.before && readDeal(records.before);
    const after = records.after && readDeal(records.after);
    if (before && wasExpected(before) && passes(before)) expected.push({ before, after });
    else if (after && wasWon(after, before) && passes(after)) unexpected.push({ before, after });
  });
  return toRows(expected, unexpected);
}

function toRows(expected: readonly Pair<Deal>[], unexpected: readonly Pair<Deal>[]): ForecastRow[] {
  if (expected.length === 0 && unexpected.length === 0) return [];
  const then = expected.flatMap(({ before }) => before ?? []);
  const weightedSum = sumOf(then, ({ value, chance }) => weighted(value, chance));
  const row = (deals: ForecastRow['deals'], pairs: readonly Pair<Deal>[]): ForecastRow[] =>
    pairs.length === 0
      ? []
      : [
          {
            deals,
            ...sumsOf(
              pairs.flatMap(({ before, after }) => (deals === 'removed' ? before : after) ?? []),
            ),
          },
        ];
  return [
    { deals: 'expected', ...sumsOf(then), ...compact({ weightedValue: weightedSum.toAmounts() }) },
    ...outcomes.flatMap((outcome) =>
      row(
        outcome,
        expected.filter((pair) => outcomeIn(pair) === outcome),
      ),
    ),
    ...row('wonUnexpected', unexpected),
  ];
}

const endOf = {
  won: 'won',
  lost: 'lost',
  closed_unknown: 'closedUnknown',
  open: 'stillOpen',
  deleted: 'removed',
} as const satisfies Record<Outcome, ForecastOutcome>;

const outcomeIn = ({ after }: Pair<Deal>): ForecastOutcome =>
  after ? endOf[after.outcome] : 'removed';

const sumsOf = (deals: readonly Deal[]): Pick<ForecastRow, 'count' | 'value'> => {
  const { count, value } = totalOf(deals);
  return compact({ count, value });
};
