import type { CompanyBrief } from '../../../briefs/company/company.ts';
import type { DealRow } from '../records/entries.ts';
import type { AnswerText } from '../shell/parts.tsx';

/** What the view is given: the answer of the tool. */
export type CompanyData = CompanyBrief & AnswerText;

/** The fields that `cpq_list_opportunities` is asked for. */
export const opportunityFields = [
  'companyId',
  'stage',
  'outcome',
  'closes',
  'closed',
  'value',
  'oneTime',
  'monthly',
  'currency',
] as const;

/** A row of its answer. `deleted`: the day, or `true` where it is not known. */
export type OpportunityRow = DealRow & { companyId?: string; deleted?: string | true };

/** A row of `cpq_list_events`. */
export interface EventRow {
  /** To the second, in UTC. */
  at: string;
  subject: string;
  event: string;
  id?: string;
  name?: string;
  changes?: string[];
}

/** What is read besides the answer. */
export interface RelatedData {
  opportunities: readonly OpportunityRow[];
  events: readonly EventRow[];
  /** How many events there are. */
  eventsTotal: number;
  /** Why the events, or some of them, could not be read. */
  problem?: string | undefined;
}
