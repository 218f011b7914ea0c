import * as z from 'zod';
import {
  hasClosePeriod,
  lacksCloseDate,
  passesFilters,
  withoutCloseDateNote,
} from '../src/briefs/pipeline/pipeline.ts';
import { pipelineBy } from '../src/briefs/pipeline/pipeline-groups.ts';
import { restsOn } from '../src/briefs/rests-on.ts';
import { utcDay } from '../src/figures/days.ts';
import { compact } from '../src/figures/fields.ts';
import { currencyOfRecord } from '../src/figures/money.ts';
import { filterSteps } from '../src/figures/steps.ts';
import { changesBetween, isWhole, maxListed, type Shown } from '../src/history/changes-between.ts';
import { type Period, readPeriod, type StatePair } from '../src/history/compare.ts';
import { namedPeriod, periodStarts } from '../src/history/period-start.ts';
import { type ChangeOptions, dealMovements, periodDeals } from '../src/history/pipeline-changes.ts';
import { quoteChanges, quoteMovements, readQuoteStates } from '../src/history/quote-changes.ts';
import { ignoreApiError } from '../src/service/errors.ts';
import { runInSlices } from '../src/slices.ts';
import { requireGrant } from '../src/tenant/grants.ts';
import { companiesOfQuotes, currenciesFor, readDeals } from '../src/tenant/prepared.ts';
import { nameReferences, readCollections } from '../src/tenant/read-collections.ts';
import type { Tenant, ToolCall } from '../src/tenant/tenant.ts';
import { wording } from '../src/text/untrusted-text.ts';
import { describeNoDeals, toCoverage, today } from '../src/tool-kit/answers.ts';
import { type Answer, defineTool } from '../src/tool-kit/define-tool.ts';
import { resolveDealFilters, resolveFilters } from '../src/tool-kit/name-filters.ts';
import {
  changesAnswer,
  historyIsOff,
  nothingToCompare,
  quoteChangesAnswer,
} from '../src/tool-kit/pipeline-change-answers.ts';
import * as schemas from '../src/tool-kit/schemas.ts';
import { isOneOf } from '../src/values.ts';

const allMovements: readonly string[] = [...new Set([...dealMovements, ...quoteMovements])];
const areKnown = (movement: readonly string[]) =>
  movement.every((one) => allMovements.includes(one));
/** Quotes and deals have movements of their own; without a grouping the movements decide what is listed. */
const fits = (movement: readonly string[], by: string | undefined): boolean =>
  !areKnown(movement) ||
  (by === undefined
    ? [dealMovements, quoteMovements]
    : [by === 'quote' ? quoteMovements : dealMovements]
  ).some((known) => movement.every((one) => known.includes(one)));
/** Whether the answer is about quotes alone. */
const listsQuotes = ({ by, movement }: Shown): boolean =>
  by === 'quote' ||
  (by === undefined &&
    movement !== undefined &&
    !movement.every((one) => dealMovements.includes(one)));
const periodOf = ({ since, until }: { since: string; until?: string | undefined }): Period => {
  const { opening, closing = today() } = namedPeriod(since, today()) ?? { opening: today() };
  return { opening, closing: until ?? closing };
};

/** Filters that quotes do not have. */
const dealsOnly = ['stage', 'category', 'source', 'close_from', 'close_to', 'min_value'] as const;

type QuoteArgs = Shown & { [F in 'owner' | 'company' | 'currency']?: string | undefined };

export const pipelineChanges = defineTool({
  name: 'cpq_pipeline_changes',
  title: 'Changes of the pipeline',
  description:
    'Pipeline changes: opening value, new, won, lost, moved, closing value; pushes, stage and owner changes, days in stage, conversion, won of expected; quotes sent, accepted, repriced.',
  toolset: 'briefs',
  view: 'changes',
  needs: ['opportunity:read'],
  input: schemas
    .inOrder(
      z.strictObject({
        since: z
          .string()
          .max(40)
          .refine((text) => namedPeriod(text, today()) !== undefined, `must be ${periodStarts}`)
          .default('7d')
          .describe('YYYY-MM-DD, 7d, monday, last_month'),
        until: schemas.day,
        by: z.enum([...pipelineBy, 'day', 'quote']).optional(),
        movement: z
          .string()
          .transform((text) => text.split(/[,|]/).map((one) => one.trim()))
          .refine(areKnown, `must be some of ${allMovements.join(', ')}`)
          .optional()
          .describe('E.g. won,slipped'),
        pushes: z.int().min(1).optional().describe('At least so often'),
        ...schemas.dealFilterInput,
        min_value: z.number().optional(),
        from: z.int().min(0).optional(),
        rows: z.int().min(0).max(1_001).optional(),
      }),
      ['close_from', 'close_to'],
    )
    .refine(({ since, until = today() }) => (namedPeriod(since, today())?.opening ?? '') < until, {
      path: ['since'],
      message: 'must not be after until, which is today unless it is given',
    })
    .refine(({ movement, by }) => movement === undefined || fits(movement, by), {
      path: ['movement'],
      message: `must be one of ${quoteMovements.join(', ')} with by: quote, and one of ${dealMovements.join(', ')} with any other by`,
    })
    .refine(
      ({ pushes, movement, by }) => !(pushes && (movement || isOneOf(['day', 'quote'], by))),
      {
        path: ['pushes'],
        message: 'must be left out with movement, and with by: day or by: quote',
      },
    )
    .superRefine((args, context) => {
      const name = listsQuotes(args) && dealsOnly.find((each) => args[each] !== undefined);
      const message = 'must be left out: quotes can be filtered by owner, company and currency';
      if (name) context.addIssue({ code: 'custom', path: [name], message });
    }),
  output: { coverage: schemas.coverage },
  async run(tenant, args, call) {
    const requested = periodOf(args);
    if (listsQuotes(args)) return changesOfQuotes(tenant, requested, args, call);
    const read = await readDeals(tenant, call);
    const coverage = toCoverage(read.coverage);
    const history = await tenant.history('opportunity');
    if (!history) return historyIsOff(coverage);
    const whole = await tenant.collection('opportunity', call);
    const present = whole.coverage.complete
      ? { day: utcDay(whole.asOf), takenAt: whole.asOf, records: whole.records.filter(hasId) }
      : undefined;
    const days = await history.days();
    const stored = await readPeriod(history, days, requested, present);
    if (!stored) return nothingToCompare('opportunities', days, coverage, requested);
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
      coverage,
    );
    if (question) return question;
    const options: ChangeOptions = { ...filters, currencyOf };
    const quotes = isWhole(args)
      ? await mainQuoteChanges(tenant, requested, options, call)
      : undefined;
    const changes = await changesBetween(states, options, args);
    const readDeal = periodDeals(states, currencyOf);
    const undated = await runInSlices(
      filterSteps(hasClosePeriod(filters) ? states.closing.records : [], (record) => {
        const deal = readDeal(record);
        return passesFilters(deal, filters) && lacksCloseDate(deal, filters);
      }),
    );
    const notes = [
      describeNoDeals(read.records.opportunity ?? []),
      withoutCloseDateNote(undated.length),
      ...(quotes?.notes ?? []),
      ...read.omitted,
    ];
    const sources = { requested, filters, states, days, coverage, notes, asked: args };
    return changesAnswer(changes, quotes?.changes, sources);
  },
});

/** Others cannot be followed, and snapshots have none. */
const hasId = ({ id }: { id?: string }): boolean => Boolean(id);

/** Snapshots have no names of other collections: what this caller may read of them is added. */
const withNames = async <T>(
  { opening, closing, isLive }: StatePair<T>,
  name: (records: readonly T[]) => Promise<readonly T[]>,
): Promise<StatePair<T>> => ({
  opening: { ...opening, records: await name(opening.records) },
  closing: { ...closing, records: await name(closing.records) },
  isLive,
});

/** The quotes of the period beside the deals, where they may be read and there are two states of them. */
async function mainQuoteChanges(
  tenant: Tenant,
  requested: Period,
  { owner, company, currency, currencyOf, ...others }: ChangeOptions,
  call: ToolCall,
) {
  if (!tenant.grants.has('quote:read') || Object.keys(others).length > 0) return undefined;
  const history = await tenant.history('quote');
  if (!history || (await history.days()).length === 0) return undefined;
  const quotes = await tenant.collection('quote', call).catch(ignoreApiError());
  const notes = quotes?.coverage.complete ? [] : [onlySnapshots];
  const states = await readQuoteStates(history, requested, quotes);
  if (!states) return { notes };
  const filters = compact({ owner, company, currency });
  const counted = quoteChanges(states, { ...filters, currencyOf, limit: 0 });
  return { changes: await runInSlices(counted), notes };
}

/** The answer about quotes alone, for which no deal is read. */
async function changesOfQuotes(
  tenant: Tenant,
  requested: Period,
  asked: QuoteArgs,
  call: ToolCall,
): Promise<Answer> {
  requireGrant(tenant.grants, 'quote:read');
  const { company, movement: only, rows, from } = asked;
  const history = await tenant.history('quote');
  const days = (await history?.days()) ?? [];
  const reading = tenant.collection('quote', call);
  const stored = reading.then((quotes) => history && readQuoteStates(history, requested, quotes));
  const compared = stored.then((states) => states && bothStates(states));
  const read = await readCollections(
    tenant,
    ['quote'],
    ['company'],
    call,
    restsOn.quotes,
    async (resource) =>
      resource === 'company'
        ? companiesOfQuotes(tenant, (await compared) ?? [], company !== undefined, call)
        : undefined,
  );
  const coverage = toCoverage(read.coverage);
  if (!history) return historyIsOff(coverage);
  const unnamed = await stored;
  if (!unnamed) return nothingToCompare('quotes', days, coverage, requested);
  const states = await withNames(unnamed, (quotes) =>
    nameReferences(tenant, 'quote', quotes, read.records),
  );
  const currencyOf = currenciesFor(tenant, read.records.company);
  const quotes = bothStates(states);
  const { filters, question } = resolveFilters(
    asked,
    {
      owner: () => quotes.map((each) => each.owner),
      company: () => [...(read.records.company ?? []), ...quotes.map((each) => each.company)],
      currency: () => quotes.map((each) => ({ name: currencyOfRecord(each, currencyOf) })),
    },
    coverage,
  );
  if (question) return question;
  const part = { limit: rows ?? maxListed, only, from };
  const changes = await runInSlices(quoteChanges(states, { ...filters, currencyOf, ...part }));
  const isWholeReading = (await reading).coverage.complete;
  const notes = [!isWholeReading && onlySnapshots, ...read.omitted];
  return quoteChangesAnswer(changes, { requested, filters, days, coverage, notes, asked });
}

const bothStates = <T>({ opening, closing }: StatePair<T>): readonly T[] => [
  ...closing.records,
  ...opening.records,
];

const onlySnapshots = wording`The quotes could not be read completely now: their last snapshot is compared.`;
