/** The open records of many days, computed in slices. */
import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import type { ReadDeal } from '../figures/deals.ts';
import { CurrencySums } from '../figures/money.ts';
import { compact, type LimitedList } from '../figures/naming.ts';
import { weighted } from '../figures/probability.ts';
import { forEachInSlices } from '../slices.ts';
import { type PeriodStates, spreadEvenly } from './compare.ts';
import { OpenSum } from './movements.ts';
import {
  type DayTotal,
  type PipelineState,
  passesAll,
  type TwoPipelines,
} from './pipeline-changes.ts';

export async function dayTotal(
  { day, records }: PipelineState,
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<DayTotal> {
  const sum = new OpenSum();
  const weightedSum = new CurrencySums();
  await forEachInSlices(records, (record) => {
    const deal = readDeal(record);
    if (deal.outcome !== 'open' || !passesAll(deal, filters)) return;
    sum.add(deal);
    weightedSum.add(deal.currency, weighted(deal.value, deal.chance));
  });
  return { day, ...sum.toTotal(), ...compact({ weightedValue: weightedSum.toAmounts() }) };
}

/**
 * The open pipeline on the days of a period, oldest first: the opening, the closing, and evenly spread days between.
 * @param limit most days; at least 2
 */
export async function dailyTotals(
  { opening, closing, between, reader }: TwoPipelines & Pick<PeriodStates, 'between' | 'reader'>,
  filters: PipelineFilters,
  readDeal: ReadDeal,
  limit: number,
): Promise<LimitedList<DayTotal>> {
  const total = (state: PipelineState) => dayTotal(state, filters, readDeal);
  const rows = [await total(opening)];
  for (const day of spreadEvenly(between, limit - 2)) {
    const snapshot = await reader.read(day);
    if (snapshot) rows.push(await total({ day, ...snapshot }));
  }
  rows.push(await total(closing));
  return { shown: rows.length, total: between.length + 2, rows };
}
