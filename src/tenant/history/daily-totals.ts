import { DailyTotals, type DayTotal } from '../../briefs/daily-totals.ts';
import type { Day } from '../../briefs/days.ts';
import type { LimitedList } from '../../briefs/naming.ts';
import type { ChangeOptions, PipelineState } from '../../briefs/pipeline-changes.ts';
import { probabilityScale } from '../../briefs/probability.ts';
import { spread } from './compare.ts';
import type { SnapshotReader } from './history.ts';

interface Days {
  opening: PipelineState;
  /** Days with a snapshot after the opening and before the closing, oldest first. */
  between: readonly Day[];
  closing: PipelineState;
  reader: SnapshotReader;
}

/**
 * The open pipeline on the days of a period, oldest first: the opening, the closing, and evenly spread days between.
 * @param limit most days; at least 2
 */
export async function dailyTotals(
  { opening, closing, between, reader }: Days,
  options: ChangeOptions,
  limit: number,
): Promise<LimitedList<DayTotal>> {
  const { scale } = probabilityScale([...opening.records, ...closing.records]);
  const totals = new DailyTotals(options, scale);
  const rows = [totals.of(opening)];
  for (const day of spread(between, limit - 2)) {
    const snapshot = await reader.read(day);
    if (snapshot) rows.push(totals.of({ day, records: snapshot.records }));
  }
  rows.push(totals.of(closing));
  return { shown: rows.length, total: between.length + 2, rows };
}
