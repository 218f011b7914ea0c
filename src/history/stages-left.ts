/** The stages that deals left between two days. Formulas: docs/definitions.md, "Changes of the pipeline". */
import type { Deal } from '../figures/deals.ts';
import { collectGroups, rankGroups } from '../figures/group-labels.ts';
import { percentOf, roundedPercent, zero } from '../figures/money.ts';
import { compact, named, nonZero } from '../figures/naming.ts';
import { flatMapSteps } from '../figures/steps.ts';
import { type DealChange, isForward, type StageOrder, stageKey } from './pipeline-changes.ts';

/** A deal that was in the pipeline, and is in another stage or closed. */
interface Exit {
  from: Deal;
  to: Deal;
}

function exitOf({ was, after }: DealChange): Exit[] {
  if (!was || !after || after.outcome === 'deleted' || !stageKey(was.record)) return [];
  const isLeft = after.outcome !== 'open' || stageKey(after.record) !== stageKey(was.record);
  return isLeft ? [{ from: was, to: after }] : [];
}

/** In the order of the stages; `undefined` if no deal left one. */
export function* stagesLeft(changes: readonly DealChange[], order: StageOrder) {
  const exits = yield* flatMapSteps(changes, exitOf);
  const groups = collectGroups(exits, ({ from }) => named(from.record.pipelineStage));
  const stages = rankGroups(groups, ([first]) => [-orderOf(first?.from, order)]);
  const rows = stages.map(({ label: { id, name }, items }) =>
    compact({ id: name ? undefined : id, name, ...figuresOf(items, order) }),
  );
  return rows.length > 0 ? rows : undefined;
}

const orderOf = (deal: Deal | undefined, order: StageOrder): number =>
  order.get((deal && stageKey(deal.record)) ?? '') ?? Number.MAX_VALUE;

/** A percentage of fewer deals is not shown: it would not be meaningful. */
const minLeft = 5;

/** `conversion`: moved forward or won, in percent of those that left. */
function figuresOf(exits: readonly Exit[], order: StageOrder) {
  const count = (is: (exit: Exit) => boolean) => exits.filter(is).length;
  const moved = (forward: boolean) =>
    count(
      ({ from, to }) =>
        to.outcome === 'open' &&
        isForward(stageKey(from.record), stageKey(to.record), order) === forward,
    );
  const [forward, won] = [moved(true), count(({ to }) => to.outcome === 'won')];
  const share = percentOf(zero.plus(forward + won), zero.plus(exits.length));
  return compact({
    left: exits.length,
    forward: nonZero(forward),
    back: nonZero(moved(false)),
    won: nonZero(won),
    lost: nonZero(count(({ to }) => to.outcome === 'lost')),
    conversion: exits.length >= minLeft && share ? roundedPercent(share) : undefined,
  });
}
