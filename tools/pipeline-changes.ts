import * as z from 'zod';
import { toDeal } from '../src/briefs/deals.ts';
import { forecastAccuracy } from '../src/briefs/forecast-accuracy.ts';
import { currenciesOf } from '../src/briefs/money.ts';
import { compact } from '../src/briefs/naming.ts';
import { openingDay, periodStarts } from '../src/briefs/period-start.ts';
import { passesFilters } from '../src/briefs/pipeline.ts';
import { changeGroups } from '../src/briefs/pipeline-change-groups.ts';
import { changeRows } from '../src/briefs/pipeline-change-rows.ts';
import { stageRows } from '../src/briefs/pipeline-change-series.ts';
import {
  type ChangeOptions,
  compareStates,
  type Movement,
  moveRows,
  moves,
  scopeOf,
  stepRows,
  steps,
} from '../src/briefs/pipeline-changes.ts';
import { type PipelineBy, pipelineBy } from '../src/briefs/pipeline-groups.ts';
import type { Opportunity } from '../src/records/records.ts';
import { type PeriodStates, readPeriod } from '../src/tenant/history/compare.ts';
import { dailyTotals } from '../src/tenant/history/daily-totals.ts';
import { readCollections } from '../src/tenant/read-collections.ts';
import { toCoverage, today } from '../src/tool-kit/answers.ts';
import {
  answerFields,
  coverage,
  day,
  defineTool,
  inOrder,
  nameFilter,
  plainDay,
  readOnlyHints,
} from '../src/tool-kit/define-tool.ts';
import { dealReferences, resolveFilters } from '../src/tool-kit/name-filters.ts';
import {
  changesAnswer,
  historyIsOff,
  nothingToCompare,
  type PipelineChanges,
} from '../src/tool-kit/pipeline-change-answers.ts';
import { isOneOf } from '../src/values.ts';

const movements: readonly Movement[] = [...steps, ...moves];
const isPeriodStart = (text: string): boolean => openingDay(text, today()) !== undefined;

export const pipelineChanges = defineTool({
  name: 'cpq_pipeline_changes',
  title: 'Changes of the pipeline',
  description:
    'Pipeline changes: opening value, new, won, lost, moved, closing value; slips, stage and owner changes, days in stage, conversion, forecast accuracy.',
  toolset: 'briefs',
  needs: ['opportunity:read'],
  hints: readOnlyHints,
  input: inOrder(
    z.strictObject({
      since: z
        .string()
        .max(40)
        .refine(isPeriodStart, `must be ${periodStarts}`)
        .default('7d')
        .describe('YYYY-MM-DD, 7d, monday, last_month'),
      until: day,
      by: z.enum([...pipelineBy, 'day']).optional(),
      movement: z
        .string()
        .refine((text) => isOneOf(movements, text), `must be one of ${movements.join(', ')}`)
        .optional()
        .describe('E.g. slipped'),
      owner: nameFilter,
      company: nameFilter,
      stage: nameFilter,
      category: nameFilter,
      source: nameFilter,
      close_from: plainDay,
      close_to: plainDay,
      min_value: z.number().optional(),
      rows: z.int().min(0).max(1_001).optional(),
    }),
    ['close_from', 'close_to'],
  ).refine(
    ({ since, until }) => until === undefined || (openingDay(since, today()) ?? '') < until,
    {
      path: ['since'],
      message: 'must not be after until',
    },
  ),
  output: z.looseObject({ ...answerFields, coverage }),
  async run(tenant, args, call) {
    const read = await readCollections(tenant, ['opportunity'], ['company'], call);
    const coverage = toCoverage(read.coverage);
    const history = await tenant.history();
    if (!history) return historyIsOff(coverage);
    const wanted = {
      opening: openingDay(args.since, today()) ?? today(),
      closing: args.until ?? today(),
    };
    const present = read.coverage.complete
      ? presentState(read.coverage.asOf, read.records.opportunity)
      : undefined;
    const keptDays = await history.days();
    const states = await readPeriod(tenant, history, keptDays, wanted, present);
    const kept = { first: keptDays[0], count: keptDays.length };
    if (!states) return nothingToCompare(kept, coverage);
    const { owner, company, stage, category, source } = args;
    const { filters, question } = resolveFilters(
      { owner, company, stage, category, source },
      dealReferences([...states.closing.records, ...states.opening.records], read.records.company),
      { coverage },
    );
    if (question) return question;
    const options: ChangeOptions = {
      ...filters,
      ...compact({
        closeFrom: args.close_from,
        closeTo: args.close_to,
        minValue: args.min_value,
      }),
      currencyOf: currenciesOf(read.records.company ?? []),
    };
    const days =
      args.by === 'day'
        ? await dailyTotals(states, options, Math.max(2, args.rows ?? defaultDays))
        : undefined;
    const changes = changesBetween(states, options, args);
    return changesAnswer(days ? { ...changes, days } : changes, {
      wanted,
      states,
      kept,
      isLive: states.closing === present,
      coverage,
      notes: read.omitted,
    });
  },
});

const presentState = (takenAt: Date, records: readonly Opportunity[] = []) => ({
  day: takenAt.toISOString().slice(0, 10),
  takenAt,
  records,
});

interface Shown {
  by?: PipelineBy | 'day' | undefined;
  movement?: string | undefined;
  rows?: number | undefined;
}

const maxGroups = 8;
const defaultDays = 12;
const dealsWithGroups = 3;

/** Groups, or the deals of one movement, take the place of what was not asked for. */
function changesBetween(
  { opening, closing, series, monthBefore }: PeriodStates,
  options: ChangeOptions,
  { by, movement, rows }: Shown,
): PipelineChanges {
  const { changes, order, ...totals } = compareStates(opening, closing, options);
  const only = movements.find((known) => known === movement);
  const isWhole = by === undefined && only === undefined;
  const exits = series.exits.filter(({ deal }) => passes(deal, options));
  const forecast = monthBefore && forecastAccuracy(monthBefore, closing, options);
  return {
    ...totals,
    steps: stepRows(changes),
    moves: moveRows(changes),
    groups: by && by !== 'day' ? changeGroups(changes, by, scopeOf(options), maxGroups) : undefined,
    deals: changeRows(changes, series, dealsShown({ by, movement, rows }), only),
    ...(isWhole ? { stages: stageRows(exits, order) } : {}),
    ...(isWhole && forecast ? { forecast: { since: monthBefore.day, rows: forecast } } : {}),
  };
}

function dealsShown({ by, movement, rows }: Shown): number {
  if (by === 'day') return 0;
  return rows ?? (by ? dealsWithGroups : movement ? 10 : 6);
}

/** The filters that apply to a deal in any stage. */
const passes = (record: Opportunity, options: ChangeOptions): boolean =>
  passesFilters(toDeal(record, options.currencyOf, 'unknown'), options);
