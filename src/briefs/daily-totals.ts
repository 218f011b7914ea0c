/** The open pipeline of each of several days. Formulas: docs/definitions.md, "Changes of the pipeline". */
import type { Opportunity } from '../records/records.ts';
import type { Day } from './days.ts';
import { type Deal, sumOf, toDeal } from './deals.ts';
import type { Amounts } from './money.ts';
import { compact } from './naming.ts';
import {
  type ChangeOptions,
  type PipelineState,
  type PipelineTotal,
  scopeOf,
  totalOf,
} from './pipeline-changes.ts';
import { type Scale, weighted } from './probability.ts';

/** The deals that were open at the end of a day. */
export interface DayTotal extends PipelineTotal {
  day: Day;
  /** Value × probability. */
  weightedValue?: Amounts;
}

/** Totals of one day after the other; what a record means is worked out once. */
export class DailyTotals {
  readonly #deals = new WeakMap<Opportunity, Deal>();
  readonly #options: ChangeOptions;
  readonly #scale: Scale;

  constructor(options: ChangeOptions, scale: Scale) {
    this.#options = options;
    this.#scale = scale;
  }

  of({ day, records }: PipelineState): DayTotal {
    const scope = scopeOf(this.#options);
    const open = records.map((record) => this.#dealOf(record)).filter((deal) => scope.has(deal));
    const weightedValue = sumOf(open, ({ value, chance }) => weighted(value, chance)).toAmounts();
    return { day, ...totalOf(open), ...compact({ weightedValue }) };
  }

  #dealOf(record: Opportunity): Deal {
    const deal = this.#deals.get(record) ?? toDeal(record, this.#options.currencyOf, this.#scale);
    this.#deals.set(record, deal);
    return deal;
  }
}
