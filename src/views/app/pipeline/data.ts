import type { ClosedBrief, PipelineBrief } from '../../../briefs/pipeline/pipeline.ts';
import type { ClosedDeal } from '../../../briefs/pipeline/won-and-lost.ts';
import { mainCurrencyOf } from '../shell/format.ts';
import type { AnswerText } from '../shell/parts.tsx';

/** The answer about open opportunities. */
export type OpenPipeline = PipelineBrief & AnswerText;

/** The answer about won, lost or closed opportunities, with the first of them. */
export type ClosedPipeline = ClosedBrief &
  AnswerText & { records?: ClosedDeal[]; page?: { total: number; next?: number } };

export type PipelineData = OpenPipeline | ClosedPipeline;

/** The currency of most deals; an answer without their numbers has deals of one currency. */
export const mainCurrency = (data: PipelineData): string | undefined =>
  isOpen(data)
    ? mainCurrencyOf(data.open.countByCurrency ?? data.open.value)
    : mainCurrencyOf(
        data.closed.countByCurrency ?? data.closed.won.value ?? data.closed.lost.value,
      );

export const isOpen = (data: PipelineData): data is OpenPipeline => 'open' in data;
