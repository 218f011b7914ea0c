/** What was expected to close by a day, and what did. */
import { type Day, dayOf } from './days.ts';
import type { Deal } from './deals.ts';
import { type Amounts, CurrencySums } from './money.ts';
import { compact } from './naming.ts';
import { passesFilters } from './pipeline.ts';
import {
  type ChangeOptions,
  type DealChange,
  type PipelineState,
  pairDeals,
  totalOf,
} from './pipeline-changes.ts';
import { weighted } from './probability.ts';

/**
 * `expected`: deals that were expected to close in the period, with their values at its beginning. Then what became of
 * each of them, with values at the end; `removed` with those at the beginning. `wonUnexpected`: won in the period although
 * not expected to close.
 */
export interface ForecastRow {
  deals: 'expected' | Fate | 'wonUnexpected';
  count: number;
  value?: Amounts;
  /** Of `expected`: value × probability. */
  weighted?: Amounts;
}

const fates = ['won', 'lost', 'closedUnknown', 'stillOpen', 'removed'] as const;
type Fate = (typeof fates)[number];

/**
 * What was expected on one day to close by another, and what did. Filters by stage and close date do not apply.
 * @returns no rows if nothing was expected and nothing won
 */
export function forecastAccuracy(
  then: PipelineState,
  now: PipelineState,
  options: ChangeOptions,
): ForecastRow[] {
  const pairs = pairDeals(then, now, options.currencyOf);
  const isWanted = ({ before }: DealChange) =>
    before !== undefined && passesFilters(before, options) && isExpected(before, then.day, now.day);
  const expected = pairs.filter(isWanted);
  const surprises = pairs.filter(
    (pair) => !isWanted(pair) && wasWon(pair, then.day, now.day, options),
  );
  if (expected.length === 0 && surprises.length === 0) return [];
  const weighted = weightedOf(expected);
  return [
    { deals: 'expected', ...sumsOf(befores(expected)), ...compact({ weighted }) },
    ...fates.flatMap((fate) =>
      rowsOf(
        fate,
        expected.filter((pair) => fateOf(pair) === fate),
      ),
    ),
    ...rowsOf('wonUnexpected', surprises),
  ];
}

function fateOf({ after }: DealChange): Fate {
  switch (after?.outcome) {
    case 'won':
    case 'lost':
      return after.outcome;
    case 'closed_unknown':
      return 'closedUnknown';
    case 'open':
      return 'stillOpen';
    default:
      return 'removed';
  }
}

function rowsOf(deals: ForecastRow['deals'], pairs: readonly DealChange[]): ForecastRow[] {
  if (pairs.length === 0) return [];
  const shown = deals === 'removed' ? befores(pairs) : pairs.flatMap(({ after }) => after ?? []);
  return [{ deals, ...sumsOf(shown) }];
}

const sumsOf = (deals: readonly Deal[]): Pick<ForecastRow, 'count' | 'value'> => {
  const { count, value } = totalOf(deals);
  return compact({ count, value });
};

function isExpected({ outcome, record }: Deal, then: Day, now: Day): boolean {
  const closes = dayOf(record.expectedCloseDate);
  return outcome === 'open' && closes !== undefined && then < closes && closes <= now;
}

function wasWon(
  { before, after }: DealChange,
  then: Day,
  now: Day,
  options: ChangeOptions,
): boolean {
  if (after?.outcome !== 'won' || !passesFilters(after, options)) return false;
  if (before) return before.outcome === 'open';
  const closed = dayOf(after.record.closedAt);
  return closed !== undefined && then < closed && closed <= now;
}

const befores = (pairs: readonly DealChange[]): Deal[] =>
  pairs.flatMap(({ before }) => before ?? []);

function weightedOf(pairs: readonly DealChange[]): Amounts | undefined {
  const sums = new CurrencySums();
  for (const { value, chance, currency } of befores(pairs))
    sums.add(currency, weighted(value, chance));
  return sums.toAmounts();
}
