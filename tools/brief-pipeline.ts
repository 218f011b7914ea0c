import * as z from 'zod';
import { currenciesOf } from '../src/briefs/money.ts';
import { compact, plural } from '../src/briefs/naming.ts';
import { type PipelineBrief, pipelineBrief } from '../src/briefs/pipeline.ts';
import { type OpenDeal, openDeals } from '../src/briefs/pipeline-deals.ts';
import { pipelineBy } from '../src/briefs/pipeline-groups.ts';
import type { Company, Opportunity } from '../src/records/records.ts';
import { readCollections } from '../src/tenant/read-collections.ts';
import { join, trusted, type Wording, wording } from '../src/text/untrusted-text.ts';
import { answerWithRows, toCoverage, today } from '../src/tool-kit/answers.ts';
import {
  type Answer,
  answerFields,
  coverage,
  day,
  defineTool,
  inOrder,
  readOnlyHints,
} from '../src/tool-kit/define-tool.ts';
import { resolveFilters } from '../src/tool-kit/name-filters.ts';

/** Roughly as many as fit into one answer. */
const maxDeals = 100;
const name = z.string().trim().min(1).max(200).optional().describe('Id or name');

export const briefPipeline = defineTool({
  name: 'cpq_brief_pipeline',
  title: 'Brief on the pipeline',
  description:
    'The open pipeline over all opportunities: count, one-time, monthly and weighted revenue by group; overdue, closing soon, stalled; won, lost and win rate over a period.',
  toolset: 'briefs',
  view: 'pipeline',
  needs: ['opportunity:read'],
  hints: readOnlyHints,
  input: inOrder(
    z.strictObject({
      by: z.enum(pipelineBy).default('stage'),
      owner: name,
      company: name,
      stage: name,
      category: name,
      source: name,
      close_from: day,
      close_to: day,
      min_value: z.number().min(0).optional(),
      period_from: day.describe('Of won and lost; default 90 days ago'),
      period_to: day,
      stalled_days: z.int().min(1).max(3650).optional(),
      rows: z.int().min(0).max(50).optional().describe('Deals named in each list'),
      deals_from: z.int().min(0).optional().describe('List all open deals from here'),
    }),
    ['close_from', 'close_to'],
    ['period_from', 'period_to'],
  ),
  output: z.looseObject({
    ...answerFields,
    open: z.looseObject({ count: z.int() }).optional(),
    coverage,
  }),
  async run(tenant, args, call) {
    const read = await readCollections(tenant, ['opportunity'], ['company'], call);
    const opportunities = read.records.opportunity ?? [];
    const { owner, company, stage, category, source } = args;
    const { filters, question } = resolveFilters(
      { owner, company, stage, category, source },
      dealReferences(opportunities, read.records.company),
      { coverage: toCoverage(read.coverage) },
    );
    if (question) return question;
    const options = {
      ...filters,
      ...compact({
        by: args.by,
        closeFrom: args.close_from,
        closeTo: args.close_to,
        minValue: args.min_value,
        periodFrom: args.period_from,
        periodTo: args.period_to,
        stalledAfterDays: args.stalled_days,
        maxRows: args.rows,
      }),
      today: today(),
      currencyOf: currenciesOf(read.records.company ?? []),
    };
    if (args.deals_from !== undefined) {
      const deals = openDeals(opportunities, options);
      return dealsAnswer(
        deals,
        args.deals_from,
        { coverage: toCoverage(read.coverage) },
        read.omitted,
      );
    }
    const brief = pipelineBrief(opportunities, options);
    const { notes = [], ...figures } = brief;
    return {
      summary: pipelineSummary(brief),
      data: { ...figures, coverage: toCoverage(read.coverage) },
      notes: [...notes, ...read.omitted],
    };
  },
});

/** What the filters of deals can mean. A company may have no deals. */
const dealReferences = (deals: readonly Opportunity[], companies: readonly Company[] = []) => ({
  owner: () => deals.map(({ owner }) => owner),
  company: () => [...companies, ...deals.map(({ company }) => company)],
  stage: () => deals.map(({ pipelineStage }) => pipelineStage),
  category: () => deals.map(({ category }) => category),
  source: () => deals.map(({ source }) => source),
});

/** Every open deal in a few fields, the largest first; the pipeline board shows these. */
function dealsAnswer(
  deals: readonly OpenDeal[],
  from: number,
  more: Record<string, unknown>,
  notes: readonly Wording[],
): Answer {
  const total = deals.length;
  return answerWithRows(Math.min(maxDeals, Math.max(0, total - from)), (count) => {
    const records = deals.slice(from, from + count);
    const next = from + records.length;
    const page = { shown: records.length, from, total };
    return {
      summary: wording`${records.length} of ${total} open opportunities, from ${from}, by value.`,
      data: {
        open: { count: total },
        records,
        page: next < total && records.length > 0 ? { ...page, next } : page,
        ...more,
      },
      notes,
    };
  });
}

/** Leaves out the sums: the figures list them by currency. */
function pipelineSummary({ open, overdue, stalled, closed }: PipelineBrief): Wording {
  return wording`${plural(open.count, 'open opportunity')}: ${overdue.total} overdue, ${stalled.total} stalled. ${closedSummary(closed)} since ${trusted(closed.from)}.`;
}

/** Never says "0 won" or "0 lost" while deals are closed whose outcome is unknown. */
function closedSummary({ won, lost, outcomeUnknown }: PipelineBrief['closed']): Wording {
  if (outcomeUnknown === undefined) return wording`${won.count} won and ${lost.count} lost`;
  const known = [
    ...(won.count > 0 ? [wording`${won.count} won`] : []),
    ...(lost.count > 0 ? [wording`${lost.count} lost`] : []),
  ];
  return join([...known, wording`${outcomeUnknown.count} closed with unknown outcome`], ', ');
}
