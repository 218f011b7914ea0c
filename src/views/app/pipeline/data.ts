import type { ClosedBrief, PipelineBrief } from '../../../briefs/pipeline/pipeline.ts';
import type { ClosedDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import type { AnswerText } from '../shell/parts.tsx';

/** The answer about open opportunities. */
export type OpenPipeline = PipelineBrief & AnswerText;

/** The answer about won, lost or closed opportunities, with the first of them. */
export type ClosedPipeline = ClosedBrief &
  AnswerText & { records?: ClosedDeal[]; page?: { total: number; next?: number } };

export type PipelineData = OpenPipeline | ClosedPipeline;

export const isOpen = (data: PipelineData): data is OpenPipeline => 'open' in data;
