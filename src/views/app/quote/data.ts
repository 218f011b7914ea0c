import type { QuoteBrief } from '../../../briefs/quote.ts';
import type { CoverageData } from '../shell/parts.tsx';

/** What the view is given: the answer of the tool. */
export type QuoteData = QuoteBrief & { summary: string; notes?: string[]; coverage?: CoverageData };
