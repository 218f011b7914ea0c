/** The open records of many days, computed in slices. */
import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import type { Day } from '../figures/days.ts';
import { dealReader, type ReadDeal } from '../figures/deals.ts';
import { type CurrencyOf, CurrencySums } from '../figures/money.ts';
import { compact, type LimitedList } from '../figures/naming.ts';
import { probabilityScale, weighted } from '../figures/probability.ts';
import { forEachInSlices } from '../slices.ts';
import { type DatedSnapshot, firstReadable, type PeriodStates, spreadEvenly } from './compare.ts';
import type { PipelineHistory, RecordHistory, SnapshotReader } from './history.ts';
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
  const days = await totalsOf(reader, spreadEvenly(between, limit - 2), total);
  const rows = [await total(opening), ...days.values(), await total(closing)];
  return { shown: rows.length, total: between.length + 2, rows };
}

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
  const last = present ?? (await firstReadable(history.reader(), [...days].reverse()));
  if (!last) return days.map((day) => ({ day }));
  const readDeal = dealReader(currencyOf, probabilityScale(last.records).scale);
  const earlier = days.filter((day) => present === undefined || day < present.day);
  const totals = await totalsByDay(history, earlier, (state) => dayTotal(state, {}, readDeal));
  const rows = earlier.map((day) => totals.get(day) ?? { day });
  return present ? [...rows, await dayTotal(present, {}, readDeal)] : rows;
}

/** Records that are added up: more would take longer than a call may. */
const maxRecordsAdded = 2_000_000;

/** What `add` makes of the snapshot of each day; with very many records, of evenly spread days only. */
export async function totalsByDay<T, Total>(
  history: RecordHistory<T>,
  days: readonly Day[],
  add: (snapshot: DatedSnapshot<T>) => Promise<Total>,
): Promise<Map<Day, Total>> {
  const reader = history.reader();
  const last = await firstReadable(reader, [...days].reverse());
  const limit = Math.floor(maxRecordsAdded / Math.max(1, last?.records.length ?? 0));
  return totalsOf(reader, spreadEvenly(days, limit), add);
}

async function totalsOf<T, Total>(
  reader: SnapshotReader<T>,
  days: readonly Day[],
  add: (snapshot: DatedSnapshot<T>) => Promise<Total>,
): Promise<Map<Day, Total>> {
  const totals = new Map<Day, Total>();
  for (const day of days) {
    const snapshot = await reader.read(day);
    if (snapshot) totals.set(day, await add({ day, ...snapshot }));
  }
  return totals;
}
