/** What changed in the pipeline of a period, as an answer has it. */
import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import { type PipelineBy, pipelineBy } from '../briefs/pipeline/pipeline-groups.ts';
import type { Deal, ReadDeal } from '../figures/deals.ts';
import { compact } from '../figures/naming.ts';
import { runInSlices } from '../slices.ts';
import { isOneOf } from '../values.ts';
import type { PeriodStates } from './compare.ts';
import { dailyTotals } from './day-totals.ts';
import { forecastRows } from './forecast-accuracy.ts';
import { type Comparison, compareRecords, pairRecords } from './movements.ts';
import { changeGroups } from './pipeline-change-groups.ts';
import { matchingExits, stageRows } from './pipeline-change-series.ts';
import {
  type ChangeOptions,
  changeRows,
  dealRules,
  type Move,
  periodDeals,
  type StageOrder,
  stageOrder,
  type TwoPipelines,
} from './pipeline-changes.ts';

const maxGroups = 8;
const defaultDays = 12;

export interface Shown {
  by?: PipelineBy | 'day' | 'quote' | undefined;
  /** Only records with this step or move. */
  movement?: string | undefined;
  /** Of the lists; the default depends on what else is shown. */
  rows?: number | undefined;
}

export type PipelineChanges = Awaited<ReturnType<typeof changesBetween>>;

/** Grouped, or with one movement, it is without stages and forecast. */
export async function changesBetween(
  states: PeriodStates,
  options: ChangeOptions,
  { by, movement, rows }: Shown,
) {
  const readDeal = periodDeals(states, options.currencyOf);
  const compared = await compareDeals(states, options, readDeal);
  const { opening, closing, steps, moves, changes, parts, order } = compared;
  const maxDeals = isOneOf(['day', 'quote'], by) ? 0 : (rows ?? (by ? 3 : movement ? 10 : 4));
  const isWhole = by === undefined && movement === undefined;
  return compact({
    pipeline: [
      { step: 'opening' as const, ...opening },
      ...steps,
      { step: 'closing' as const, ...closing },
    ],
    moves: moves.length > 0 ? moves : undefined,
    groups: isOneOf(pipelineBy, by)
      ? await runInSlices(changeGroups(parts, by, maxGroups))
      : undefined,
    days:
      by === 'day'
        ? await dailyTotals(states, options, readDeal, Math.max(2, rows ?? defaultDays))
        : undefined,
    deals: await runInSlices(changeRows(changes, states.series, maxDeals, movement)),
    stages: isWhole ? await stagesOf(states, options, readDeal, order) : undefined,
    forecast: isWhole ? await forecastOf(states, options, readDeal) : undefined,
  });
}

export async function compareDeals(
  { opening, closing }: TwoPipelines,
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<Comparison<Deal, Move> & { order: StageOrder }> {
  const order = await runInSlices(stageOrder([...opening.records, ...closing.records], readDeal));
  const rules = dealRules(opening.day, filters, readDeal, order);
  const pairs = pairRecords(opening.records, closing.records);
  return { ...(await runInSlices(compareRecords(pairs, rules))), order };
}

/** The stages that deals left. */
async function stagesOf(
  { series }: PeriodStates,
  options: ChangeOptions,
  readDeal: ReadDeal,
  order: StageOrder,
) {
  const exits = await runInSlices(matchingExits(series.exits, options, readDeal));
  const rows = stageRows(exits, order);
  return rows.length > 0 ? rows : undefined;
}

/** Nothing where deals are filtered by what may have changed since. */
async function forecastOf(
  { closing, monthBefore }: PeriodStates,
  options: ChangeOptions,
  readDeal: ReadDeal,
) {
  const { stage, closeFrom, closeTo } = options;
  if (!monthBefore || (stage ?? closeFrom ?? closeTo) !== undefined) return undefined;
  const rows = await forecastRows(monthBefore, closing, options, readDeal);
  return rows.length > 0 ? { since: monthBefore.day, until: closing.day, rows } : undefined;
}
