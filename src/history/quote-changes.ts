/**
 * How the open quotes changed between two days: opening, steps and closing, which add up exactly in every currency.
 * Formulas: docs/definitions.md, "Changes of the quotes".
 */

import { type Day, dayOf } from '../figures/days.ts';
import {
  type Amounts,
  type CurrencyOf,
  currencyOfRecord,
  decimal,
  rounded,
} from '../figures/money.ts';
import {
  compact,
  type LimitedList,
  limitList,
  type Named,
  nonBlank,
  quoteName,
} from '../figures/naming.ts';
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
import { arrow, rankChanges } from './pipeline-change-rows.ts';
import {
  centsOf,
  type Effect,
  entering,
  leavingAs,
  PipelineSum,
  type PipelineTotal,
  type RecordPair,
  sumSteps,
  type Valued,
  valueEffects,
} from './pipeline-changes.ts';

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

/** The steps from the opening to the closing, in the order in which they are shown. */
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
] as const;
type QuoteStep = (typeof quoteSteps)[number];

export const quoteMovements = [...quoteSteps, 'sent'] as const;
export type QuoteMovement = (typeof quoteMovements)[number];

/** A quote on one day. */
interface QuoteState extends Valued {
  record: PricedQuote;
  acceptance: Acceptance;
  /** It matches the filters. */
  matches: boolean;
}

type QuotePair = RecordPair<QuoteState>;

interface QuoteChange extends QuotePair {
  effects: Effect<QuoteStep>[];
  isSent: boolean;
}

export interface QuoteFilters {
  owner?: Named;
  company?: Named;
  /** By its code, or `unknown currency`. */
  currency?: Named;
}

interface QuoteStepRow {
  step: QuoteStep | 'opening' | 'closing';
  count: number;
  firstYearValue?: Amounts;
  /** Quotes of unknown value. */
  unknownValue?: number;
}

/** `firstYearValue` at the end; texts with an arrow are "before → after". */
interface QuoteChangeRow {
  id?: string;
  number?: string;
  name?: string;
  company?: string;
  owner?: string;
  movement: QuoteMovement[];
  firstYearValue?: number;
  currency?: string;
  valueChange?: number;
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

/** Adds up the open quotes of a day, one record after the other. */
export class OpenQuotesSum {
  readonly #day: Day;
  readonly #currencyOf: CurrencyOf;
  readonly #sum = new PipelineSum();

  constructor(day: Day, currencyOf: CurrencyOf) {
    this.#day = day;
    this.#currencyOf = currencyOf;
  }

  add(record: PricedQuote): void {
    if (endSteps[acceptanceOf(record, this.#day)] !== undefined) return;
    const currency = currencyOfRecord(record, this.#currencyOf);
    this.#sum.add({ currency, value: decimal(record.firstYearValue) });
  }

  toTotal(): PipelineTotal {
    return this.#sum.toTotal();
  }
}

/** Compares two days, one quote after the other. */
export class QuoteComparison {
  readonly #days: { opening: Day; closing: Day };
  readonly #filters: QuoteFilters;
  readonly #currencyOf: CurrencyOf;
  readonly #opening = new PipelineSum();
  readonly #closing = new PipelineSum();
  readonly #sent = new PipelineSum();
  readonly #changes: QuoteChange[] = [];

  constructor(days: { opening: Day; closing: Day }, filters: QuoteFilters, currencyOf: CurrencyOf) {
    this.#days = days;
    this.#filters = filters;
    this.#currencyOf = currencyOf;
  }

  add(records: RecordPair<PricedQuote>): void {
    const { opening, closing } = this.#days;
    const before = records.before && this.#stateOf(records.before, opening);
    const after = records.after && this.#stateOf(records.after, closing);
    const pair = { before, after };
    if (before && isIn(before)) this.#opening.add(before);
    if (after && isIn(after)) this.#closing.add(after);
    const effects = effectsOf(pair, opening);
    const isSent = wasSent(pair, opening);
    if (isSent && after) this.#sent.add(after);
    if (isSent || effects.length > 0) this.#changes.push({ ...pair, effects, isSent });
  }

  #stateOf(record: PricedQuote, day: Day): QuoteState {
    const acceptance = acceptanceOf(record, day);
    const currency = currencyOfRecord(record, this.#currencyOf);
    return {
      record,
      acceptance,
      currency,
      value: decimal(record.firstYearValue),
      matches: this.#matches(record, currency),
    };
  }

  #matches(record: PricedQuote, currencyCode: string): boolean {
    const { owner, company, currency } = this.#filters;
    return (
      (!owner || refersTo(record.owner, owner)) &&
      (!company || refersTo(record.company, company)) &&
      (!currency || currency.name === currencyCode)
    );
  }

  /**
   * @param limit of the list of quotes
   * @param only quotes with this movement are listed
   */
  *result(limit: number, only?: QuoteMovement): Steps<QuoteChanges> {
    const steps = yield* sumSteps(quoteSteps, this.#changes);
    const reader = { movementsOf, rankOf, labelOf };
    const ranked = yield* rankChanges(this.#changes, reader, only);
    const { count, value } = this.#sent.toTotal();
    const sent = { move: 'sent' as const, count, ...compact({ firstYearValue: value }) };
    return compact({
      rows: [
        { step: 'opening' as const, ...figuresOf(this.#opening.toTotal()) },
        ...steps.map(({ step, ...row }) => ({
          step,
          ...figuresOf(row),
        })),
        { step: 'closing' as const, ...figuresOf(this.#closing.toTotal()) },
      ],
      moves: count === 0 ? undefined : [sent],
      quotes: limitList(ranked, limit, ({ change, movement }) => toRow(change, movement)),
    });
  }
}

const figuresOf = ({ count, value, unknownValue }: Partial<PipelineTotal> & { count: number }) =>
  compact({ count, firstYearValue: value, unknownValue });

/** The step by which a quote leaves, by its acceptance; undefined while it is open. */
const endSteps: Readonly<Record<Acceptance, QuoteStep | undefined>> = {
  draft: undefined,
  'open to acceptance': undefined,
  accepted: 'accepted',
  declined: 'declined',
  'past expiry': 'expired',
  other: 'otherStatus',
};

const endOf = ({ acceptance }: QuoteState): QuoteStep | undefined => endSteps[acceptance];
const isOpen = (state: QuoteState): boolean => endOf(state) === undefined;
const isIn = (state: QuoteState): boolean => isOpen(state) && state.matches;

/** What a quote contributes. `since`: the day of the opening. */
function effectsOf({ before, after }: QuotePair, since: Day): Effect<QuoteStep>[] {
  const was = before && isIn(before) ? before : undefined;
  const is = after && isIn(after) ? after : undefined;
  if (was && is) return valueSteps(was, is);
  if (was) return leaving(was, after);
  if (is) return [entering(entryOf(before), is)];
  return openedAndClosed(before, after, since);
}

/** A value that is known on one day only, because the items were not read on the other, is no change of price. */
function valueSteps(before: QuoteState, after: QuoteState): Effect<QuoteStep>[] {
  const effects = valueEffects(before, after);
  const isKnown = (before.value === undefined) === (after.value === undefined);
  if (isKnown || before.currency !== after.currency) return effects;
  return effects.map((effect) => ({ ...effect, step: 'valueKnown' }));
}

function leaving(before: QuoteState, after: QuoteState | undefined): Effect<QuoteStep>[] {
  if (!after || isDeleted(after.record)) return [leavingAs('removed', before)];
  const end = endOf(after);
  if (end === undefined) return [leavingAs('transferredOut', before)];
  return [...valueSteps(before, after), leavingAs(end, after)];
}

function entryOf(before: QuoteState | undefined): QuoteStep {
  if (!before) return 'new';
  return isOpen(before) ? 'transferredIn' : 'reopened';
}

/** The steps of a quote that was created and answered between the two days, or answered after it had expired. */
function openedAndClosed(
  before: QuoteState | undefined,
  after: QuoteState | undefined,
  since: Day,
): Effect<QuoteStep>[] {
  if (!after?.matches || isDeleted(after.record)) return [];
  const end = endOf(after);
  if (end === undefined) return [];
  if (!before && (endDay(after) ?? since) <= since) return [];
  if (before && !isOpen(before) && (before.acceptance === after.acceptance || !isAnswer(end)))
    return [];
  return [entering(entryOf(before), after), leavingAs(end, after)];
}

const isAnswer = (end: QuoteStep): boolean => end === 'accepted' || end === 'declined';

/** The day on which a quote stopped being open; unknown where it has no such date. */
function endDay({ acceptance, record }: QuoteState): Day | undefined {
  if (acceptance === 'accepted') return dayOf(record.approvedAt);
  if (acceptance === 'declined') return dayOf(record.declinedAt);
  return acceptance === 'past expiry' ? dayOf(record.expiredAt ?? record.expiresAt) : undefined;
}

/** Whether a quote was sent, or sent again, between the two days. */
function wasSent({ before, after }: QuotePair, since: Day): boolean {
  if (!after?.matches || isDeleted(after.record)) return false;
  const sent = dayOf(after.record.sentAt);
  if (sent === undefined)
    return (
      statusCategoryOf(after.record) === 'sent' &&
      (!before || statusCategoryOf(before.record) === 'draft')
    );
  return sent > ((before ? dayOf(before.record.sentAt) : since) ?? '');
}

/** Every movement of a quote: its steps, and whether it was sent. */
const movementsOf = ({ effects, isSent }: QuoteChange): QuoteMovement[] => [
  ...new Set<QuoteMovement>([
    ...effects.map(({ step }) => step),
    ...(isSent ? ['sent' as const] : []),
  ]),
];

/** The larger of both values. */
const rankOf = ({ before, after }: QuoteChange): number =>
  Math.max(...[before, after].map((state) => state?.value?.toNumber() ?? -Number.MAX_VALUE));

const labelOf = ({ before, after }: QuoteChange): Named => {
  const { record = {} } = after ?? before ?? {};
  return compact({ id: nonBlank(record.id), name: quoteName(record) });
};

function toRow({ before, after }: QuoteChange, movement: QuoteMovement[]): QuoteChangeRow {
  const { record = {}, value, currency } = after ?? before ?? {};
  const shown = (read: (quote: Quote) => string | undefined) =>
    arrow(before?.record, after?.record, read);
  return compact({
    id: nonBlank(record.id),
    number: nonBlank(record.number),
    name: nonBlank(record.title) ?? nonBlank(record.name),
    company: nonBlank(record.company?.name),
    owner: shown(({ owner }) => nonBlank(owner?.name)),
    movement,
    firstYearValue: value && rounded(value),
    currency: value && currency,
    valueChange: changeOf(before, after),
    status: shown(statusOfQuote),
    sent: shown(({ sentAt }) => dayOf(sentAt)),
    expires: shown(({ expiresAt }) => dayOf(expiresAt)),
  });
}

function changeOf(
  before: QuoteState | undefined,
  after: QuoteState | undefined,
): number | undefined {
  if (!before?.value || !after?.value || before.currency !== after.currency) return undefined;
  return rounded(centsOf(after).minus(centsOf(before))) || undefined;
}
