/** The records that moved, one row each, the largest first. */
import { rounded } from '../figures/money.ts';
import {
  byName,
  compact,
  type LimitedList,
  limitList,
  type Named,
  nonBlank,
} from '../figures/naming.ts';
import { flatMapSteps, type Steps, sortSteps } from '../figures/steps.ts';
import type { Ref } from '../service/records/records.ts';
import { isOneOf } from '../values.ts';
import { type Change, centsOf, type Pair, type Step, type Valued } from './movements.ts';

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
