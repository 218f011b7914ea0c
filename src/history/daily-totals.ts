/** The open pipeline of one day. Formulas: docs/definitions.md, "Changes of the pipeline". */

import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import type { Day } from '../figures/days.ts';
import type { ReadDeal } from '../figures/deals.ts';
import { type Amounts, CurrencySums } from '../figures/money.ts';
import { compact } from '../figures/naming.ts';
import { weighted } from '../figures/probability.ts';
import type { Opportunity } from '../service/records/records.ts';
import { PipelineSum, type PipelineTotal, type Scope, scopeOf } from './pipeline-changes.ts';

export interface DayTotal extends PipelineTotal {
  day: Day;
  /** Value × probability. */
  weightedValue?: Amounts;
}

/** Adds up the pipeline of a day, one record after the other. */
export class DaySum {
  readonly #scope: Scope;
  readonly #readDeal: ReadDeal;
  readonly #sum = new PipelineSum();
  readonly #weighted = new CurrencySums();

  constructor(filters: PipelineFilters, readDeal: ReadDeal) {
    this.#scope = scopeOf(filters);
    this.#readDeal = readDeal;
  }

  add(record: Opportunity): void {
    const deal = this.#readDeal(record);
    if (!this.#scope.has(deal)) return;
    this.#sum.add(deal);
    this.#weighted.add(deal.currency, weighted(deal.value, deal.chance));
  }

  toTotal(day: Day): DayTotal {
    const weightedValue = this.#weighted.toAmounts();
    return { day, ...this.#sum.toTotal(), ...compact({ weightedValue }) };
  }
}
