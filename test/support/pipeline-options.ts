import type { PipelineOptions } from '../../src/briefs/pipeline/pipeline.ts';

/** As the tool has them, on this day. */
export const pipelineOptions: PipelineOptions = {
  today: '2026-06-15',
  by: 'stage',
  show: [],
  rates: new Map(),
  stalledAfterDays: 30,
  periodFrom: '2026-03-17',
  periodTo: '2026-06-15',
  maxRows: 2,
  maxGroups: 24,
};
