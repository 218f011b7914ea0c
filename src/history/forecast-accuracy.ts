/** Deals that were expected to close by a day, compared with those that did. */

import { type PipelineFilters, passesFilters } from '../briefs/pipeline/pipeline.ts';
import { type Day, dayOf } from '../figures/days.ts';
import type { Deal, ReadDeal } from '../figures/deals.ts';
import { type Amounts, sumOf } from '../figures/money.ts';
import { compact } from '../figures/naming.ts';
import { weighted } from '../figures/probability.ts';
import { type DealPair, type RecordPair, totalOf } from './pipeline-changes.ts';

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
 * What was expected on one day to close by another, and what did, one deal after the other. Filters by stage and close
 * date do not apply.
 */
export class ForecastAccuracy {
  readonly #then: Day;
  readonly #now: Day;
  readonly #filters: PipelineFilters;
  readonly #readDeal: ReadDeal;
  readonly #expected: DealPair[] = [];
  readonly #unexpected: DealPair[] = [];

  constructor(then: Day, now: Day, filters: PipelineFilters, readDeal: ReadDeal) {
    this.#then = then;
    this.#now = now;
    this.#filters = filters;
    this.#readDeal = readDeal;
  }

  add({ before, after }: RecordPair): void {
    const pair = {
      before: before && this.#readDeal(before),
      after: after && this.#readDeal(after),
    };
    if (this.#wasExpected(pair)) this.#expected.push(pair);
    else if (this.#wasWon(pair)) this.#unexpected.push(pair);
  }

  /** No rows if nothing was expected and nothing won. */
  toRows(): ForecastRow[] {
    const [expected, unexpected] = [this.#expected, this.#unexpected];
    if (expected.length === 0 && unexpected.length === 0) return [];
    const weightedValue = sumOf(befores(expected), ({ value, chance }) => weighted(value, chance));
    return [
      {
        deals: 'expected',
        ...sumsOf(befores(expected)),
        ...compact({ weightedValue: weightedValue.toAmounts() }),
      },
      ...outcomes.flatMap((outcome) =>
        rowsOf(
          outcome,
          expected.filter((pair) => outcomeIn(pair) === outcome),
        ),
      ),
      ...rowsOf('wonUnexpected', unexpected),
    ];
  }

  #wasExpected({ before }: DealPair): boolean {
    if (before?.outcome !== 'open' || !passesFilters(before, this.#filters)) return false;
    return this.#isInPeriod(before.record.expectedCloseDate);
  }

  #wasWon({ before, after }: DealPair): boolean {
    if (after?.outcome !== 'won' || !passesFilters(after, this.#filters)) return false;
    return before ? before.outcome === 'open' : this.#isInPeriod(after.record.closedAt);
  }

  #isInPeriod(time: string | undefined): boolean {
    const day = dayOf(time);
    return day !== undefined && this.#then < day && day <= this.#now;
  }
}

function outcomeIn({ after }: DealPair): ForecastOutcome {
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

function rowsOf(deals: ForecastRow['deals'], pairs: readonly DealPair[]): ForecastRow[] {
  if (pairs.length === 0) return [];
  const shown = deals === 'removed' ? befores(pairs) : pairs.flatMap(({ after }) => after ?? []);
  return [{ deals, ...sumsOf(shown) }];
}

const sumsOf = (deals: readonly Deal[]): Pick<ForecastRow, 'count' | 'value'> => {
  const { count, value } = totalOf(deals);
  return compact({ count, value });
};

const befores = (pairs: readonly DealPair[]): Deal[] => pairs.flatMap(({ before }) => before ?? []);
