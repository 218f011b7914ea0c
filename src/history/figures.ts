/** The deals of a period, and the open records of many days, computed in slices. */
import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import type { Day } from '../figures/days.ts';
import { type Deal, dealReader, type ReadDeal } from '../figures/deals.ts';
import { type CurrencyOf, CurrencySums } from '../figures/money.ts';
import { compact, type LimitedList } from '../figures/naming.ts';
import { probabilityScale, weighted } from '../figures/probability.ts';
import { forEachInSlices, runInSlices } from '../slices.ts';
import { firstReadable, spreadEvenly } from './compare.ts';
import type { PipelineHistory, RecordHistory, Snapshot, SnapshotReader } from './history.ts';
import { type Comparison, compareRecords, OpenSum, pairRecords } from './movements.ts';
import {
  type DayTotal,
  DealRules,
  type Move,
  type PipelineState,
  passesAll,
  type StageOrder,
} from './pipeline-changes.ts';

/** The open pipeline of one day. */
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

interface TwoPipelines {
  opening: PipelineState;
  closing: PipelineState;
}

/** How deals of the period are read: the scale of their probability is that of both states. */
export function periodDeals({ opening, closing }: TwoPipelines, currencyOf: CurrencyOf): ReadDeal {
  const { scale } = probabilityScale([...opening.records, ...closing.records]);
  return dealReader(currencyOf, scale);
}

export async function compareDeals(
  { opening, closing }: TwoPipelines,
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<Comparison<Deal, Move> & { order: StageOrder }> {
  const rules = new DealRules(opening.day, filters, readDeal);
  const pairs = pairRecords(opening.records, closing.records);
  const found = await runInSlices(compareRecords(pairs, rules));
  return { ...found, order: rules.order };
}

interface DaysOfPeriod extends TwoPipelines {
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
  const totals = await totalsByDay(history, earlier, (day, { records }) =>
    dayTotal({ day, records }, {}, readDeal),
  );
  const rows = earlier.map((day) => totals.get(day) ?? { day });
  return present ? [...rows, await dayTotal(present, {}, readDeal)] : rows;
}

/** Records that are added up: more would take longer than a call may. */
const maxRecordsAdded = 2_000_000;

/** What `add` makes of the snapshot of each day; with very many records, of evenly spread days only. */
export async function totalsByDay<T, Total>(
  history: RecordHistory<T>,
  days: readonly Day[],
  add: (day: Day, snapshot: Snapshot<T>) => Promise<Total>,
): Promise<Map<Day, Total>> {
  const reader = history.reader();
  const last = await firstReadable(reader, [...days].reverse());
  const limit = Math.floor(maxRecordsAdded / Math.max(1, last?.records.length ?? 0));
  const totals = new Map<Day, Total>();
  for (const day of spreadEvenly(days, limit)) {
    const snapshot = await reader.read(day);
    if (snapshot) totals.set(day, await add(day, snapshot));
  }
  return totals;
}
