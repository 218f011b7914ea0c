/**
 * How the open pipeline changed between two days: opening value, movements and closing value, which add up exactly in
 * every currency. Formulas: docs/definitions.md, "Changes of the pipeline".
 */

import {
  type PipelineFilters,
  passesFilters,
  passesOpenFilters,
} from '../briefs/pipeline/pipeline.ts';
import { type Day, dayOf, daysBetween } from '../figures/days.ts';
import type { Deal, ReadDeal } from '../figures/deals.ts';
import {
  type Amounts,
  type CurrencyOf,
  CurrencySums,
  type Decimal,
  zero,
} from '../figures/money.ts';
import { addTo, compact, type Named, nonBlank, nonZero, normaliseName } from '../figures/naming.ts';
import { forEachStep, type Steps } from '../figures/steps.ts';
import type { Opportunity } from '../service/records/records.ts';

/** Every opportunity of a tenant at the end of a day. */
export interface PipelineState {
  day: Day;
  records: readonly Opportunity[];
}

/** The steps from the opening to the closing value, in the order in which they are shown. */
export const steps = [
  'new',
  'reopened',
  'movedIn',
  'transferredIn',
  'valueUp',
  'valueDown',
  'currencyChanged',
  'won',
  'lost',
  'closedUnknown',
  'removed',
  'movedOut',
  'transferredOut',
] as const;
export type Step = (typeof steps)[number];

/** Changes of deals that are open on both days. */
export const moves = [
  'stageForward',
  'stageBack',
  'stageChanged',
  'slipped',
  'pulledIn',
  'ownerChanged',
] as const;
type Move = (typeof moves)[number];

export type Movement = Step | Move;

/** A contribution to the sums. */
export interface Effect<S extends string = Step> {
  step: S;
  currency: string;
  /** In whole cents, negative where value leaves the pipeline. */
  amount: Decimal;
}

/** The same record on both days; absent where it did not exist. */
export interface RecordPair<T = Opportunity> {
  before: T | undefined;
  after: T | undefined;
}

export type DealPair = RecordPair<Deal>;

export interface DealChange extends DealPair {
  effects: Effect[];
  moves: Move[];
}

/** Which deals belong to the pipeline that is compared. */
export interface Scope {
  /** A deal that is open. */
  has(deal: Deal): boolean;
  /** A closed deal that would have belonged to it while it was open. */
  hasClosed(deal: Deal): boolean;
  /** Whether an open deal is outside of it because of its close date only. */
  isOutsidePeriod(deal: Deal): boolean;
}

/** The scope of these filters. A closed deal has another stage than before, so a stage filter leaves it out. */
export function scopeOf(filters: PipelineFilters): Scope {
  const { closeFrom: _from, closeTo: _to, ...others } = filters;
  const { stage: _stage, ...untilClosed } = filters;
  return {
    has: (deal) =>
      deal.outcome === 'open' &&
      passesFilters(deal, filters) &&
      passesOpenFilters(deal.record, filters),
    hasClosed: (deal) =>
      isClosed(deal) &&
      filters.stage === undefined &&
      passesFilters(deal, filters) &&
      passesOpenFilters(deal.record, untilClosed),
    isOutsidePeriod: (deal) =>
      passesFilters(deal, others) && passesOpenFilters(deal.record, others),
  };
}

const isClosed = ({ outcome }: Deal): boolean => outcome !== 'open' && outcome !== 'deleted';

/** Every record of two states, paired by id. */
export function* pairRecords<T extends { id?: string }>(
  opening: readonly T[],
  closing: readonly T[],
): Generator<RecordPair<T>> {
  const remaining = byId(opening);
  for (const [id, after] of byId(closing)) {
    yield { before: remaining.get(id), after };
    remaining.delete(id);
  }
  for (const before of remaining.values()) yield { before, after: undefined };
}

const byId = <T extends { id?: string }>(records: readonly T[]): Map<string, T> =>
  new Map(records.flatMap((record) => (record.id ? [[record.id, record]] : [])));

/** A deal or a quote with its value, which may be unknown. */
export interface Valued {
  currency: string;
  value: Decimal | undefined;
}

/** The value in whole cents, so that sums of parts and wholes agree; an unknown value adds nothing. */
export const centsOf = ({ value }: Pick<Valued, 'value'>): Decimal => value?.round(2) ?? zero;

/** What a deal contributes. `since`: the day of the opening. */
function effectsOf({ before, after }: DealPair, scope: Scope, since: Day): Effect[] {
  const was = before && scope.has(before) ? before : undefined;
  const is = after && scope.has(after) ? after : undefined;
  if (was && is) return valueEffects(was, is);
  if (was) return leaving(was, after, scope);
  if (is) return [entering(entryOf(before, scope), is)];
  return openedAndClosed(before, after, scope, since);
}

export const entering = <S extends string>(step: S, deal: Valued): Effect<S> => ({
  step,
  currency: deal.currency,
  amount: centsOf(deal),
});

export const leavingAs = <S extends string>(step: S, deal: Valued): Effect<S> => ({
  step,
  currency: deal.currency,
  amount: zero.minus(centsOf(deal)),
});

type ValueStep = 'valueUp' | 'valueDown' | 'currencyChanged';

export function valueEffects(before: Valued, after: Valued): Effect<ValueStep>[] {
  const [was, is] = [centsOf(before), centsOf(after)];
  if (before.currency === after.currency) {
    const amount = is.minus(was);
    if (amount.eq(0)) return [];
    const step = amount.gt(0) ? 'valueUp' : 'valueDown';
    return [{ step, currency: after.currency, amount }];
  }
  const [from, to] = [before.currency, after.currency];
  return [
    { step: 'currencyChanged', currency: from, amount: zero.minus(was) },
    { step: 'currencyChanged', currency: to, amount: is },
  ];
}

const closingSteps = { won: 'won', lost: 'lost', closed_unknown: 'closedUnknown' } as const;

/** A closed deal leaves with its value at the end; any other with its value at the opening. */
function leaving(before: Deal, after: Deal | undefined, scope: Scope): Effect[] {
  if (!after || after.outcome === 'deleted') return [leavingAs('removed', before)];
  if (after.outcome === 'open')
    return [leavingAs(scope.isOutsidePeriod(after) ? 'movedOut' : 'transferredOut', before)];
  return [...valueEffects(before, after), leavingAs(closingSteps[after.outcome], after)];
}

function entryOf(before: Deal | undefined, scope: Scope): Step {
  if (!before) return 'new';
  if (before.outcome !== 'open') return 'reopened';
  return scope.isOutsidePeriod(before) ? 'movedIn' : 'transferredIn';
}

/** The steps of a deal that was opened and closed between the two days: it enters and leaves with its value at the end. */
function openedAndClosed(
  before: Deal | undefined,
  after: Deal | undefined,
  scope: Scope,
  since: Day,
): Effect[] {
  if (!after || !scope.hasClosed(after) || (before && before.outcome !== 'open')) return [];
  const closed = dayOf(after.record.closedAt);
  if (!before && closed !== undefined && closed <= since) return [];
  const { outcome } = after;
  if (outcome === 'open' || outcome === 'deleted') return [];
  return [entering(entryOf(before, scope), after), leavingAs(closingSteps[outcome], after)];
}

/** Where a stage is in the pipeline: the median probability of its open deals, by key of the stage. */
export type StageOrder = ReadonlyMap<string, number>;

export const stageKey = ({ pipelineStage }: Opportunity): string | undefined =>
  refKey(pipelineStage);

/** Equal for references to the same record: its id, or its name where it has no id. */
function refKey(ref: Named | undefined): string | undefined {
  const id = nonBlank(ref?.id);
  if (id) return `id ${id}`;
  const name = nonBlank(ref?.name);
  return name && `name ${normaliseName(name)}`;
}

/** Notes the probabilities of the open deals of each stage. */
class StageChances {
  readonly #byStage = new Map<string, number[]>();

  add({ outcome, record, chance }: Deal): void {
    const stage = outcome === 'open' ? stageKey(record) : undefined;
    if (stage === undefined || !chance || record.probability === undefined) return;
    addTo(this.#byStage, stage, record.probability);
  }

  toOrder(): StageOrder {
    return new Map([...this.#byStage].map(([stage, known]) => [stage, median(known)]));
  }
}

/** The middle of some numbers, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Whether a move from one stage to another is forward; `undefined` where their order is unknown. */
export function isForward(
  from: string | undefined,
  to: string | undefined,
  order: StageOrder,
): boolean | undefined {
  const [was, is] = [order.get(from ?? ''), order.get(to ?? '')];
  if (was === undefined || is === undefined || was === is) return undefined;
  return is > was;
}

/** How a deal that is open on both days moved. */
function movesOf({ before, after }: DealPair, order: StageOrder): Move[] {
  if (before?.outcome !== 'open' || after?.outcome !== 'open') return [];
  const found: Move[] = [];
  const [from, to] = [stageKey(before.record), stageKey(after.record)];
  if (from !== to) {
    const forward = isForward(from, to, order);
    found.push(forward === undefined ? 'stageChanged' : forward ? 'stageForward' : 'stageBack');
  }
  const days = slipDays(before.record, after.record);
  if (days) found.push(days > 0 ? 'slipped' : 'pulledIn');
  if (refKey(before.record.owner) !== refKey(after.record.owner)) found.push('ownerChanged');
  return found;
}

/** Days by which the close date moved later; negative if earlier, `undefined` if one of the dates is unknown. */
export function slipDays(before: Opportunity, after: Opportunity): number | undefined {
  const [was, is] = [dayOf(before.expectedCloseDate), dayOf(after.expectedCloseDate)];
  return was && is ? daysBetween(was, is) : undefined;
}

export interface ChangeOptions extends PipelineFilters {
  currencyOf: CurrencyOf;
}

/** The deals of a scope that changed, with the order of the stages. */
export interface Comparison {
  opening: PipelineTotal;
  closing: PipelineTotal;
  /** Deals that are in the pipeline on either day, or came and went between them, and whose record changed. */
  changes: DealChange[];
  order: StageOrder;
}

/** Open deals of one day; `value` in whole cents by currency. */
export interface PipelineTotal {
  count: number;
  value?: Amounts;
  /** Deals without a known value. */
  unknownValue?: number;
}

/** Compares two days, one deal after the other. */
export class StateComparison {
  readonly #since: Day;
  readonly #scope: Scope;
  readonly #readDeal: ReadDeal;
  readonly #opening = new PipelineSum();
  readonly #closing = new PipelineSum();
  readonly #chances = new StageChances();
  readonly #changes: DealChange[] = [];

  /** @param since the day of the opening */
  constructor(since: Day, filters: PipelineFilters, readDeal: ReadDeal) {
    this.#since = since;
    this.#scope = scopeOf(filters);
    this.#readDeal = readDeal;
  }

  /** @returns the deal's part in the comparison, its moves still unknown; nothing if it has none */
  add({ before, after }: RecordPair): DealChange | undefined {
    const pair = {
      before: before && this.#readDeal(before),
      after: after && this.#readDeal(after),
    };
    const wasIn = this.#addTo(this.#opening, pair.before);
    const isIn = this.#addTo(this.#closing, pair.after);
    const effects = before === after ? [] : effectsOf(pair, this.#scope, this.#since);
    if (!wasIn && !isIn && effects.length === 0) return undefined;
    const change = { ...pair, effects, moves: [] };
    if (before !== after) this.#changes.push(change);
    return change;
  }

  #addTo(sum: PipelineSum, deal: Deal | undefined): boolean {
    if (!deal) return false;
    this.#chances.add(deal);
    const isIn = this.#scope.has(deal);
    if (isIn) sum.add(deal);
    return isIn;
  }

  /** The comparison of all deals that were added. */
  *result(): Steps<Comparison> {
    const order = this.#chances.toOrder();
    yield* forEachStep(this.#changes, (change) => {
      change.moves = movesOf(change, order);
    });
    const [opening, closing] = [this.#opening.toTotal(), this.#closing.toTotal()];
    return { opening, closing, changes: this.#changes, order };
  }
}

/** Adds up open deals. */
export class PipelineSum {
  readonly #value = new CurrencySums();
  #count = 0;
  #unknownValue = 0;

  add(deal: Valued): void {
    this.#count += 1;
    if (deal.value) this.#value.add(deal.currency, centsOf(deal));
    else this.#unknownValue += 1;
  }

  toTotal(): PipelineTotal {
    return compact({
      count: this.#count,
      value: this.#value.toAmounts(),
      unknownValue: nonZero(this.#unknownValue),
    });
  }
}

export function totalOf(deals: readonly Deal[]): PipelineTotal {
  const sum = new PipelineSum();
  for (const deal of deals) sum.add(deal);
  return sum.toTotal();
}

/** One step: how many deals, and what they add to the pipeline or, negative, take from it. */
export interface StepRow<S extends string = Step> {
  step: S;
  count: number;
  value?: Amounts;
}

/** The steps that occur, in the order of `steps`. */
export const stepRows = (changes: readonly DealChange[]): Steps<StepRow[]> =>
  sumSteps(steps, changes);

/** The steps of changes that occur, in this order. */
export function* sumSteps<S extends string>(
  inOrder: readonly S[],
  changes: readonly { effects: readonly Effect<S>[] }[],
): Steps<StepRow<S>[]> {
  const sums = new Map(
    inOrder.map((step) => [step, { changes: new Set<object>(), value: new CurrencySums() }]),
  );
  yield* forEachStep(changes, (change) => {
    for (const { step, currency, amount } of change.effects) {
      sums.get(step)?.changes.add(change);
      sums.get(step)?.value.add(currency, amount);
    }
  });
  return [...sums].flatMap(([step, { changes, value }]) =>
    changes.size === 0
      ? []
      : { step, count: changes.size, ...compact({ value: value.toAmounts() }) },
  );
}

/** One kind of move: how many deals, and their value at the end. */
export interface MoveRow {
  move: Move;
  count: number;
  value?: Amounts;
}

/** The moves that occur, in the order of `moves`. */
export function* moveRows(changes: readonly DealChange[]): Steps<MoveRow[]> {
  const sums = new Map(moves.map((move) => [move, new PipelineSum()]));
  yield* forEachStep(changes, ({ moves: moved, after }) => {
    for (const move of moved) if (after) sums.get(move)?.add(after);
  });
  return [...sums].flatMap(([move, sum]) => {
    const { count, value } = sum.toTotal();
    return count === 0 ? [] : compact({ move, count, value });
  });
}
