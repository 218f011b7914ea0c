/** The steps from the opening to the closing value in one currency, as bars between two values. */
import type { OpenTotal } from '../../../history/movements.ts';
import type { DealStep } from '../../../history/pipeline-changes.ts';
import { ownOf } from '../shell/format.ts';

/** A row of the answer of `cpq_pipeline_changes`. */
export type PipelineRow = OpenTotal & { step: 'opening' | 'closing' | DealStep };

export interface WaterfallBar {
  step: PipelineRow['step'];
  count: number;
  /** What the step adds, or, of opening and closing, the whole; `undefined` where nothing is known in the currency. */
  amount: number | undefined;
  /** `won` leaves the pipeline too, but is no loss. */
  kind: 'total' | 'up' | 'down' | 'won';
  /** Start and length in percent of the width. */
  start: number;
  length: number;
}

export interface Waterfall {
  bars: WaterfallBar[];
  /** The amount at the left end of the bars; above 0 where the steps would be invisible next to the whole. */
  axisStart: number;
}

const isTotal = ({ step }: PipelineRow): boolean => step === 'opening' || step === 'closing';

/** A step begins where the one before it ends. */
function spans(rows: readonly PipelineRow[], currency: string) {
  let at = 0;
  return rows.map((row) => {
    const amount = ownOf(row.value ?? {}, currency);
    const from = isTotal(row) ? 0 : at;
    at = from + (amount ?? 0);
    return { row, amount, from, to: at };
  });
}

function kindOf(row: PipelineRow, amount: number): WaterfallBar['kind'] {
  if (isTotal(row)) return 'total';
  if (row.step === 'won') return 'won';
  return amount < 0 ? 'down' : 'up';
}

/** Steps that make up less of the whole than this are shown on an axis that does not start at 0. */
const minShareOfSteps = 0.4;

export function waterfallOf(rows: readonly PipelineRow[], currency: string): Waterfall {
  const all = spans(rows, currency);
  const ends = all.map(({ to }) => to);
  const [low, high] = [Math.min(...ends, 0), Math.max(...ends, 0)];
  const lowest = Math.min(...ends);
  const isSmall = lowest > 0 && high > lowest && high - lowest < minShareOfSteps * high;
  const axisStart = isSmall ? lowest - (high - lowest) * 0.5 : low;
  const width = high - axisStart || 1;
  const percentOf = (amount: number): number =>
    ((Math.max(amount, axisStart) - axisStart) / width) * 100;
  const bars = all.map(({ row, amount, from, to }): WaterfallBar => {
    const [left, right] = [percentOf(Math.min(from, to)), percentOf(Math.max(from, to))];
    const kind = kindOf(row, amount ?? 0);
    return { step: row.step, count: row.count, amount, kind, start: left, length: right - left };
  });
  return { bars, axisStart: isSmall ? axisStart : 0 };
}
