/** The changes of the pipeline since a day, with the filters of the view. */
import { useState } from 'preact/hooks';
import type { LimitedList } from '../../../briefs/naming.ts';
import type { ChangeRow } from '../../../briefs/pipeline-change-rows.ts';
import type { MoveRow } from '../../../briefs/pipeline-changes.ts';
import { messageOf } from '../../../values.ts';
import type { Arguments } from '../shell/bridge.ts';
import type { Host } from '../shell/start.tsx';
import { useReading } from '../shell/use-reading.ts';
import type { PipelineRow } from './waterfall.ts';

/** The answer of `cpq_pipeline_changes`; without `pipeline` there is nothing to compare. */
export interface ChangesAnswer {
  summary: string;
  notes?: string[];
  compared?: { from: string; to: string };
  pipeline?: PipelineRow[];
  moves?: MoveRow[];
  deals?: LimitedList<ChangeRow>;
  /** Of all quotes: sent, accepted, declined, expired. */
  quotes?: { rows: { movement: string; count: number }[] };
}

export interface ReadChanges {
  answer?: ChangesAnswer;
  failed?: string;
}

/** The filters that both tools take. */
const filters = [
  'owner',
  'company',
  'stage',
  'category',
  'source',
  'currency',
  'close_from',
  'close_to',
  'min_value',
] as const;

export const scopeOf = (args: Arguments): Arguments =>
  Object.fromEntries(filters.map((filter) => [filter, args[filter]]));

const maxRows = 20;

/** Reads again whenever `answer`, the result of the view's tool, or the period changes. */
export function useChanges(
  host: Host,
  args: Arguments,
  since: string,
  answer: object,
): ReadChanges {
  const [read, setRead] = useState<ReadChanges>({});
  useReading([answer, since], (isCurrent) => {
    host
      .read<ChangesAnswer>('cpq_pipeline_changes', { ...scopeOf(args), since, rows: maxRows })
      .then((found) => isCurrent() && setRead({ answer: found }))
      .catch((error: unknown) => isCurrent() && setRead({ failed: messageOf(error) }));
  });
  return read;
}
