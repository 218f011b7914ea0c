/**
 * How the open records of one kind changed between two days: opening, steps and closing, which add up exactly in every
 * currency. Formulas: docs/definitions.md, "Changes of the pipeline".
 */
import { type Amounts, CurrencySums, type Decimal, zero } from '../figures/money.ts';
import { compact, nonZero } from '../figures/naming.ts';
import { flatMapSteps, forEachStep, type Steps } from '../figures/steps.ts';

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
export interface Effect {
  step: Step;
  currency: string;
  /** In whole cents, negative where value leaves the open records. */
  amount: Decimal;
}

export interface Change<S = Valued, M = string> extends Pair<S> {
  effects: readonly Effect[];
  moves: readonly M[];
}

/** What kinds of records differ in. A state is a record on one of the two days. */
export interface MovementRules<R, S extends Valued, M extends string> {
  /** Whether an unknown value may be one that was not read. Then it is no change if it is known on one day only. */
  readonly mayBeUnread: boolean;
  read(record: R, day: 'opening' | 'closing'): S;
  isOpen(state: S): boolean;
  /** Whether it matches the filters; if it is closed, whether it did while it was open. */
  matches(state: S): boolean;
  /** The step by which a closed record left; `undefined` for one that is open or deleted. */
  endOf(state: S): Step | undefined;
  /** Whether a record that is absent on the day of the opening, and closed now, was closed by then. */
  wasClosedBefore(state: S): boolean;
  /** Whether a record that was closed before was opened and closed again. */
  closedAgain(before: S, after: S): boolean;
  /** Whether an open record does not match because of its date only. */
  isOutsidePeriod(state: S): boolean;
  /** Changes that are no step; asked when all records were read. */
  movesOf(states: Pair<S>): M[];
}

/** The open records of both days, and those that changed. */
export interface Comparison<S, M> {
  opening: OpenTotal;
  closing: OpenTotal;
  /** Those with a step or a move. */
  changes: Change<S, M>[];
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

/** Compares two days, one record after the other. */
export class StateComparison<R, S extends Valued, M extends string> {
  readonly #rules: MovementRules<R, S, M>;
  readonly #opening = new OpenSum();
  readonly #closing = new OpenSum();
  readonly #matching: (Pair<S> & { effects: Effect[] })[] = [];

  constructor(rules: MovementRules<R, S, M>) {
    this.#rules = rules;
  }

  /** @returns the record's part in the comparison, its moves still unknown; nothing if it has none */
  add(records: Pair<R>): Change<S, M> | undefined {
    const before = records.before && this.#rules.read(records.before, 'opening');
    const after = records.after && this.#rules.read(records.after, 'closing');
    const was = before && this.#isIn(before) ? before : undefined;
    const is = after && this.#isIn(after) ? after : undefined;
    if (was) this.#opening.add(was);
    if (is) this.#closing.add(is);
    const effects = this.#effectsOf({ before, after }, was, is);
    const isPart = Boolean(was ?? is) || effects.length > 0;
    const change = { before, after, effects, moves: [] };
    if (isPart || (after && this.#rules.matches(after))) this.#matching.push(change);
    return isPart ? change : undefined;
  }

  /** The comparison of all records that were added. */
  *result(): Steps<Comparison<S, M>> {
    const changes = yield* flatMapSteps(this.#matching, (change) => {
      const moves = this.#rules.movesOf(change);
      return change.effects.length + moves.length > 0 ? [{ ...change, moves }] : [];
    });
    const [opening, closing] = [this.#opening.toTotal(), this.#closing.toTotal()];
    return { opening, closing, changes };
  }

  #isIn(state: S): boolean {
    return this.#rules.isOpen(state) && this.#rules.matches(state);
  }

  #effectsOf({ before, after }: Pair<S>, was: S | undefined, is: S | undefined): Effect[] {
    if (was && is) return this.#valueEffects(was, is);
    if (was) return this.#leaving(was, after);
    if (is) return [entering(this.#entryOf(before), is)];
    return after ? this.#openedAndClosed(before, after) : [];
  }

  #valueEffects(before: S, after: S): Effect[] {
    if (before.currency !== after.currency)
      return [leavingAs('currencyChanged', before), entering('currencyChanged', after)];
    const amount = centsOf(after).minus(centsOf(before));
    if (amount.eq(0)) return [];
    const isUnread = this.#rules.mayBeUnread && !before.value !== !after.value;
    const step = isUnread ? 'valueKnown' : amount.gt(0) ? 'valueUp' : 'valueDown';
    return [{ step, currency: after.currency, amount }];
  }

  /** A closed record leaves with its value at the end; any other with its value at the opening. */
  #leaving(before: S, after: S | undefined): Effect[] {
    if (after && this.#rules.isOpen(after)) {
      const isOutside = this.#rules.isOutsidePeriod(after);
      return [leavingAs(isOutside ? 'movedOut' : 'transferredOut', before)];
    }
    const end = after && this.#rules.endOf(after);
    if (!after || !end) return [leavingAs('removed', before)];
    return [...this.#valueEffects(before, after), leavingAs(end, after)];
  }

  #entryOf(before: S | undefined): Step {
    if (!before) return 'new';
    if (!this.#rules.isOpen(before)) return 'reopened';
    return this.#rules.isOutsidePeriod(before) ? 'movedIn' : 'transferredIn';
  }

  /** A record that was opened and closed between the two days enters and leaves with its value at the end. */
  #openedAndClosed(before: S | undefined, after: S): Effect[] {
    const rules = this.#rules;
    const end = rules.endOf(after);
    if (!end || !rules.matches(after)) return [];
    if (!before && rules.wasClosedBefore(after)) return [];
    if (before && !rules.isOpen(before) && !rules.closedAgain(before, after)) return [];
    return [entering(this.#entryOf(before), after), leavingAs(end, after)];
  }
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
