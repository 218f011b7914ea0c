import * as z from 'zod';
import {
  type ClosedBrief,
  closedBrief,
  dealsAbout,
  fewRows,
  openDealRow,
  type PipelineBrief,
  type PipelineOptions,
  pipelineBrief,
  pipelineExtras,
} from '../src/briefs/pipeline/pipeline.ts';
import {
  type BriefBy,
  briefBy,
  collectionsOf,
  inCustomField,
  isBriefBy,
  isInOrder,
  isOfLines,
} from '../src/briefs/pipeline/pipeline-groups.ts';
import {
  type ClosedPeriod,
  closedDealRow,
  dealOutcomes,
} from '../src/briefs/pipeline/won-and-lost.ts';
import { addDays } from '../src/figures/days.ts';
import type { Deal, Rates } from '../src/figures/deals.ts';
import { type CurrencyOf, currencyOfRecord, decimal, zero } from '../src/figures/money.ts';
import { plural } from '../src/figures/naming.ts';
import type { Opportunity } from '../src/service/records/records.ts';
import { runInSlices } from '../src/slices.ts';
import { InvalidArguments } from '../src/tenant/invalid-arguments.ts';
import { currenciesFor, dealsFor, readDeals } from '../src/tenant/prepared.ts';
import { join, quote, trusted, type Wording, wording } from '../src/text/untrusted-text.ts';
import {
  describeNoDeals,
  formatAmounts,
  memoizedAnswer,
  rankedInCurrencies,
  toCoverage,
  today,
} from '../src/tool-kit/answers.ts';
import { type Answer, defineTool } from '../src/tool-kit/define-tool.ts';
import { describeDealScope, resolveDealFilters } from '../src/tool-kit/name-filters.ts';
import { answerWithRows, limitLists, listedWords, pageOf } from '../src/tool-kit/rows.ts';
import * as schemas from '../src/tool-kit/schemas.ts';
import { isKeyOf, isOneOf, keysOf } from '../src/values.ts';

/** What closed deals do not have: a heading with such a filter would promise other figures than it has. */
const ofOpenDeals = {
  stalled_days: 'is for open deals; leave it out with this outcome',
  stage: 'is for open deals; leave it out with this outcome',
  close_from: 'is for the expected close of open deals; with this outcome use period_from',
  close_to: 'is for the expected close of open deals; with this outcome use period_to',
} as const;

const pipelineSections = [
  'groups',
  'overdue',
  'closing_soon',
  'stalled',
  'closed',
  'deals',
] as const;
type PipelineSection = (typeof pipelineSections)[number];
const closedSections: readonly PipelineSection[] = ['closed', 'groups', 'deals'];

const knownBy = [...briefBy, `${inCustomField}NAME`].join(', ');

const input = schemas.inOrder(
  z
    .strictObject({
      outcome: z.enum(dealOutcomes).default('open'),
      sections: z.array(z.enum(pipelineSections)).optional(),
      by: z.string().refine(isBriefBy, `must be one of ${knownBy}`).optional().describe(knownBy),
      ...schemas.dealFilterInput,
      min_value: z.number().min(0).optional(),
      period_from: schemas.plainDay.describe('YYYY-MM-DD; default 90 days before'),
      period_to: schemas.plainDay,
      stalled_days: z.int().min(0).optional(),
      show: z.array(z.enum(pipelineExtras)).optional(),
      target: z.number().optional().describe('To win in the period'),
      rates: z
        .string()
        .refine((text) => readRates(text) !== undefined, 'must be such as CAD=0.73 USD,EUR=1.1 USD')
        .optional()
        .describe('CAD=0.73 USD'),
      groups: z.int().min(0).optional(),
      rows: z.int().min(0).optional(),
      deals_from: z.int().min(0).optional(),
    })
    .superRefine((args, { addIssue }) => {
      if (args.outcome === 'open') return;
      for (const name of keysOf(ofOpenDeals))
        if (args[name] !== undefined)
          addIssue({ code: 'custom', path: [name], message: ofOpenDeals[name] });
      const message = `must be some of ${closedSections.join(', ')} with this outcome`;
      if (args.sections?.some((section) => !closedSections.includes(section)))
        addIssue({ code: 'custom', path: ['sections'], message });
    }),
  ['close_from', 'close_to'],
  ['period_from', 'period_to', today],
);

type Args = z.output<typeof input>;

export const briefPipeline = defineTool({
  name: 'cpq_brief_pipeline',
  title: 'Brief on the pipeline',
  description:
    'The pipeline: count, value, weighted value, one-time and monthly revenue by group; overdue, closing soon, stalled; gap to a target; sales velocity. With outcome won, lost or closed: deals closed in a period, by group with win rate and days to close; their list.',
  toolset: 'briefs',
  view: 'pipeline',
  needs: ['opportunity:read'],
  input,
  output: { open: z.looseObject({ count: z.int() }).optional(), coverage: schemas.coverage },
  async run(tenant, args, call) {
    const read = await readDeals(tenant, call, collectionsOf(args.by));
    return memoizedAnswer(tenant, read, { tool: 'pipeline', ...args }, async () => {
      const opportunities = read.records.opportunity ?? [];
      const coverage = toCoverage(read.coverage);
      const currencyOf = currenciesFor(tenant, read.records.company);
      const { filters, question } = resolveDealFilters(
        args,
        opportunities,
        read.records.company,
        currencyOf,
        coverage,
      );
      if (question) return question;
      const { outcome } = args;
      const { rates, unused } = ratesOf(args.rates, opportunities, currencyOf);
      if (filters.currency?.name !== undefined && rates.has(filters.currency.name))
        throw new InvalidArguments(
          wording`rates converts ${quote(filters.currency.name)} before the filter by currency: leave one of them out.`,
        );
      const options: PipelineOptions = {
        ...filters,
        ...optionsOf(args, opportunities),
        rates,
        companies: read.records.company,
        quotes: read.records.quote,
      };
      const deals = await dealsFor(tenant, opportunities, read.records.company);
      const brief =
        outcome === 'open'
          ? await runInSlices(pipelineBrief(deals, options))
          : await runInSlices(closedBrief(deals, outcome, options));
      const sections = sectionsOf(args);
      const about = sections.has('deals')
        ? await runInSlices(dealsAbout(deals, outcome, options))
        : undefined;
      return pipelineAnswer(brief, sections, {
        scope: describeDealScope(filters),
        deals: about && listDeals(about, args),
        rows: args.rows,
        coverage,
        notes: [describeNoDeals(opportunities), ...read.omitted, ...unused],
      });
    });
  },
});

/** What was asked for, or the defaults. */
function optionsOf(args: Args, deals: readonly Opportunity[]) {
  const now = today();
  const { period_to: periodTo = now } = args;
  return {
    show: args.show ?? [],
    by: groupingOf(args, deals),
    periodFrom: args.period_from ?? addDays(periodTo, -periodDays),
    periodTo,
    stalledAfterDays: args.stalled_days ?? 30,
    target: args.target,
    // The names of products are long.
    maxGroups: args.groups ?? (isOfLines(args.by) ? 12 : 24),
    maxRows: args.rows ?? fewRows,
    today: now,
  };
}

/** @throws InvalidArguments for a custom field that no deal has, with those that some have */
function groupingOf({ by, outcome }: Args, deals: readonly Opportunity[]): BriefBy {
  if (by === undefined) return outcome === 'open' ? 'stage' : 'owner';
  if (isOneOf<BriefBy>(briefBy, by)) return by;
  const fields = new Set(deals.flatMap(({ customFields }) => keysOf(customFields ?? {})));
  const names = [...fields].map((name) => `${inCustomField}${name}` as const);
  if (isOneOf(names, by)) return by;
  const known = names.slice(0, maxNamed).map((name) => quote(name));
  throw new InvalidArguments(
    known.length === 0
      ? wording`No opportunity has a custom field.`
      : wording`No opportunity has ${quote(by)}. Known: ${join(known, ', ')}.`,
  );
}

const maxNamed = 20;
const periodDays = 90;

/** The rates of currencies that occur, and a note on each of the others. */
function ratesOf(
  text: string | undefined,
  deals: readonly Opportunity[],
  currencyOf: CurrencyOf,
): { rates: Rates; unused: Wording[] } {
  const given: Rates = readRates(text) ?? new Map();
  if (given.size === 0) return { rates: given, unused: [] };
  const occurring = new Set(deals.map((deal) => currencyOfRecord(deal, currencyOf)));
  return {
    rates: new Map([...given].filter(([code]) => occurring.has(code))),
    unused: [...given.keys()].flatMap((code) =>
      occurring.has(code) ? [] : wording`No deal is in ${quote(code)}: its rate is not used.`,
    ),
  };
}

/** `CAD=0.73 USD`: what one unit is worth, for several currencies with commas. */
function readRates(text: string | undefined): Rates | undefined {
  const rates = text
    ?.split(',')
    .map((one) => /^\s*(\w{3})=(\d{1,9}(?:\.\d{1,9})?) (\w{3})\s*$/.exec(one));
  if (!rates || rates.includes(null)) return undefined;
  return new Map(
    rates.map((found) => {
      const [, from = '', rate = '', to = ''] = found ?? [];
      return [from.toUpperCase(), { to: to.toUpperCase(), rate: decimal(Number(rate)) ?? zero }];
    }),
  );
}

/** Fields of a brief that are left out unless their section is wanted. */
const sectionOf = {
  by: 'groups',
  groups: 'groups',
  overdue: 'overdue',
  closingSoon: 'closing_soon',
  stalled: 'stalled',
  closed: 'closed',
} as const satisfies Record<string, PipelineSection>;

type Sections = ReadonlySet<PipelineSection>;

const openSections = pipelineSections.filter((section) => section !== 'deals');

/** `by` adds the section of the groups, whichever were chosen; figures of closed deals always have these, and their period. */
function sectionsOf({ outcome, sections, by, deals_from, target, show }: Args): Sections {
  const ofOutcome = outcome === 'open' ? openSections : closedSections;
  const byDefault = deals_from === undefined ? ofOutcome : (['deals'] as const);
  const chosen = sections && by ? [...sections, 'groups' as const] : sections;
  const restsOnClosed = outcome !== 'open' || target !== undefined || show?.includes('velocity');
  const always = restsOnClosed ? (['closed'] as const) : [];
  return new Set([...always, ...(chosen?.length ? chosen : byDefault)]);
}

const maxDeals = 100;
/** An answer that lists deals is filled up to about 2,500 tokens: the estimate is up to half too high. */
const aim = 3_600;

function listDeals(all: readonly Deal[], { outcome, rows = maxDeals, deals_from: from = 0 }: Args) {
  const rowOf = (deal: Deal) =>
    outcome === 'open' ? openDealRow(deal, today()) : closedDealRow(deal, outcome);
  return { records: all.slice(from, from + rows).map(rowOf), from, total: all.length };
}

type Brief = PipelineBrief | ClosedBrief;

const isOpenBrief = (brief: Brief): brief is PipelineBrief => 'open' in brief;

function pipelineAnswer(
  brief: Brief,
  sections: Sections,
  { scope, deals, rows: asked, coverage, notes }: Shown,
): Answer {
  const { notes: ofBrief = [], ...figures } = brief;
  const kept = Object.entries(figures).filter(
    ([field]) => !isKeyOf(sectionOf, field) || sections.has(sectionOf[field]),
  );
  const { countByCurrency } = isOpenBrief(brief) ? brief.open : brief.closed;
  const isRanked = countByCurrency !== undefined && sections.has('groups') && !isInOrder(brief.by);
  const summary = [scope, ...summaryOf(brief, sections)];
  const write = (rows: number): Answer => {
    const records = deals?.records.slice(0, rows);
    const page = deals && records && pageOf(records.length, deals.from, deals.total);
    return {
      summary: join([...summary, page && listedWords(page, 'deals_from')], ' '),
      data: { ...limitLists(Object.fromEntries(kept), rows), records, page, coverage },
      notes: [...ofBrief, isRanked && rankedInCurrencies, ...notes],
    };
  };
  const count = deals ? deals.records.length : (asked ?? fewRows);
  return answerWithRows(count, write, deals && asked === undefined ? aim : undefined);
}

interface Shown {
  scope: Wording | false;
  /** Those that are listed, of all that the brief is about. */
  deals: ReturnType<typeof listDeals> | undefined;
  rows: number | undefined;
  coverage: Record<string, unknown>;
  notes: readonly (Wording | false)[];
}

function summaryOf(brief: Brief, sections: Sections): (Wording | false)[] {
  if (!isOpenBrief(brief)) return closedSummary(brief);
  return [
    openSummary(brief, sections),
    targetWords(brief),
    sections.has('closed') && wording`${closedCounts(brief.closed)}.`,
  ];
}

/** The figures of a target as a sentence. */
function targetWords({ target }: PipelineBrief): Wording | false {
  if (!target) return false;
  const { won, gap, coverage, overdue } = target;
  const isShort = Object.values(gap).some((amount) => amount > 0);
  const short = isShort
    ? wording`${formatAmounts(gap)} short of the target`
    : wording`target reached`;
  const cover =
    coverage !== undefined &&
    wording`, covered ${coverage} times by open deals (${formatAmounts(overdue)} of them overdue)`;
  return wording`${formatAmounts(won)} won: ${short}${cover}.`;
}

function openSummary({ open, overdue, stalled }: PipelineBrief, sections: Sections): Wording {
  const counts = [
    sections.has('overdue') && wording`${overdue.total} overdue`,
    sections.has('stalled') && wording`${stalled.total} stalled`,
  ];
  const more = counts.some(Boolean) && wording`: ${join(counts, ', ')}`;
  const worth =
    open.value !== undefined && wording`, total contract value ${formatAmounts(open.value)}`;
  return wording`${plural(open.count, 'open opportunity')}${worth}${more}.`;
}

function closedSummary({ closed, outcome }: ClosedBrief): (Wording | false)[] {
  const { value } = outcome === 'lost' ? closed.lost : closed.won;
  const ending = outcome === 'lost' ? 'Lost' : 'Won';
  const rate = closed.winRatePercent;
  return [
    wording`${closedCounts(closed)}.`,
    value !== undefined && wording`${ending}: total contract value ${formatAmounts(value)}.`,
    rate !== undefined && wording`Win rate ${rate} % by count.`,
  ];
}

/** Never says "0 won" or "0 lost" while deals are closed whose outcome is unknown. */
function closedCounts({ from, to, won, lost, outcomeUnknown }: ClosedPeriod): Wording {
  const isAll = outcomeUnknown === undefined;
  const counts = [
    (isAll || won.count > 0) && wording`${won.count} won`,
    (isAll || lost.count > 0) && wording`${lost.count} lost`,
    !isAll && wording`${outcomeUnknown.count} closed with unknown outcome`,
  ];
  return wording`${join(counts, ', ')} from ${trusted(from)} to ${trusted(to)}`;
}

/** In pages that a model could not read. */
export const pipelineDeals = defineTool({
  ...briefPipeline,
  name: 'cpq_pipeline_deals',
  title: 'Deals of the pipeline board',
  description: 'For views: the deals of the pipeline, page by page.',
  forView: true,
  output: { coverage: schemas.coverage },
  run: async (...call) => ({ ...(await briefPipeline.run(...call)), uncut: true }),
});
