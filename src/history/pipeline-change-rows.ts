/** The deals that moved, one row each, the largest first. */
import { dayOf } from '../figures/days.ts';
import type { Deal } from '../figures/deals.ts';
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
import type { DealSeries } from './pipeline-change-series.ts';
import { centsOf, type DealChange, type Movement, slipDays } from './pipeline-changes.ts';

/** `value` in `currency` at the end, or before the deal left; texts with an arrow are "before → after". */
export interface ChangeRow {
  id?: string;
  name?: string;
  company?: string;
  owner?: string;
  movement: Movement[];
  value?: number;
  currency?: string;
  /** Difference of the values of both days. */
  valueChange?: number;
  stage?: string;
  /** Expected close date. */
  closes?: string;
  /** Days by which the close date moved later; negative if earlier. */
  slipDays?: number;
  /** How often it moved later. */
  slips?: number;
  /** When the stage or the outcome changed last. */
  at?: string;
}

/** Every movement of a deal: its steps, then its moves. */
const movementsOf = ({ effects, moves }: DealChange): Movement[] => [
  ...new Set<Movement>([...effects.map(({ step }) => step), ...moves]),
];

export function* changeRows(
  changes: readonly DealChange[],
  series: Pick<DealSeries, 'slips' | 'changedAt'>,
  limit: number,
  only?: Movement,
): Steps<LimitedList<ChangeRow>> {
  const reader = { movementsOf, rankOf, labelOf };
  const ranked = yield* rankChanges(changes, reader, only);
  return limitList(ranked, limit, ({ change, movement }) => rowOf(change, movement, series));
}

/** How to rank changes: by their larger value, then by name. */
interface ChangeReader<C, M> {
  movementsOf(change: C): M[];
  rankOf(change: C): number;
  labelOf(change: C): Named;
}

interface RankedChange<C, M> {
  change: C;
  movement: M[];
  rank: number;
}

/** The changes that have a movement, or this one, the largest first. */
export function* rankChanges<C, M>(
  changes: readonly C[],
  { movementsOf, rankOf, labelOf }: ChangeReader<C, M>,
  only: M | undefined,
): Steps<readonly RankedChange<C, M>[]> {
  const moved = yield* flatMapSteps(changes, (change) => {
    const movement = movementsOf(change);
    const isWanted = only === undefined ? movement.length > 0 : movement.includes(only);
    return isWanted ? [{ change, movement, rank: rankOf(change) }] : [];
  });
  return yield* sortSteps(
    moved,
    (one, other) => other.rank - one.rank || byName(labelOf(one.change), labelOf(other.change)),
  );
}

const dealOf = ({ before, after }: DealChange): Deal | undefined => after ?? before;
const labelOf = (change: DealChange): Named => {
  const { id, name } = dealOf(change)?.record ?? {};
  return compact({ id, name });
};

/** The larger of both values. */
const rankOf = ({ before, after }: DealChange): number =>
  Math.max(...[before, after].map((deal) => deal?.rank ?? -Number.MAX_VALUE));

function rowOf(
  change: DealChange,
  movement: Movement[],
  series: Pick<DealSeries, 'slips' | 'changedAt'>,
): ChangeRow {
  const { before, after } = change;
  const deal = dealOf(change);
  if (!deal) return { movement };
  const { record, value, currency } = deal;
  const id = nonBlank(record.id);
  const slipped = before && after && slipDays(before.record, after.record);
  return compact({
    id,
    name: nonBlank(record.name),
    company: nonBlank(record.company?.name),
    owner: arrow(before, after, ({ record: { owner } }) => nonBlank(owner?.name)),
    movement,
    value: value && rounded(value),
    currency: value && currency,
    valueChange: valueChange(before, after),
    stage: arrow(before, after, ({ record: { pipelineStage } }) => nonBlank(pipelineStage?.name)),
    closes: arrow(before, after, ({ record: { expectedCloseDate } }) => dayOf(expectedCloseDate)),
    slipDays: slipped || undefined,
    slips: id === undefined ? undefined : series.slips.get(id)?.times,
    at: id === undefined ? undefined : series.changedAt.get(id),
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

function valueChange(before: Deal | undefined, after: Deal | undefined): number | undefined {
  if (!before || !after || before.currency !== after.currency) return undefined;
  return rounded(centsOf(after).minus(centsOf(before))) || undefined;
}
