/** The figures of a period, computed in slices: a tenant may have many thousands of deals. */

import {
  type PipelineFilters,
  passesFilters,
  passesOpenFilters,
} from '../briefs/pipeline/pipeline.ts';
import type { Day } from '../figures/days.ts';
import { dealReader, type ReadDeal } from '../figures/deals.ts';
import type { CurrencyOf } from '../figures/money.ts';
import type { LimitedList } from '../figures/naming.ts';
import { probabilityScale } from '../figures/probability.ts';
import { forEachInSlices, runInSlices } from '../slices.ts';
import { firstReadable, spreadEvenly } from './compare.ts';
import { DaySum, type DayTotal } from './daily-totals.ts';
import { ForecastAccuracy, type ForecastRow } from './forecast-accuracy.ts';
import type { PipelineHistory, SnapshotReader } from './history.ts';
import type { ChangeGroups } from './pipeline-change-groups.ts';
import type { StageExit } from './pipeline-change-series.ts';
import {
  type Comparison,
  type PipelineState,
  pairRecords,
  StateComparison,
} from './pipeline-changes.ts';

interface TwoStates {
  opening: PipelineState;
  closing: PipelineState;
}

/** How deals of the period are read: the scale of their probability is that of both states. */
export function periodDeals({ opening, closing }: TwoStates, currencyOf: CurrencyOf): ReadDeal {
  const { scale } = probabilityScale([...opening.records, ...closing.records]);
  return dealReader(currencyOf, scale);
}

/** @param groups is given every deal of the comparison */
export async function compareStates(
  { opening, closing }: TwoStates,
  filters: PipelineFilters,
  readDeal: ReadDeal,
  groups?: ChangeGroups,
): Promise<Comparison> {
  const comparison = new StateComparison(opening.day, filters, readDeal);
  await forEachInSlices(pairRecords(opening.records, closing.records), (pair) => {
    const change = comparison.add(pair);
    if (change) groups?.add(change);
  });
  return runInSlices(comparison.result());
}

/** The exits that match the filters, by the stage that was left. */
export async function matchingExits(
  exits: readonly StageExit[],
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<StageExit[]> {
  const matching: StageExit[] = [];
  await forEachInSlices(exits, (exit) => {
    const inStage = { ...exit.deal, pipelineStage: { ...exit.label } };
    if (passesFilters(readDeal(exit.deal), filters) && passesOpenFilters(inStage, filters))
      matching.push(exit);
  });
  return matching;
}

export async function forecastRows(
  then: PipelineState,
  now: PipelineState,
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<ForecastRow[]> {
  const accuracy = new ForecastAccuracy(then.day, now.day, filters, readDeal);
  await forEachInSlices(pairRecords(then.records, now.records), (pair) => accuracy.add(pair));
  return accuracy.toRows();
}

interface DaysOfPeriod extends TwoStates {
  /** Days with a snapshot after the opening and before the closing, oldest first. */
  between: readonly Day[];
  reader: SnapshotReader;
}

/**
 * The open pipeline on the days of a period, oldest first: the opening, the closing, and evenly spread days between.
 * @param limit most days; at least 2
 */
export async function dailyTotals(
  { opening, closing, between, reader }: DaysOfPeriod,
  filters: PipelineFilters,
  readDeal: ReadDeal,
  limit: number,
): Promise<LimitedList<DayTotal>> {
  const rows = [await dayTotal(opening, filters, readDeal)];
  for (const day of spreadEvenly(between, limit - 2)) {
    const snapshot = await reader.read(day);
    if (snapshot) rows.push(await dayTotal({ ...snapshot, day }, filters, readDeal));
  }
  rows.push(await dayTotal(closing, filters, readDeal));
  return { shown: rows.length, total: between.length + 2, rows };
}

/** Deals that are added up: more would take longer than a call may. */
const maxDealsAdded = 2_000_000;

/** A day that can be compared; without totals if it was left out or cannot be read. */
export type KeptDay = Pick<DayTotal, 'day'> & Partial<DayTotal>;

/**
 * Every day of a history and the present, oldest first. With very many deals, only evenly spread days have totals.
 * @param days those of the history, oldest first
 */
export async function keptTotals(
  history: PipelineHistory,
  days: readonly Day[],
  present: PipelineState | undefined,
  currencyOf: CurrencyOf,
): Promise<KeptDay[]> {
  const reader = history.reader();
  const last = present ?? (await firstReadable(reader, [...days].reverse()));
  if (!last) return days.map((day) => ({ day }));
  const readDeal = dealReader(currencyOf, probabilityScale(last.records).scale);
  const earlier = days.filter((day) => present === undefined || day < present.day);
  const limit = Math.floor(maxDealsAdded / Math.max(1, last.records.length));
  const added = new Set(spreadEvenly(earlier, limit));
  const rows: KeptDay[] = [];
  for (const day of earlier) {
    const snapshot = added.has(day) ? await reader.read(day) : undefined;
    rows.push(snapshot ? await dayTotal({ ...snapshot, day }, {}, readDeal) : { day });
  }
  return present ? [...rows, await dayTotal(present, {}, readDeal)] : rows;
}

async function dayTotal(
  { day, records }: PipelineState,
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<DayTotal> {
  const sum = new DaySum(filters, readDeal);
  await forEachInSlices(records, (record) => sum.add(record));
  return sum.toTotal(day);
}
