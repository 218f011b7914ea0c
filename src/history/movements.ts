/**
 * How the open records of one kind changed between two days: opening, steps and closing, which add up exactly in every
 * currency. Formulas: docs/definitions.md, "Changes of the pipeline".
 */
import { type Amounts, CurrencySums, type Decimal, rounded, zero } from '../figures/money.ts';
import {
  byName,
  compact,
  type LimitedList,
  limitList,
  type Named,
  nonBlank,
  nonZero,
} from '../figures/naming.ts';
import { filterSteps, flatMapSteps, forEachStep, type Steps, sortSteps } from '../figures/steps.ts';
import type { Ref } from '../service/records/records.ts';
import { isOneOf } from '../values.ts';

/** The steps from the opening to the closing, of deals and of quotes. */
export type Step =
  | 'new'
  | 'reopened'
  | 'movedIn'
  | 'transferredIn'
  | 'valueUp'
  | 'valueDown'
  | 'valueKnown'
  | 'currencyChanged'
  | 'won'
  | 'lost'
  | 'closedUnknown'
  | 'accepted'
  | 'declined'
  | 'expired'
  | 'otherStatus'
  | 'removed'
  | 'movedOut'
  | 'transferredOut';

/** A deal or a quote with its value, which may be unknown. */
export interface Valued {
  currency: string;
  value: Decimal | undefined;
}

/** The same record on both days; absent where it did not exist. */
export interface Pair<T> {
  before: T | undefined;
  after: T | undefined;
}

/** A contribution to the sums. */
interface Effect {
  step: Step;
  currency: string;
  /** In whole cents, negative where value leaves the open records. */
  amount: Decimal;
}

export interface Change<S = Valued, M = string> extends Pair<S> {
  /** The states in which it is open and matches the filters. */
  was?: S | undefined;
  is?: S | undefined;
  effects: readonly Effect[];
  moves: readonly M[];
}

/** What kinds of records differ in. A state is a record on one of the two days. */
interface StateRules<S extends Valued> {
  /** Whether an unknown value may be one that was not read. Then it is no change if it is known on one day only. */
  readonly mayBeUnread: boolean;
  isOpen(state: S): boolean;
  /** Whether it matches the filters; if it is closed, whether it did while it was open. */
  matches(state: S): boolean;
  /** The step by which a closed record left; `undefined` for one that is open or deleted. */
  endOf(state: S): Step | undefined;
  /** Whether a record that was absent or closed on the first day, and is closed now, was open in between. */
  wasOpenBetween(before: S | undefined, after: S): boolean;
  /** Whether an open record does not match because of its date only. */
  isOutsidePeriod(state: S): boolean;
}

export interface MovementRules<R, S extends Valued, M extends string> extends StateRules<S> {
  read(record: R, day: 'opening' | 'closing'): S;
  /** Changes that are no step; asked when all records were read. */
  movesOf(states: Pair<S>): M[];
}

/** The open records of both days, and those that changed. */
export interface Comparison<S, M> {
  opening: OpenTotal;
  closing: OpenTotal;
  /** Those with a step or a move. */
  changes: readonly Change<S, M>[];
  /** Those that were open on one of the days or in between. */
  parts: readonly Change<S, M>[];
}

/** Every record of two states, paired by id. */
export function* pairRecords<T extends { id?: string }>(
  opening: readonly T[],
  closing: readonly T[],
): Generator<Pair<T>> {
  const remaining = byId(opening);
  for (const [id, after] of byId(closing)) {
    yield { before: remaining.get(id), after };
    remaining.delete(id);
  }
  for (const before of remaining.values()) yield { before, after: undefined };
}

const byId = <T extends { id?: string }>(records: readonly T[]): Map<string, T> =>
  new Map(records.flatMap((record) => (record.id ? [[record.id, record]] : [])));

/** Compares every record of two days. */
export function* compareRecords<R, S extends Valued, M extends string>(
  pairs: Iterable<Pair<R>>,
  rules: MovementRules<R, S, M>,
): Steps<Comparison<S, M>> {
  const [opening, closing] = [new OpenSum(), new OpenSum()];
  const matching: Omit<Change<S, M>, 'moves'>[] = [];
  yield* forEachStep(pairs, ({ before, after }) => {
    const states = {
      before: before && rules.read(before, 'opening'),
      after: after && rules.read(after, 'closing'),
    };
    const change = withEffects(states, rules);
    if (change.was) opening.add(change.was);
    if (change.is) closing.add(change.is);
    if (isPart(change) || (states.after && rules.matches(states.after))) matching.push(change);
  });
  const all = yield* flatMapSteps(matching, (change) => [
    { ...change, moves: rules.movesOf(change) },
  ]);
  return {
    opening: opening.toTotal(),
    closing: closing.toTotal(),
    changes: yield* filterSteps(all, ({ effects, moves }) => effects.length + moves.length > 0),
    parts: yield* filterSteps(all, isPart),
  };
}

const isPart = ({ was, is, effects }: Omit<Change, 'moves'>): boolean =>
  was !== undefined || is !== undefined || effects.length > 0;

function withEffects<S extends Valued>(
  { before, after }: Pair<S>,
  rules: StateRules<S>,
): Omit<Change<S>, 'moves'> {
  const ifIn = (state: S | undefined) =>
    state && rules.isOpen(state) && rules.matches(state) ? state : undefined;
  const [was, is] = [ifIn(before), ifIn(after)];
  const states = { before, after, was, is };
  if (was && is) return { ...states, effects: valueEffects(was, is, rules) };
  if (was) return { ...states, effects: leaving(was, after, rules) };
  if (is) return { ...states, effects: [entering(entryOf(before, rules), is)] };
  return { ...states, effects: after ? openedAndClosed(before, after, rules) : [] };
}

function valueEffects<S extends Valued>(before: S, after: S, rules: StateRules<S>): Effect[] {
  if (before.currency !== after.currency)
    return [leavingAs('currencyChanged', before), entering('currencyChanged', after)];
  const amount = centsOf(after).minus(centsOf(before));
  if (amount.eq(0)) return [];
  const isUnread = rules.mayBeUnread && !before.value !== !after.value;
  const step = isUnread ? 'valueKnown' : amount.gt(0) ? 'valueUp' : 'valueDown';
  return [{ step, currency: after.currency, amount }];
}

/** A closed record leaves with its value at the end; any other with its value at the opening. */
function leaving<S extends Valued>(
  before: S,
  after: S | undefined,
  rules: StateRules<S>,
): Effect[] {
  if (after && rules.isOpen(after))
    return [leavingAs(rules.isOutsidePeriod(after) ? 'movedOut' : 'transferredOut', before)];
  const end = after && rules.endOf(after);
  if (!after || !end) return [leavingAs('removed', before)];
  return [...valueEffects(before, after, rules), leavingAs(end, after)];
}

function entryOf<S extends Valued>(before: S | undefined, rules: StateRules<S>): Step {
  if (!before) return 'new';
  if (!rules.isOpen(before)) return 'reopened';
  return rules.isOutsidePeriod(before) ? 'movedIn' : 'transferredIn';
}

/** A record that was opened and closed between the two days enters and leaves with its value at the end. */
function openedAndClosed<S extends Valued>(
  before: S | undefined,
  after: S,
  rules: StateRules<S>,
): Effect[] {
  const end = rules.endOf(after);
  if (!end || !rules.matches(after)) return [];
  const wasOpen = before && rules.isOpen(before);
  if (!wasOpen && !rules.wasOpenBetween(before, after)) return [];
  return [entering(entryOf(before, rules), after), leavingAs(end, after)];
}

/** The value in whole cents, so that sums of parts and wholes agree; an unknown value adds nothing. */
export const centsOf = ({ value }: Pick<Valued, 'value'>): Decimal => value?.round(2) ?? zero;

const entering = (step: Step, state: Valued): Effect => ({
  step,
  currency: state.currency,
  amount: centsOf(state),
});

const leavingAs = (step: Step, state: Valued): Effect => ({
  ...entering(step, state),
  amount: zero.minus(centsOf(state)),
});

/** Open records of one day; `value` in whole cents by currency. */
export interface OpenTotal {
  count: number;
  value?: Amounts;
  /** Records without a known value. */
  unknownValue?: number;
}

/** Adds up open records. */
export class OpenSum {
  readonly #value = new CurrencySums();
  #count = 0;
  #unknownValue = 0;

  add(state: Valued): void {
    this.#count += 1;
    if (state.value) this.#value.add(state.currency, centsOf(state));
    else this.#unknownValue += 1;
  }

  toTotal(): OpenTotal {
    return compact({
      count: this.#count,
      value: this.#value.toAmounts(),
      unknownValue: nonZero(this.#unknownValue),
    });
  }
}

export function totalOf(states: readonly Valued[]): OpenTotal {
  const sum = new OpenSum();
  for (const state of states) sum.add(state);
  return sum.toTotal();
}

/** One step: how many records, and what they add to the open ones or, negative, take from them. */
export interface StepRow<S extends Step = Step> {
  step: S;
  count: number;
  value?: Amounts;
}

/** The steps that occur, in this order. */
export function* stepRows<S extends Step>(
  inOrder: readonly S[],
  changes: readonly Change[],
): Steps<StepRow<S>[]> {
  const sums = new Map<Step, { changes: Set<object>; value: CurrencySums }>(
    inOrder.map((step) => [step, { changes: new Set<object>(), value: new CurrencySums() }]),
  );
  yield* forEachStep(changes, (change) => {
    for (const { step, currency, amount } of change.effects) {
      sums.get(step)?.changes.add(change);
      sums.get(step)?.value.add(currency, amount);
    }
  });
  return inOrder.flatMap((step) => {
    const sum = sums.get(step);
    const count = sum?.changes.size ?? 0;
    return count === 0 ? [] : { step, count, ...compact({ value: sum?.value.toAmounts() }) };
  });
}

/** One kind of move: how many records, and their value at the end. */
export interface MoveRow<M> {
  move: M;
  count: number;
  value?: Amounts;
}

/** The moves that occur, in this order. */
export function* moveRows<M extends string>(
  inOrder: readonly M[],
  changes: readonly Change<Valued, M>[],
): Steps<MoveRow<M>[]> {
  const sums = new Map(inOrder.map((move) => [move, new OpenSum()]));
  yield* forEachStep(changes, ({ moves, after }) => {
    for (const move of moves) if (after) sums.get(move)?.add(after);
  });
  return [...sums].flatMap(([move, sum]) => {
    const { count, value } = sum.toTotal();
    return count === 0 ? [] : { move, count, ...compact({ value }) };
  });
}

/** A record on one day. */
interface RecordState extends Valued {
  record: { id?: string; company?: Ref; owner?: Ref };
}

/** `value` in `currency` at the end, or before the record left; texts with an arrow are "before → after". */
export interface MovedColumns<M extends string = string> {
  id?: string;
  company?: string;
  owner?: string;
  movement: (Step | M)[];
  value?: number;
  currency?: string;
  /** Difference of the values of both days. */
  valueChange?: number;
}

interface RowWriter<S, M extends string, Row> {
  nameOf(state: S): Named;
  toRow(change: Change<S, M>, columns: MovedColumns<M>): Row;
}

/**
 * @param limit the number of rows
 * @param only records with this step or move
 */
export function* movedRows<S extends RecordState, M extends string, Row>(
  changes: readonly Change<S, M>[],
  { nameOf, toRow }: RowWriter<S, M, Row>,
  limit: number,
  only: string | undefined,
): Steps<LimitedList<Row>> {
  const moved = yield* flatMapSteps(changes, (change) => {
    const movement = [...new Set([...change.effects.map(({ step }) => step), ...change.moves])];
    const isWanted = only === undefined ? movement.length > 0 : isOneOf(movement, only);
    const state = change.after ?? change.before;
    return state && isWanted ? [{ change, state, movement, rank: rankOf(change) }] : [];
  });
  const ranked = yield* sortSteps(
    moved,
    (one, other) => other.rank - one.rank || byName(nameOf(one.state), nameOf(other.state)),
  );
  return limitList(ranked, limit, ({ change, state, movement }) =>
    toRow(change, columnsOf(change, state, movement)),
  );
}

/** The larger of both values. */
const rankOf = ({ before, after }: Pair<Valued>): number =>
  Math.max(...[before, after].map((state) => state?.value?.toNumber() ?? -Number.MAX_VALUE));

function columnsOf<M extends string>(
  { before, after }: Pair<RecordState>,
  { record, value, currency }: RecordState,
  movement: (Step | M)[],
): MovedColumns<M> {
  return compact({
    id: nonBlank(record.id),
    company: nonBlank(record.company?.name),
    owner: arrow(before, after, ({ record: { owner } }) => nonBlank(owner?.name)),
    movement,
    value: value && rounded(value),
    currency: value && currency,
    valueChange: valueChange(before, after),
  });
}

/** "before → after", or the value alone where it did not change. */
export function arrow<T>(
  before: T | undefined,
  after: T | undefined,
  read: (state: T) => string | undefined,
): string | undefined {
  const [was, is] = [before && read(before), after && read(after)];
  if (!before || !after || was === is) return is ?? was;
  return `${was ?? '(none)'} → ${is ?? '(none)'}`;
}

function valueChange(before: Valued | undefined, after: Valued | undefined): number | undefined {
  if (!before || !after || before.currency !== after.currency) return undefined;
  return rounded(centsOf(after).minus(centsOf(before))) || undefined;
}
