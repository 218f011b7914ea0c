/** The quotes of a period, compared in slices. */
import { type Day, utcDay } from '../figures/days.ts';
import type { CurrencyOf } from '../figures/money.ts';
import type { Quote } from '../service/records/records.ts';
import { forEachInSlices, runInSlices } from '../slices.ts';
import { type Period, readStates, type StatePair } from './compare.ts';
import { compareStates, totalsByDay } from './figures.ts';
import type { QuoteHistory, Snapshot } from './history.ts';
import { OpenSum, type OpenTotal } from './movements.ts';
import {
  isOpenState,
  type PricedQuote,
  type QuoteChanges,
  type QuoteFilters,
  type QuoteMovement,
  QuoteRules,
  quoteChanges,
  toQuoteState,
} from './quote-changes.ts';
import { asStored } from './snapshot-columns.ts';

/** The two states of the quotes, and what changed between them. */
export interface ComparedQuotes {
  states: StatePair<PricedQuote>;
  changes: QuoteChanges;
}

export interface QuoteOptions extends QuoteFilters {
  currencyOf: CurrencyOf;
  /** Of the list of quotes. */
  limit: number;
  /** Only quotes with this movement are listed. */
  movement: QuoteMovement | undefined;
}

/** @returns undefined if there are not two states of the quotes */
export async function readQuoteStates(
  history: QuoteHistory,
  requested: Period,
  present: Snapshot<Quote> | undefined,
): Promise<StatePair<PricedQuote> | undefined> {
  const now = present && (await presentState(present));
  return readStates(history.reader(), await history.days(), requested, now);
}

export async function compareQuotes(
  states: StatePair<PricedQuote>,
  { currencyOf, limit, movement, ...filters }: QuoteOptions,
): Promise<ComparedQuotes> {
  const days = { opening: states.opening.day, closing: states.closing.day };
  const compared = await compareStates(states, new QuoteRules(days, filters, currencyOf));
  return { states, changes: await runInSlices(quoteChanges(compared, limit, movement)) };
}

async function presentState({ takenAt, records }: Snapshot<Quote>) {
  const stored: PricedQuote[] = [];
  await forEachInSlices(records, (quote) => stored.push(asStored(quote)));
  return { day: utcDay(takenAt), takenAt, records: stored };
}

/** The open quotes at the end of each day that has a snapshot; with very many quotes, of evenly spread days only. */
export const openQuotesByDay = async (
  history: QuoteHistory,
  currencyOf: CurrencyOf,
): Promise<Map<Day, OpenTotal>> =>
  totalsByDay(history, await history.days(), async (day, { records }) => {
    const sum = new OpenSum();
    await forEachInSlices(records, (quote) => {
      const state = toQuoteState(quote, day, currencyOf);
      if (isOpenState(state)) sum.add(state);
    });
    return sum.toTotal();
  });
