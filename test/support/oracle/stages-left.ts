import { Big } from 'big.js';
import { rounded } from './decimal.ts';
import { byName, grouped, only } from './order.ts';
import {
  type AskedChanges,
  type AskTenant,
  type DayDeal,
  dealsOn,
  isIn,
} from './pipeline-changes.ts';

interface Exit {
  before: DayDeal;
  after: DayDeal;
}

/** The expected stages that deals left between two days, as defined in docs/definitions.md. */
export function expectedStages(ask: AskTenant, from: string, to: string, asked: AskedChanges) {
  const [opening, closing] = [dealsOn(ask, from), dealsOn(ask, to)];
  const ranks = ranksOf([...opening.values(), ...closing.values()]);
  const exits = [...opening.values()].flatMap((before): Exit[] => {
    const after = closing.get(before.id);
    if (!after || !before.ids.stage || !isIn(before, asked)) return [];
    const isElsewhere = after.outcome === 'open' && after.ids.stage !== before.ids.stage;
    const isClosed = after.outcome !== 'open' && after.outcome !== 'deleted';
    return isElsewhere || isClosed ? [{ before, after }] : [];
  });
  const stages = [...grouped(exits, ({ before }) => before.ids.stage ?? '')].map(
    ([stage, own]) => ({
      rank: ranks.get(stage) ?? Number.POSITIVE_INFINITY,
      row: stageRow(own, ranks),
    }),
  );
  stages.sort((one, other) =>
    one.rank === other.rank ? byName(one.row, other.row) : one.rank < other.rank ? -1 : 1,
  );
  return stages.length === 0 ? undefined : stages.map(({ row }) => row);
}

function middle(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}

/** Median probability of the open deals of each stage. */
function ranksOf(deals: readonly DayDeal[]): Map<string, number> {
  const most = deals.some(({ probability }) => probability?.gt(1)) ? 100 : 1;
  const counted = deals.filter(
    ({ outcome, ids, probability }) =>
      outcome === 'open' && ids.stage && probability?.gte(0) && probability.lte(most),
  );
  const stages = grouped(counted, ({ ids }) => ids.stage ?? '');
  return new Map(
    [...stages].map(([stage, own]) => [
      stage,
      middle(own.map(({ probability }) => Number(probability))),
    ]),
  );
}

function stageRow(exits: readonly Exit[], ranks: ReadonlyMap<string, number>) {
  const count = (is: (exit: Exit) => boolean) => exits.filter(is).length;
  const isBeyond = (one: DayDeal, other: DayDeal): boolean => {
    const [rank, reference] = [ranks.get(one.ids.stage ?? ''), ranks.get(other.ids.stage ?? '')];
    return rank !== undefined && reference !== undefined && rank > reference;
  };
  const ended = (outcome: string) => count(({ after }) => after.outcome === outcome);
  const isOpen = ({ after }: Exit) => after.outcome === 'open';
  const forward = count((exit) => isOpen(exit) && isBeyond(exit.after, exit.before));
  const back = count((exit) => isOpen(exit) && isBeyond(exit.before, exit.after));
  const [left, won] = [exits.length, ended('won')];
  return only({
    name: exits[0]?.before.stageName,
    left,
    forward: forward || undefined,
    back: back || undefined,
    won: won || undefined,
    lost: ended('lost') || undefined,
    conversion: left >= 5 ? rounded(new Big(forward + won).times(100).div(left), 1) : undefined,
  });
}
