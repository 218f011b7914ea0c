/** Quotes, as the comparison of two days sees them. Formulas: docs/definitions.md, "Changes of the quotes". */
import { type Day, dayOf } from '../figures/days.ts';
import {
  type Amounts,
  type CurrencyOf,
  currencyOfRecord,
  decimal,
  rounded,
} from '../figures/money.ts';
import { compact, type LimitedList, type Named, nonBlank, quoteName } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import {
  type Acceptance,
  acceptanceOf,
  statusCategoryOf,
  statusOfQuote,
} from '../figures/quote-state.ts';
import { firstYearValue, sumQuote, termTotals } from '../figures/quote-totals.ts';
import type { Steps } from '../figures/steps.ts';
import { refersTo } from '../names/name-filters.ts';
import type { Quote } from '../service/records/records.ts';
import { arrow, type MovedColumns, movedRows } from './movement-rows.ts';
import {
  type Change,
  type Comparison,
  type MovementRules,
  moveRows,
  type OpenTotal,
  type Pair,
  type Step,
  stepRows,
  type Valued,
} from './movements.ts';

/** A quote with its totals after discounts, rounded to cents; a missing total is unknown or nothing. */
export interface PricedQuote extends Quote {
  oneTime?: number;
  monthly?: number;
  yearly?: number;
  firstYearValue?: number;
}

/** Sums the items; a quote whose items are unknown has no totals. */
export function priceQuote(quote: Quote): PricedQuote {
  const sums = sumQuote(quote);
  const firstYear = firstYearValue(sums);
  const { oneTime: _1, monthly: _2, yearly: _3, firstYearValue: _4, ...own } = quote;
  return {
    ...own,
    ...termTotals(sums),
    ...compact({ firstYearValue: firstYear && rounded(firstYear) }),
  };
}

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

export function toQuoteState(record: PricedQuote, day: Day, currencyOf: CurrencyOf): QuoteState {
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

export const isOpenState = ({ acceptance }: QuoteState): boolean => ends[acceptance] === undefined;

/** The quotes of some filters. */
export class QuoteRules implements MovementRules<PricedQuote, QuoteState, 'sent'> {
  readonly mayBeUnread = true;
  readonly #days: { opening: Day; closing: Day };
  readonly #filters: QuoteFilters;
  readonly #currencyOf: CurrencyOf;

  constructor(days: { opening: Day; closing: Day }, filters: QuoteFilters, currencyOf: CurrencyOf) {
    this.#days = days;
    this.#filters = filters;
    this.#currencyOf = currencyOf;
  }

  read(record: PricedQuote, day: 'opening' | 'closing'): QuoteState {
    return toQuoteState(record, this.#days[day], this.#currencyOf);
  }

  isOpen(state: QuoteState): boolean {
    return isOpenState(state);
  }

  matches({ record, currency: code }: QuoteState): boolean {
    const { owner, company, currency } = this.#filters;
    return (
      (!owner || refersTo(record.owner, owner)) &&
      (!company || refersTo(record.company, company)) &&
      (!currency || currency.name === code)
    );
  }

  endOf({ record, acceptance }: QuoteState): Step | undefined {
    return isDeleted(record) ? undefined : ends[acceptance];
  }

  /** A quote without the day on which it was closed is not known to have been open. */
  wasClosedBefore(state: QuoteState): boolean {
    return (endDay(state) ?? '') <= this.#days.opening;
  }

  closedAgain(before: QuoteState, after: QuoteState): boolean {
    const isAnswer = after.acceptance === 'accepted' || after.acceptance === 'declined';
    return isAnswer && before.acceptance !== after.acceptance;
  }

  isOutsidePeriod(): boolean {
    return false;
  }

  /** Whether a quote was sent, or sent again, between the two days. */
  movesOf({ before, after }: Pair<QuoteState>): 'sent'[] {
    if (!after || !this.matches(after) || isDeleted(after.record)) return [];
    const sent = dayOf(after.record.sentAt);
    const known = before ? dayOf(before.record.sentAt) : this.#days.opening;
    const isSent = sent === undefined ? isSentFirst(before, after) : sent > (known ?? '');
    return isSent ? ['sent'] : [];
  }
}

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
  /** Opening, steps and closing. */
  rows: QuoteStepRow[];
  moves?: { move: 'sent'; count: number; firstYearValue?: Amounts }[];
  quotes: LimitedList<QuoteChangeRow>;
}

/**
 * @param limit of the list of quotes
 * @param only quotes with this movement are listed
 */
export function* quoteChanges(
  { opening, closing, changes }: Comparison<QuoteState, 'sent'>,
  limit: number,
  only?: QuoteMovement,
): Steps<QuoteChanges> {
  const steps = yield* stepRows(quoteSteps, changes);
  const moves = yield* moveRows(['sent'], changes);
  return compact({
    rows: [
      { step: 'opening' as const, ...figuresOf(opening) },
      ...steps.map(({ step, ...row }) => ({ step, ...figuresOf(row) })),
      { step: 'closing' as const, ...figuresOf(closing) },
    ],
    moves:
      moves.length === 0
        ? undefined
        : moves.map(({ move, ...row }) => ({ move, ...figuresOf(row) })),
    quotes: yield* movedRows(changes, { nameOf, toRow }, limit, only),
  });
}

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
