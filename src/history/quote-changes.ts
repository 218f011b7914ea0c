/** Quotes, as the comparison of two days sees them. Formulas: docs/definitions.md, "Changes of the quotes". */
import type { QuotesOptions } from '../briefs/quotes/quotes.ts';
import { type Day, dayOf, utcDay } from '../figures/days.ts';
import { compact } from '../figures/fields.ts';
import type { LimitedList } from '../figures/lists.ts';
import { type CurrencyOf, currencyOfRecord, decimal } from '../figures/money.ts';
import { namedQuote, quoteIdentity } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import {
  type Acceptance,
  acceptanceOf,
  statusCategoryOf,
  statusOfQuote,
} from '../figures/quote-state.ts';
import type { ResultOf } from '../figures/steps.ts';
import { refersTo } from '../names/name-filters.ts';
import type { Collection } from '../reading/coverage.ts';
import type { Quote } from '../service/records/records.ts';
import { forEachInSlices } from '../slices.ts';
import { type Period, readStates, type StatePair } from './compare.ts';
import type { QuoteHistory } from './history.ts';
import {
  arrow,
  type Change,
  compareRecords,
  dealEnds,
  type ListPart,
  type MovementRules,
  movedColumns,
  movedRows,
  type OpenTotal,
  type Pair,
  pairRecords,
  type Step,
  steps,
  type Valued,
} from './movements.ts';
import { isCreatedFrom } from './pipeline-changes.ts';
import { asStored, type PricedQuote, quoteSnapshots } from './snapshots.ts';

/** Steps that quotes do not have. */
const ofDealsOnly: readonly Step[] = ['movedIn', ...dealEnds, 'movedOut'];
export const quoteMovements: readonly string[] = [
  ...steps.filter((step) => !ofDealsOnly.includes(step)),
  'sent',
];

/** A quote on one day, with its first-year value. */
interface QuoteState extends Valued {
  record: PricedQuote;
  acceptance: Acceptance;
}

/** The currency by its code, or `unknown currency`. */
export type QuoteFilters = Pick<QuotesOptions, 'owner' | 'company' | 'currency'>;

/** The step by which a quote leaves, by its acceptance; undefined while it is open. */
const ends: Readonly<Record<Acceptance, Step | undefined>> = {
  draft: undefined,
  'open to acceptance': undefined,
  accepted: 'accepted',
  declined: 'declined',
  'past expiry': 'expired',
  other: 'otherStatus',
};

const quoteRules = (
  states: StatePair<PricedQuote>,
  { owner, company, currency }: QuoteFilters,
  currencyOf: CurrencyOf,
): MovementRules<PricedQuote, QuoteState, 'sent'> => {
  const since = states.opening.day;
  const matches = ({ record, currency: code }: QuoteState): boolean =>
    (!owner || refersTo(record.owner, owner)) &&
    (!company || refersTo(record.company, company)) &&
    (!currency || currency.name === code);
  return {
    moves: ['sent'],
    mayBeUnread: true,
    read: (record, at) => ({
      record,
      acceptance: acceptanceOf(record, states[at].day),
      currency: currencyOfRecord(record, currencyOf),
      value: decimal(record.firstYearValue),
    }),
    matches,
    endOf: ({ record, acceptance }) => (isDeleted(record) ? 'removed' : ends[acceptance]),
    wasOpenBetween(before, after) {
      // A quote without the day on which it was closed is not known to have been open.
      const end = endDay(after) ?? '';
      if (!before) return end > since || (end !== '' && isCreatedFrom(after.record, since));
      const isAnswer = after.acceptance === 'accepted' || after.acceptance === 'declined';
      return isAnswer && before.acceptance !== after.acceptance;
    },
    movesOf: (pair) => (pair.after && matches(pair.after) && isSent(pair, since) ? ['sent'] : []),
  };
};

/** Whether a quote was sent, or sent again, between the two days. */
function isSent({ before, after }: Pair<QuoteState>, opening: Day): boolean {
  if (!after || isDeleted(after.record)) return false;
  const sent = dayOf(after.record.sentAt);
  if (sent !== undefined && !before) return sent > opening || isCreatedFrom(after.record, opening);
  if (sent !== undefined) return sent > (dayOf(before?.record.sentAt) ?? '');
  const isFirst = !before || statusCategoryOf(before.record) === 'draft';
  return isFirst && statusCategoryOf(after.record) === 'sent';
}

/** The day on which a quote stopped being open; unknown where it has no such date. */
function endDay({ acceptance, record }: QuoteState): Day | undefined {
  if (acceptance === 'accepted') return dayOf(record.approvedAt);
  if (acceptance === 'declined') return dayOf(record.declinedAt);
  return acceptance === 'past expiry' ? dayOf(record.expiredAt ?? record.expiresAt) : undefined;
}

export type QuoteChanges = ResultOf<typeof quoteChanges>;

export interface QuoteOptions extends QuoteFilters, ListPart {
  currencyOf: CurrencyOf;
}

/**
 * Unless the quotes were read completely, their last snapshot is the end of the period.
 * @returns undefined if there are not two states of the quotes
 */
export async function readQuoteStates(
  history: QuoteHistory,
  requested: Period,
  present: Collection<Quote> | undefined,
): Promise<StatePair<PricedQuote> | undefined> {
  const records: PricedQuote[] = [];
  const read = present?.coverage.complete ? present : undefined;
  await forEachInSlices(read?.records ?? [], (quote) =>
    records.push(asStored(quoteSnapshots, quote)),
  );
  const now = read && { day: utcDay(read.asOf), takenAt: read.asOf, records };
  return readStates(history, await history.days(), requested, now);
}

/** The open quotes of two days, and what changed between them: opening, steps and closing; the quotes with a change. */
export function* quoteChanges(
  states: StatePair<PricedQuote>,
  { currencyOf, limit, from, only, ...filters }: QuoteOptions,
) {
  const rules = quoteRules(states, filters, currencyOf);
  const pairs = pairRecords(states.opening.records, states.closing.records);
  const { rows, moves, changes } = yield* compareRecords(pairs, rules);
  const quotes: LimitedList<ReturnType<typeof toRow>> = yield* movedRows(
    changes,
    { nameOf: ({ record }) => namedQuote(record), toRow },
    { limit, from, only },
  );
  return {
    states,
    rows: rows.map(({ step, ...row }) => ({ step, ...figuresOf(row) })),
    moves: moves.map(({ move, ...row }) => ({ move, ...figuresOf(row) })),
    quotes,
  };
}

const figuresOf = ({ count, value, unknownValue }: OpenTotal) =>
  compact({ count, firstYearValue: value, unknownValue });

/** `firstYearValue` at the end; texts with an arrow are "before → after". */
function toRow(change: Change<QuoteState, 'sent'>) {
  const { before, after } = change;
  const { record = {} }: Partial<QuoteState> = after ?? before ?? {};
  const { company, owner, movement, value, currency, valueChange } = movedColumns(change);
  const shown = (read: (quote: Quote) => string | undefined) =>
    arrow(before?.record, after?.record, read);
  return compact({
    ...quoteIdentity(record),
    company,
    owner,
    movement,
    firstYearValue: value,
    currency,
    valueChange,
    status: shown(statusOfQuote),
    sent: shown(({ sentAt }) => dayOf(sentAt)),
    expires: shown(({ expiresAt }) => dayOf(expiresAt)),
  });
}
