import * as z from 'zod';
import { pipelineBy } from '../src/briefs/pipeline/pipeline-groups.ts';
import { utcDay } from '../src/figures/days.ts';
import { compact } from '../src/figures/naming.ts';
import { changesBetween, type Shown } from '../src/history/changes-between.ts';
import { type Period, readPeriod, type StatePair } from '../src/history/compare.ts';
import { openingDay, periodStarts } from '../src/history/period-start.ts';
import { type ChangeOptions, dealMovements } from '../src/history/pipeline-changes.ts';
import {
  compareQuotes,
  type QuoteChanges,
  type QuoteOptions,
  quoteMovements,
  readQuoteStates,
} from '../src/history/quote-changes.ts';
import { ignoreApiError } from '../src/service/errors.ts';
import type { ToolCall } from '../src/tenant/call.ts';
import { requireGrant } from '../src/tenant/grants.ts';
import { currenciesFor } from '../src/tenant/prepared.ts';
import { nameReferences, readCollections } from '../src/tenant/read-collections.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { type Wording, wording } from '../src/text/untrusted-text.ts';
import { toCoverage, today } from '../src/tool-kit/answers.ts';
import {
  coverage,
  day,
  dealFilterInput,
  defineTool,
  inOrder,
} from '../src/tool-kit/define-tool.ts';
import { resolveDealFilters } from '../src/tool-kit/name-filters.ts';
import {
  changesAnswer,
  historyIsOff,
  nothingToCompare,
} from '../src/tool-kit/pipeline-change-answers.ts';

const allMovements: readonly string[] = [...new Set([...dealMovements, ...quoteMovements])];
/** Quotes and deals have movements of their own; without a grouping the movement decides what is listed. */
const fits = (movement: string, by: string | undefined): boolean =>
  by === undefined || (by === 'quote' ? quoteMovements : dealMovements).includes(movement);
const listsQuotes = ({ by, movement }: Shown): boolean =>
  by === 'quote' ||
  (by === undefined && movement !== undefined && !dealMovements.includes(movement));
const isPeriodStart = (text: string): boolean => openingDay(text, today()) !== undefined;

export const pipelineChanges = defineTool({
  name: 'cpq_pipeline_changes',
  title: 'Changes of the pipeline',
  description:
    'Pipeline changes: opening value, new, won, lost, moved, closing value; slips, stage and owner changes, days in stage, conversion, forecast accuracy; quotes sent, accepted, repriced.',
  toolset: 'briefs',
  view: 'changes',
  needs: ['opportunity:read'],
  input: inOrder(
    z.strictObject({
      since: z
        .string()
        .max(40)
        .refine(isPeriodStart, `must be ${periodStarts}`)
        .default('7d')
        .describe('YYYY-MM-DD, 7d, monday, last_month'),
      until: day,
      by: z.enum([...pipelineBy, 'day', 'quote']).optional(),
      movement: z
        .string()
        .refine((text) => allMovements.includes(text), `must be one of ${allMovements.join(', ')}`)
        .optional()
        .describe('E.g. slipped'),
      ...dealFilterInput,
      min_value: z.number().optional(),
      rows: z.int().min(0).max(1_001).optional(),
    }),
    ['close_from', 'close_to'],
  )
    .refine(
      ({ since, until }) => until === undefined || (openingDay(since, today()) ?? '') < until,
      { path: ['since'], message: 'must not be after until' },
    )
    .refine(({ movement, by }) => movement === undefined || fits(movement, by), {
      path: ['movement'],
      message: `must be one of ${quoteMovements.join(', ')} with by: quote, and one of ${dealMovements.join(', ')} with any other by`,
    }),
  output: { coverage },
  async run(tenant, args, call) {
    const read = await readCollections(tenant, ['opportunity'], ['company'], call);
    const coverage = toCoverage(read.coverage);
    const history = await tenant.history('opportunity');
    if (!history) return historyIsOff(coverage);
    const requested = {
      opening: openingDay(args.since, today()) ?? today(),
      closing: args.until ?? today(),
    };
    const whole = await tenant.collection('opportunity', call);
    const present = whole.coverage.complete
      ? { day: utcDay(whole.asOf), takenAt: whole.asOf, records: whole.records }
      : undefined;
    const days = await history.days();
    const stored = await readPeriod(history, days, requested, present);
    if (!stored) return nothingToCompare(days, coverage);
    const named = await withNames(stored, (records) =>
      nameReferences(tenant, 'opportunity', records, read.records),
    );
    const states = { ...stored, ...named };
    const currencyOf = currenciesFor(tenant, read.records.company);
    const { filters, question } = resolveDealFilters(
      args,
      [...states.closing.records, ...states.opening.records],
      read.records.company,
      currencyOf,
      { coverage },
    );
    if (question) return question;
    const options: ChangeOptions = { ...filters, currencyOf };
    const quotes = await quotesBetween(tenant, requested, options, args, call);
    const changes = await changesBetween(states, options, args);
    const notes = [...quotes.notes, ...read.omitted];
    const sources = { requested, filters, states, days, coverage, notes };
    return changesAnswer(changes, quotes.changes, listsQuotes(args), sources);
  },
});

/** Snapshots have no names of other collections: what this caller may read of them is added. */
const withNames = async <T>(
  { opening, closing, isLive }: StatePair<T>,
  name: (records: readonly T[]) => Promise<readonly T[]>,
): Promise<StatePair<T>> => ({
  opening: { ...opening, records: await name(opening.records) },
  closing: { ...closing, records: await name(closing.records) },
  isLive,
});

interface QuotesBetween {
  /** Absent if there are not two states, or the quotes may not be read. */
  changes?: QuoteChanges;
  notes: Wording[];
}

/** The quotes of the period, where they are asked for or nothing else is. */
async function quotesBetween(
  tenant: Tenant,
  requested: Period,
  { owner, company, currency, currencyOf, ...others }: ChangeOptions,
  { by, movement, rows = 7 }: Shown,
  call: ToolCall,
): Promise<QuotesBetween> {
  const areListed = listsQuotes({ by, movement });
  if (!areListed && (by ?? movement ?? !tenant.grants.has('quote:read'))) return { notes: [] };
  requireGrant(tenant.grants, 'quote:read');
  if (Object.keys(others).length > 0) return { notes: areListed ? [onlyByOwner] : [] };
  const filters = compact({ owner, company, currency });
  const options = { ...filters, currencyOf, limit: areListed ? rows : 0, movement };
  const found = await readQuotes(tenant, requested, options, call);
  const isMissing = areListed && !found.changes && found.notes.length === 0;
  return isMissing ? { notes: [noQuotes] } : found;
}

/** Reads the quotes, if there is a snapshot to compare them with; unless they are read completely, snapshots are compared. */
async function readQuotes(
  tenant: Tenant,
  requested: Period,
  options: QuoteOptions,
  call: ToolCall,
): Promise<QuotesBetween> {
  const history = await tenant.history('quote');
  if (!history || (await history.days()).length === 0) return { notes: [] };
  const read = await readCollections(tenant, ['quote'], ['company'], call).catch(ignoreApiError());
  const present = read?.coverage.complete
    ? { takenAt: read.coverage.asOf, records: read.records.quote ?? [] }
    : undefined;
  const notes = present ? [] : [onlySnapshots];
  const stored = await readQuoteStates(history, requested, present);
  if (!stored) return { notes };
  const states = await withNames(stored, (quotes) =>
    nameReferences(tenant, 'quote', quotes, read?.records ?? {}),
  );
  return { changes: await compareQuotes(states, options), notes };
}

const onlySnapshots = wording`The quotes could not be read completely now: their last snapshot is compared.`;
const onlyByOwner = wording`Quotes can be filtered by owner, company and currency only.`;
const noQuotes = wording`There are no two states of the quotes to compare yet: a snapshot is made on each day on which all quotes are read.`;
