/** Quotes, as the comparison of two days sees them. Formulas: docs/definitions.md, "Changes of the quotes". */
import { type Day, dayOf, utcDay } from '../figures/days.ts';
import { type Amounts, type CurrencyOf, currencyOfRecord, decimal } from '../figures/money.ts';
import { compact, type LimitedList, type Named, nonBlank, quoteName } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import {
  type Acceptance,
  acceptanceOf,
  statusCategoryOf,
  statusOfQuote,
} from '../figures/quote-state.ts';
import type { Steps } from '../figures/steps.ts';
import { refersTo } from '../names/name-filters.ts';
import type { Quote } from '../service/records/records.ts';
import { forEachInSlices, runInSlices } from '../slices.ts';
import { type Period, readStates, type StatePair } from './compare.ts';
import { totalsByDay } from './figures.ts';
import type { QuoteHistory, Snapshot } from './history.ts';
import {
  arrow,
  type Change,
  compareRecords,
  type MovedColumns,
  type MovementRules,
  movedRows,
  moveRows,
  OpenSum,
  type OpenTotal,
  type Pair,
  pairRecords,
  type Step,
  stepRows,
  type Valued,
} from './movements.ts';
import { asStored, type PricedQuote } from './snapshot-columns.ts';

/** The steps of quotes, in the order in which they are shown. */
const quoteSteps = [
  'new',
  'reopened',
  'transferredIn',
  'valueUp',
  'valueDown',
  'valueKnown',
  'currencyChanged',
  'accepted',
  'declined',
  'expired',
  'otherStatus',
  'removed',
  'transferredOut',
] as const satisfies Step[];

export const quoteMovements = [...quoteSteps, 'sent'] as const;
export type QuoteMovement = (typeof quoteMovements)[number];

/** A quote on one day, with its first-year value. */
interface QuoteState extends Valued {
  record: PricedQuote;
  acceptance: Acceptance;
}

export interface QuoteFilters {
  owner?: Named;
  company?: Named;
  /** By its code, or `unknown currency`. */
  currency?: Named;
}

function toQuoteState(record: PricedQuote, day: Day, currencyOf: CurrencyOf): QuoteState {
  return {
    record,
    acceptance: acceptanceOf(record, day),
    currency: currencyOfRecord(record, currencyOf),
    value: decimal(record.firstYearValue),
  };
}

/** The step by which a quote leaves, by its acceptance; undefined while it is open. */
const ends: Readonly<Record<Acceptance, Step | undefined>> = {
  draft: undefined,
  'open to acceptance': undefined,
  accepted: 'accepted',
  declined: 'declined',
  'past expiry': 'expired',
  other: 'otherStatus',
};

const isOpenState = ({ acceptance }: QuoteState): boolean => ends[acceptance] === undefined;

/** The quotes of some filters. */
const quoteRules = (
  days: { opening: Day; closing: Day },
  { owner, company, currency }: QuoteFilters,
  currencyOf: CurrencyOf,
): MovementRules<PricedQuote, QuoteState, 'sent'> => {
  const matches = ({ record, currency: code }: QuoteState): boolean =>
    (!owner || refersTo(record.owner, owner)) &&
    (!company || refersTo(record.company, company)) &&
    (!currency || currency.name === code);
  return {
    mayBeUnread: true,
    read: (record, day) => toQuoteState(record, days[day], currencyOf),
    isOpen: isOpenState,
    matches,
    endOf: ({ record, acceptance }) => (isDeleted(record) ? undefined : ends[acceptance]),
    wasOpenBetween(before, after) {
      // A quote without the day on which it was closed is not known to have been open.
      if (!before) return (endDay(after) ?? '') > days.opening;
      const isAnswer = after.acceptance === 'accepted' || after.acceptance === 'declined';
      return isAnswer && before.acceptance !== after.acceptance;
    },
    isOutsidePeriod: () => false,
    /** Whether a quote was sent, or sent again, between the two days. */
    movesOf({ before, after }) {
      if (!after || !matches(after) || isDeleted(after.record)) return [];
      const sent = dayOf(after.record.sentAt);
      const known = before ? dayOf(before.record.sentAt) : days.opening;
      const isSent = sent === undefined ? isSentFirst(before, after) : sent > (known ?? '');
      return isSent ? ['sent'] : [];
    },
  };
};

const isSentFirst = (before: QuoteState | undefined, after: QuoteState): boolean =>
  statusCategoryOf(after.record) === 'sent' &&
  (!before || statusCategoryOf(before.record) === 'draft');

/** The day on which a quote stopped being open; unknown where it has no such date. */
function endDay({ acceptance, record }: QuoteState): Day | undefined {
  if (acceptance === 'accepted') return dayOf(record.approvedAt);
  if (acceptance === 'declined') return dayOf(record.declinedAt);
  return acceptance === 'past expiry' ? dayOf(record.expiredAt ?? record.expiresAt) : undefined;
}

interface QuoteStepRow {
  step: QuoteMovement | 'opening' | 'closing';
  count: number;
  firstYearValue?: Amounts;
  /** Quotes of unknown value. */
  unknownValue?: number;
}

/** `firstYearValue` at the end; texts with an arrow are "before → after". */
interface QuoteChangeRow extends Omit<MovedColumns<'sent'>, 'value'> {
  number?: string;
  name?: string;
  firstYearValue?: number;
  status?: string;
  sent?: string;
  expires?: string;
}

/** The open quotes of two days, and what changed between them. */
export interface QuoteChanges {
  states: StatePair<PricedQuote>;
  /** Opening, steps and closing. */
  rows: QuoteStepRow[];
  moves?: { move: 'sent'; count: number; firstYearValue?: Amounts }[] | undefined;
  quotes: LimitedList<QuoteChangeRow>;
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
  const records: PricedQuote[] = [];
  await forEachInSlices(present?.records ?? [], (quote) => records.push(asStored(quote)));
  const now = present && { ...present, day: utcDay(present.takenAt), records };
  return readStates(history.reader(), await history.days(), requested, now);
}

export async function compareQuotes(
  states: StatePair<PricedQuote>,
  options: QuoteOptions,
): Promise<QuoteChanges> {
  const { opening, closing } = states;
  const pairs = pairRecords(opening.records, closing.records);
  const days = { opening: opening.day, closing: closing.day };
  return { states, ...(await runInSlices(quoteChanges(pairs, days, options))) };
}

export function* quoteChanges(
  pairs: Iterable<Pair<PricedQuote>>,
  days: { opening: Day; closing: Day },
  { currencyOf, limit, movement, ...filters }: QuoteOptions,
): Steps<Omit<QuoteChanges, 'states'>> {
  const rules = quoteRules(days, filters, currencyOf);
  const { opening, closing, changes } = yield* compareRecords(pairs, rules);
  const steps = yield* stepRows(quoteSteps, changes);
  const sent = yield* moveRows(['sent'], changes);
  const moves = sent.map(({ move, ...row }) => ({ move, ...figuresOf(row) }));
  return {
    rows: [
      { step: 'opening', ...figuresOf(opening) },
      ...steps.map(({ step, ...row }) => ({ step, ...figuresOf(row) })),
      { step: 'closing', ...figuresOf(closing) },
    ],
    moves: moves.length > 0 ? moves : undefined,
    quotes: yield* movedRows(changes, { nameOf, toRow }, limit, movement),
  };
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

const figuresOf = ({ count, value, unknownValue }: OpenTotal) =>
  compact({ count, firstYearValue: value, unknownValue });

const nameOf = ({ record }: QuoteState): Named =>
  compact({ id: nonBlank(record.id), name: quoteName(record) });

function toRow(
  { before, after }: Change<QuoteState, 'sent'>,
  { id, company, owner, movement, value, currency, valueChange }: MovedColumns<'sent'>,
): QuoteChangeRow {
  const { record = {} } = after ?? before ?? {};
  const shown = (read: (quote: Quote) => string | undefined) =>
    arrow(before?.record, after?.record, read);
  return compact({
    id,
    number: nonBlank(record.number),
    name: nonBlank(record.title) ?? nonBlank(record.name),
    company,
    owner,
    movement,
    firstYearValue: value,
    currency,
    valueChange: before?.value && after?.value ? valueChange : undefined,
    status: shown(statusOfQuote),
    sent: shown(({ sentAt }) => dayOf(sentAt)),
    expires: shown(({ expiresAt }) => dayOf(expiresAt)),
  });
}
