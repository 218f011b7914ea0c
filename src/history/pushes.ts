/** How often close dates of open deals were moved later. Formulas: docs/definitions.md, "Changes of the pipeline". */
import { dealLabel, missingLabel, type PipelineBy } from '../briefs/pipeline/pipeline-groups.ts';
import { byValue, type Deal, dealRow, totalValue } from '../figures/deals.ts';
import { groupRows } from '../figures/group-labels.ts';
import { percentOfCounts } from '../figures/money.ts';
import { compact, limitList, nonBlank } from '../figures/naming.ts';
import { flatMapSteps, sortSteps } from '../figures/steps.ts';
import type { ListPart } from './movements.ts';
import { closesOf, type DealChange } from './pipeline-changes.ts';

interface Pushed extends DealChange {
  is: Deal;
  times: number;
}

/**
 * The deals that are open at the end and were pushed at least so many times.
 * @param slips how often each deal was pushed, by its id
 */
export function* pushesOf(
  changes: readonly DealChange[],
  slips: ReadonlyMap<string, number>,
  { by, atLeast, limit, from = 0 }: Omit<ListPart, 'only'> & { by: PipelineBy; atLeast: number },
) {
  const open = yield* flatMapSteps(changes, (change): Pushed[] => {
    const { is } = change;
    return is ? [{ ...change, is, times: slips.get(is.record.id ?? '') ?? 0 }] : [];
  });
  const isPushed = ({ times }: Pushed): boolean => times >= atLeast;
  const figuresOf = (deals: readonly Pushed[]) => {
    const pushed = deals.filter(isPushed);
    return compact({
      open: deals.length,
      pushed: pushed.length,
      pushRatePercent: percentOfCounts(pushed.length, deals.length),
      pushes: pushed.reduce((sum, { times }) => sum + times, 0),
      pushedValue: totalValue(pushed.map(({ is }) => is)).toAmounts(),
    });
  };
  const groups = yield* groupRows(open, {
    labelsOf: ({ is }) => dealLabel(is, by),
    ranksOf: (deals) => [deals.filter(isPushed).length, deals.length],
    limit: 24,
    missing: missingLabel(by),
    figuresOf,
  });
  const sorted = yield* sortSteps(
    open.filter(isPushed),
    (one, other) => other.times - one.times || byValue(one.is, other.is),
  );
  const { shown, rows } = limitList(sorted.slice(from), limit, toRow);
  const deals = { total: sorted.length, shown, rows };
  return { pushes: { atLeast, ...figuresOf(open) }, groups, deals };
}

const toRow = ({ before, is, times }: Pushed) =>
  compact({
    ...dealRow(is),
    owner: nonBlank(is.record.owner?.name),
    stage: nonBlank(is.record.pipelineStage?.name),
    slips: times,
    closes: closesOf(before, is),
  });
