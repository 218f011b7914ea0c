import * as z from 'zod';
import {
  closedBrief,
  dealsAbout,
  type PipelineOptions,
  pipelineBrief,
  pipelineExtras,
} from '../src/briefs/pipeline/pipeline.ts';
import { closedDealRow, openDealRow } from '../src/briefs/pipeline/pipeline-deals.ts';
import {
  type BriefBy,
  briefBy,
  inCustomField,
  isBriefBy,
  isOfLines,
} from '../src/briefs/pipeline/pipeline-groups.ts';
import { dealOutcomes } from '../src/briefs/pipeline/won-and-lost.ts';
import type { Rates } from '../src/figures/deals.ts';
import { type CurrencyOf, currencyOfRecord, decimal, zero } from '../src/figures/money.ts';
import { compact } from '../src/figures/naming.ts';
import type { Opportunity } from '../src/service/records/records.ts';
import { runInSlices } from '../src/slices.ts';
import { InvalidArguments } from '../src/tenant/invalid-arguments.ts';
import { currenciesFor, dealsFor, readDeals } from '../src/tenant/prepared.ts';
import { join, quote, type Wording, wording } from '../src/text/untrusted-text.ts';
import { toCoverage, today } from '../src/tool-kit/answers.ts';
import {
  coverage,
  dealFilterInput,
  defineTool,
  inOrder,
  plainDay,
} from '../src/tool-kit/define-tool.ts';
import { memoizedAnswer } from '../src/tool-kit/memoized-answers.ts';
import { resolveDealFilters } from '../src/tool-kit/name-filters.ts';
import { pipelineAnswer, pipelineSections } from '../src/tool-kit/pipeline-answers.ts';
import { isOneOf, keysOf } from '../src/values.ts';

/** Filters that closed deals do not have: a heading with one of them would promise other figures than it has. */
const ofOpenDeals = {
  stage: 'is for open deals; leave it out with this outcome',
  close_from: 'is for the expected close of open deals; with this outcome use period_from',
  close_to: 'is for the expected close of open deals; with this outcome use period_to',
} as const;

const knownBy = [...briefBy, `${inCustomField}NAME`].join(', ');

export const briefPipeline = defineTool({
  name: 'cpq_brief_pipeline',
  title: 'Brief on the pipeline',
  description:
    'The pipeline: count, value, weighted value, one-time and monthly revenue by group; overdue, closing soon, stalled; gap to a target; sales velocity. With outcome won, lost or closed: deals closed in a period, by group with win rate and days to close; their list.',
  toolset: 'briefs',
  view: 'pipeline',
  needs: ['opportunity:read'],
  input: inOrder(
    z
      .strictObject({
        outcome: z.enum(dealOutcomes).default('open'),
        sections: z.array(z.enum(pipelineSections)).optional(),
        by: z.string().refine(isBriefBy, `must be one of ${knownBy}`).optional().describe(knownBy),
        ...dealFilterInput,
        min_value: z.number().min(0).optional(),
        period_from: plainDay.describe('YYYY-MM-DD; default 90 days before'),
        period_to: plainDay,
        stalled_days: z.int().min(0).optional(),
        show: z.array(z.enum(pipelineExtras)).optional(),
        target: z.number().optional().describe('To win in the period'),
        rates: z
          .string()
          .refine(
            (text) => readRates(text) !== undefined,
            'must be such as CAD=0.73 USD,EUR=1.1 USD',
          )
          .optional()
          .describe('CAD=0.73 USD'),
        groups: z.int().min(0).optional(),
        rows: z.int().min(0).optional(),
        deals_from: z.int().min(0).optional(),
      })
      .superRefine((args, { addIssue }) => {
        for (const name of args.outcome === 'open' ? [] : keysOf(ofOpenDeals))
          if (args[name] !== undefined)
            addIssue({ code: 'custom', path: [name], message: ofOpenDeals[name] });
      }),
    ['close_from', 'close_to'],
    ['period_from', 'period_to', today],
  ),
  output: { open: z.looseObject({ count: z.int() }).optional(), coverage },
  async run(tenant, args, call) {
    const read = await readDeals(tenant, call, isOfLines(args.by) ? ['quote'] : []);
    return memoizedAnswer(tenant, read, { tool: 'pipeline', ...args }, async () => {
      const opportunities = read.records.opportunity ?? [];
      const coverage = toCoverage(read.coverage);
      const currencyOf = currenciesFor(tenant, read.records.company);
      const { filters, question } = resolveDealFilters(
        args,
        opportunities,
        read.records.company,
        currencyOf,
        { coverage },
      );
      if (question) return question;
      const { outcome, show } = args;
      const { rates, unused } = ratesOf(args.rates, opportunities, currencyOf);
      if (filters.currency?.name !== undefined && rates?.has(filters.currency.name))
        throw new InvalidArguments(
          wording`rates converts ${quote(filters.currency.name)} before the filter by currency: leave one of them out.`,
        );
      const options: PipelineOptions = {
        ...filters,
        ...compact({
          show,
          by: groupingOf(args.by, opportunities),
          periodFrom: args.period_from,
          periodTo: args.period_to,
          stalledAfterDays: args.stalled_days,
          target: args.target,
          rates,
          maxGroups: args.groups,
          maxRows: args.rows,
          companies: read.records.company,
          quotes: read.records.quote,
        }),
        today: today(),
      };
      const deals = await dealsFor(tenant, opportunities, read.records.company);
      return pipelineAnswer(
        outcome === 'open'
          ? await runInSlices(pipelineBrief(deals, options))
          : await runInSlices(closedBrief(deals, outcome, options)),
        {
          filters: options,
          // `by` adds the section of the groups, whichever sections were chosen.
          sections: args.by && args.sections ? [...args.sections, 'groups'] : args.sections,
          rows: args.rows,
          dealsFrom: args.deals_from,
          deals: () => runInSlices(dealsAbout(deals, outcome, options)),
          rowOf: (deal) =>
            outcome === 'open' ? openDealRow(deal, options.today) : closedDealRow(deal, outcome),
          coverage,
          notes: [...read.omitted, ...unused],
        },
      );
    });
  },
});

/** @throws InvalidArguments for a custom field that no deal has, with those that some have */
function groupingOf(by: string | undefined, deals: readonly Opportunity[]): BriefBy | undefined {
  if (by === undefined || !isBriefBy(by)) return undefined;
  if (isOneOf<string>(briefBy, by)) return by;
  const fields = new Set(deals.flatMap(({ customFields }) => keysOf(customFields ?? {})));
  const names = [...fields].map((name) => `${inCustomField}${name}`);
  if (names.includes(by)) return by;
  const known = names.slice(0, maxNamed).map((name) => quote(name));
  throw new InvalidArguments(
    known.length === 0
      ? wording`No opportunity has a custom field.`
      : wording`No opportunity has ${quote(by)}. Known: ${join(known, ', ')}.`,
  );
}

const maxNamed = 20;

/** The rates of currencies that occur, and a note on each of the others. */
function ratesOf(
  text: string | undefined,
  deals: readonly Opportunity[],
  currencyOf: CurrencyOf,
): { rates?: Rates; unused: Wording[] } {
  const given = text === undefined ? undefined : readRates(text);
  if (!given) return { unused: [] };
  const occurring = new Set(deals.map((deal) => currencyOfRecord(deal, currencyOf)));
  return {
    rates: new Map([...given].filter(([code]) => occurring.has(code))),
    unused: [...given.keys()].flatMap((code) =>
      occurring.has(code) ? [] : wording`No deal is in ${quote(code)}: its rate is not used.`,
    ),
  };
}

/** `CAD=0.73 USD`: what one unit is worth, for several currencies with commas. */
function readRates(text: string): Rates | undefined {
  const rates = text
    .split(',')
    .map((one) => /^\s*(\w{3})=(\d{1,9}(?:\.\d{1,9})?) (\w{3})\s*$/.exec(one));
  if (rates.includes(null)) return undefined;
  return new Map(
    rates.map((found) => {
      const [, from = '', rate = '', to = ''] = found ?? [];
      return [from.toUpperCase(), { to: to.toUpperCase(), rate: decimal(Number(rate)) ?? zero }];
    }),
  );
}

/** In pages that a model could not read. */
export const pipelineDeals = defineTool({
  ...briefPipeline,
  name: 'cpq_pipeline_deals',
  title: 'Deals of the pipeline board',
  description: 'For views: the deals of the pipeline, page by page.',
  forView: true,
  output: { coverage },
  run: async (...call) => ({ ...(await briefPipeline.run(...call)), uncut: true }),
});
