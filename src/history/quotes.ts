/** The quotes of a period, compared in slices. */

import { type Day, utcDay } from '../figures/days.ts';
import type { CurrencyOf } from '../figures/money.ts';
import { type ApiError, isApiError } from '../service/errors.ts';
import type { Quote } from '../service/records/records.ts';
import { forEachInSlices, runInSlices } from '../slices.ts';
import type { ToolCall } from '../tenant/call.ts';
import { readCollections } from '../tenant/read-collections.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { type Wording, wording } from '../text/untrusted-text.ts';
import { firstReadable, type Period, readStates, type StatePair, spreadEvenly } from './compare.ts';
import type { QuoteHistory, Snapshot } from './history.ts';
import { type PipelineTotal, pairRecords } from './pipeline-changes.ts';
import {
  OpenQuotesSum,
  type PricedQuote,
  type QuoteChanges,
  QuoteComparison,
  type QuoteFilters,
  type QuoteMovement,
} from './quote-changes.ts';
import { asStored } from './snapshot-columns.ts';

/** The two states of the quotes, and what changed between them. */
export interface ComparedQuotes {
  states: StatePair<PricedQuote>;
  changes: QuoteChanges;
}

interface QuoteOptions extends QuoteFilters {
  currencyOf: CurrencyOf;
  /** Of the list of quotes. */
  limit: number;
  /** Only quotes with this movement are listed. */
  movement: QuoteMovement | undefined;
}

/**
 * The quotes of a period, which are read only if there is a snapshot to compare them with; where they cannot be read
 * completely now, snapshots are compared.
 * @returns without `compared` if there are not two states, or the quotes may not be read
 * @throws the signal's reason when the call was cancelled
 */
export async function readQuoteChanges(
  tenant: Tenant,
  requested: Period,
  options: QuoteOptions,
  call: ToolCall,
): Promise<{ compared?: ComparedQuotes | undefined; notes: Wording[] }> {
  const history = await tenant.quoteHistory();
  if (!history || (await history.days()).length === 0) return { notes: [] };
  const read = await readCollections(tenant, ['quote'], ['company'], call).catch(refusal);
  if (isApiError(read, 'not-permitted', 'no-route', 'key-refused'))
    return { notes: [wording`Without quote records: they may not be read here.`] };
  const isWhole = !isApiError(read) && read.coverage.complete;
  const present = isWhole
    ? { takenAt: read.coverage.asOf, records: read.records.quote ?? [] }
    : undefined;
  const compared = await compareQuotes(history, requested, present, options);
  const notes = isWhole
    ? []
    : [wording`The quotes could not be read completely now: their last snapshot is compared.`];
  return { compared, notes };
}

/** An error of the service; any other one is rethrown. */
function refusal(error: unknown): ApiError {
  if (isApiError(error)) return error;
  throw error;
}

/** @returns undefined if there are not two states of the quotes */
export async function compareQuotes(
  history: QuoteHistory,
  requested: Period,
  present: Snapshot<Quote> | undefined,
  { currencyOf, limit, movement, ...filters }: QuoteOptions,
): Promise<ComparedQuotes | undefined> {
  const now = present && (await presentState(present));
  const states = await readStates(history.reader(), await history.days(), requested, now);
  if (!states) return undefined;
  const days = { opening: states.opening.day, closing: states.closing.day };
  const comparison = new QuoteComparison(days, filters, currencyOf);
  const pairs = pairRecords(states.opening.records, states.closing.records);
  await forEachInSlices(pairs, (pair) => comparison.add(pair));
  return { states, changes: await runInSlices(comparison.result(limit, movement)) };
}

async function presentState({ takenAt, records }: Snapshot<Quote>) {
  const stored: PricedQuote[] = [];
  await forEachInSlices(records, (quote) => stored.push(asStored(quote)));
  return { day: utcDay(takenAt), takenAt, records: stored };
}

/** Quotes that are added up: more would take longer than a call may. */
const maxQuotesAdded = 2_000_000;

/** The open quotes at the end of each day that has a snapshot; with very many quotes, of evenly spread days only. */
export async function openQuotesByDay(
  history: QuoteHistory,
  currencyOf: CurrencyOf,
): Promise<Map<Day, PipelineTotal>> {
  const reader = history.reader();
  const days = await history.days();
  const last = await firstReadable(reader, [...days].reverse());
  const limit = Math.floor(maxQuotesAdded / Math.max(1, last?.records.length ?? 0));
  const totals = new Map<Day, PipelineTotal>();
  for (const day of spreadEvenly(days, limit)) {
    const snapshot = await reader.read(day);
    if (!snapshot) continue;
    const sum = new OpenQuotesSum(day, currencyOf);
    await forEachInSlices(snapshot.records, (quote) => sum.add(quote));
    totals.set(day, sum.toTotal());
  }
  return totals;
}
