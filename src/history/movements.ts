/**
 * How the open records of one kind changed between two days: opening, steps and closing, which add up exactly in every
 * currency. Formulas: docs/definitions.md, "Changes of the pipeline".
 */

import { compact, nonBlank, nonZero } from '../figures/fields.ts';
import { groupKey } from '../figures/group-labels.ts';
import { type LimitedList, limitSorted } from '../figures/lists.ts';
import { CurrencySums, type Decimal, rounded, zero } from '../figures/money.ts';
import { byName, type Named, named, nameOrId } from '../figures/naming.ts';
import { filterSteps, forEachStep, type Steps } from '../figures/steps.ts';
import type { Ref } from '../service/records/records.ts';

const entrySteps = ['new', 'reopened', 'movedIn', 'transferredIn'] as const;
const valueSteps = ['valueUp', 'valueDown', 'valueKnown', 'currencyChanged'] as const;
export const dealEnds = ['won', 'lost', 'closedUnknown'] as const;
export const quoteEnds = ['accepted', 'declined', 'expired', 'otherStatus'] as const;
const exitSteps = ['removed', 'movedOut', 'transferredOut'] as const;

/** The steps from the opening to the closing, of deals and of quotes, in the order in which they are shown. */
export const steps = [
  ...entrySteps,
  ...valueSteps,
  ...dealEnds,
  ...quoteEnds,
  ...exitSteps,
] as const;
export type Step = (typeof steps)[number];

/** A record on one day, with its value, which may be unknown. */
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
  /** Its steps, then its moves. */
  movement: readonly (Step | M)[];
}

/** What kinds of records differ in. A state is a record on one of the two days. */
export interface MovementRules<R, S extends Valued, M extends string> {
  /** Changes that are no step, in the order in which they are shown. */
  readonly moves: readonly M[];
  /** Whether an unknown value may be one that was not read. Then it is no change if it is known on one day only. */
  readonly mayBeUnread: boolean;
  read(record: R, day: 'opening' | 'closing'): S;
  /** Whether it matches the filters; if it is closed, whether it did while it was open. */
  matches(state: S): boolean;
  /** The step by which it left the open records: `removed` if it is deleted, `undefined` if it is open. */
  endOf(state: S): Step | undefined;
  /** Whether a record that was absent or closed on the first day, and is closed now, was open in between. */
  wasOpenBetween(before: S | undefined, after: S): boolean;
  /** Whether an open record does not match because of its date only. */
  isOutsidePeriod?(state: S): boolean;
  /** Whether a record that was closed is still one of those that are asked for; `matches` if absent. */
  staysClosed?(state: S): boolean;
  movesOf(states: Pair<S>): M[];
}

/** The open records of both days, and those that changed. */
export interface Comparison<S, M> {
  /** The opening, the steps that occur, with what they add to the open records or, negative, take from them, and the closing. */
  rows: StepRow[];
  /** Those that occur: how many records, and their value at the end. */
  moves: MoveRow<M>[];
  /** Records that were open on one of the days or in between, or have a step or a move. */
  changes: readonly Change<S, M>[];
}

export type MoveRow<M> = { move: M } & ReturnType<OpenSum['toCountAndValue']>;
export type StepRow = { step: Step | 'opening' | 'closing' } & OpenTotal;

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

export function* compareRecords<R, S extends Valued, M extends string>(
  pairs: Iterable<Pair<R>>,
  rules: MovementRules<R, S, M>,
): Steps<Comparison<S, M>> {
  const [opening, closing] = [new OpenSum(), new OpenSum()];
  const sums = new Map<string, OpenSum>();
  const changes: Change<S, M>[] = [];
  yield* forEachStep(pairs, ({ before, after }) => {
    const states = {
      before: before && rules.read(before, 'opening'),
      after: after && rules.read(after, 'closing'),
    };
    const change = changeOf(states, rules);
    if (change.was) opening.add(change.was);
    if (change.is) closing.add(change.is);
    if (change.was ?? change.is ?? change.movement[0]) changes.push(change);
    addMovement(sums, change);
  });
  const rows = <N extends string, Row>(names: readonly N[], toRow: (name: N) => Row) =>
    names.flatMap((name) => {
      const sum = sums.get(name);
      return sum ? [{ ...toRow(name), ...sum.toCountAndValue() }] : [];
    });
  return {
    rows: [
      { step: 'opening', ...opening.toTotal() },
      ...rows(steps, (step) => ({ step })),
      { step: 'closing', ...closing.toTotal() },
    ],
    moves: rows(rules.moves, (move) => ({ move })),
    changes,
  };
}

function addMovement(sums: Map<string, OpenSum>, { movement, effects, after }: Change): void {
  for (const name of movement) {
    const sum = sums.get(name) ?? new OpenSum();
    sums.set(name, sum);
    const own = effects.filter(({ step }) => step === name);
    if (own.length > 0) sum.addEffects(own);
    else if (after) sum.add(after);
  }
}

function changeOf<S extends Valued, M extends string>(
  { before, after }: Pair<S>,
  rules: MovementRules<never, S, M>,
): Change<S, M> {
  const ifIn = (state: S | undefined) =>
    state && !rules.endOf(state) && rules.matches(state) ? state : undefined;
  const [was, is] = [ifIn(before), ifIn(after)];
  const isClosedMatch = !is && after !== undefined && rules.matches(after);
  const effects =
    was && is
      ? valueEffects(was, is, rules)
      : was
        ? leaving(was, after, rules)
        : is
          ? [entering(entryOf(before, rules), is)]
          : isClosedMatch
            ? openedAndClosed(before, after, rules)
            : [];
  const moves = was || is || isClosedMatch ? rules.movesOf({ before, after }) : [];
  const movement = [...new Set([...effects.map(({ step }) => step), ...moves])];
  return { before, after, was, is, effects, movement };
}

type StateRules<S extends Valued> = Omit<MovementRules<never, S, string>, 'movesOf'>;

function valueEffects<S extends Valued>(
  before: S,
  after: S,
  { mayBeUnread }: StateRules<S>,
): Effect[] {
  if (before.currency !== after.currency)
    return [leavingAs('currencyChanged', before), entering('currencyChanged', after)];
  const amount = centsOf(after).minus(centsOf(before));
  if (amount.eq(0)) return [];
  const isUnread = mayBeUnread && !before.value !== !after.value;
  const step = isUnread ? 'valueKnown' : amount.gt(0) ? 'valueUp' : 'valueDown';
  return [{ step, currency: after.currency, amount }];
}

/** A closed record leaves with its value at the end; any other with its value at the opening. */
function leaving<S extends Valued>(was: S, after: S | undefined, rules: StateRules<S>): Effect[] {
  const end = after ? rules.endOf(after) : 'removed';
  if (!after || end === 'removed') return [leavingAs('removed', was)];
  const stays = rules.staysClosed ?? rules.matches;
  if (end && stays(after)) return [...valueEffects(was, after, rules), leavingAs(end, after)];
  return [leavingAs(!end && rules.isOutsidePeriod?.(after) ? 'movedOut' : 'transferredOut', was)];
}

function entryOf<S extends Valued>(before: S | undefined, rules: StateRules<S>): Step {
  if (!before) return 'new';
  if (rules.endOf(before)) return 'reopened';
  return rules.isOutsidePeriod?.(before) ? 'movedIn' : 'transferredIn';
}

/** A record that was opened and closed between the two days enters and leaves with its value at the end. */
function openedAndClosed<S extends Valued>(
  before: S | undefined,
  after: S,
  rules: StateRules<S>,
): Effect[] {
  const end = rules.endOf(after);
  if (!end || end === 'removed') return [];
  const wasOpen = before && !rules.endOf(before);
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
  amount: centsOf(state).neg(),
});

/** Of open records of one day; `unknownValue`: records without a known value. */
export type OpenTotal = ReturnType<OpenSum['toTotal']>;

export class OpenSum {
  readonly #value = new CurrencySums();
  #count = 0;
  #unknownValue = 0;

  add(state: Valued): void {
    this.#count += 1;
    if (state.value) this.#value.add(state.currency, centsOf(state));
    else this.#unknownValue += 1;
  }

  addEffects(effects: readonly Effect[]): void {
    this.#count += 1;
    for (const { currency, amount } of effects) this.#value.add(currency, amount);
  }

  /** `value` in whole cents by currency. */
  toCountAndValue() {
    return compact({ count: this.#count, value: this.#value.toAmounts() });
  }

  toTotal() {
    return { ...this.toCountAndValue(), ...compact({ unknownValue: nonZero(this.#unknownValue) }) };
  }
}

interface RecordState extends Valued {
  record: { id?: string; company?: Ref; owner?: Ref };
}

/** Which rows of a list are wanted: those with one of these movements, from a position on. */
export interface ListPart {
  limit: number;
  from?: number | undefined;
  only?: readonly string[] | undefined;
}

/** What a person asks about first, if no movement is asked for. */
const shownFirst = ['won', 'accepted', 'lost', 'declined', 'new', 'slipped'];

/** The records that moved as rows: by their movement, in the order in which these were asked for; the largest first. */
export function* movedRows<S extends RecordState, M, Row>(
  changes: readonly Change<S, M>[],
  { nameOf, toRow }: { nameOf(state: S): Named; toRow(change: Change<S, M>): Row },
  { limit, from, only }: ListPart,
): Steps<LimitedList<Row>> {
  const moved = yield* filterSteps(changes, ({ movement }) =>
    movement.some((name) => only?.includes(String(name)) ?? true),
  );
  const nameIn = ({ before, after }: Pair<S>): Named => {
    const latest = after ?? before;
    return latest ? nameOf(latest) : {};
  };
  const placeOf = ({ movement }: Change<S, M>): number => {
    const place = (only ?? shownFirst).findIndex((name) => movement.map(String).includes(name));
    return place < 0 ? shownFirst.length : place;
  };
  const order = (one: Change<S, M>, other: Change<S, M>): number =>
    placeOf(one) - placeOf(other) ||
    rankOf(other) - rankOf(one) ||
    byName(nameIn(one), nameIn(other));
  return yield* limitSorted(moved, order, limit, toRow, from);
}

const rankOf = ({ before, after }: Pair<Valued>): number =>
  Math.max(...[before, after].map((state) => state?.value?.toNumber() ?? -Number.MAX_VALUE));

/** The columns of every kind: `value` in `currency` at the end, or before the record left. */
export function movedColumns<M>({ before, after, movement }: Change<RecordState, M>) {
  const { record, value, currency }: Partial<RecordState> = after ?? before ?? {};
  return compact({
    company: nonBlank(record?.company?.name),
    owner: refArrow(before?.record, after?.record, ({ owner }) => owner),
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

/** Equal for references to the same record; `undefined` for one that names none. */
export const refKey = (ref: Ref | undefined): string | undefined =>
  nameOrId(ref) && groupKey(named(ref));

/** `arrow` for the name of what is referred to, which may be renamed meanwhile. */
export const refArrow = <T>(
  before: T | undefined,
  after: T | undefined,
  read: (state: T) => Ref | undefined,
): string | undefined => {
  const isSame = after && before && refKey(read(before)) === refKey(read(after));
  return arrow(isSame ? undefined : before, after, (state) => nonBlank(read(state)?.name));
};

/** The difference of both values, if both are known and in one currency. */
function valueChange(before: Valued | undefined, after: Valued | undefined): number | undefined {
  if (!before?.value || !after?.value || before.currency !== after.currency) return undefined;
  return rounded(centsOf(after).minus(centsOf(before))) || undefined;
}
