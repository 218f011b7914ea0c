/** What the snapshots between two days show: how often close dates slipped, and how long deals stay in a stage. */

import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import { dayOf, daysBetween } from '../figures/days.ts';
import type { ReadDeal } from '../figures/deals.ts';
import { percentOf, roundedPercent, zero } from '../figures/money.ts';
import { byName, compact, groupBy, type Named, named, nonZero } from '../figures/naming.ts';
import { type Outcome, outcomeOf } from '../figures/outcome.ts';
import { filterSteps, type Steps } from '../figures/steps.ts';
import type { Opportunity } from '../service/records/records.ts';
import {
  isForward,
  median,
  passesAll,
  type StageOrder,
  slipDays,
  stageKey,
} from './pipeline-changes.ts';

/** A deal that left a stage. */
export interface StageExit {
  deal: Opportunity;
  from: string;
  label: Named;
  /** The stage that followed, if the deal is still open. */
  to: string | undefined;
  outcome: Outcome;
  /** Days in the stage; unknown without the day on which the deal entered it. */
  days: number | undefined;
}

/** The changes of every deal over time, from snapshots in the order of time. */
export class DealSeries {
  /** How often the close date of a deal moved later. */
  readonly slips = new Map<string, number>();
  readonly exits: StageExit[] = [];
  /** Time of the last change of stage or outcome, as exactly as it is known. */
  readonly changedAt = new Map<string, string>();
  readonly #last = new Map<string, Opportunity>();

  /** @param opening the records of the first day */
  constructor(opening: readonly Opportunity[]) {
    for (const record of opening) if (record.id) this.#last.set(record.id, record);
  }

  /** Notes a deal, as seen at a time. */
  observe(after: Opportunity, seen: string): void {
    const { id } = after;
    if (id === undefined || id === '') return;
    const before = this.#last.get(id);
    if (before === after) return;
    this.#last.set(id, after);
    if (!before || outcomeOf(before) !== 'open') return;
    const isSlip = outcomeOf(after) === 'open' && (slipDays(before, after) ?? 0) > 0;
    if (isSlip) this.slips.set(id, (this.slips.get(id) ?? 0) + 1);
    this.#noteExit(id, before, after, seen);
  }

  #noteExit(id: string, before: Opportunity, after: Opportunity, seen: string): void {
    const [from, to, outcome] = [stageKey(before), stageKey(after), outcomeOf(after)];
    const isUnchanged = outcome === 'open' && from === to;
    if (isUnchanged || outcome === 'deleted') return;
    const left = exitTime(before, after, seen);
    this.changedAt.set(id, left);
    if (from === undefined) return;
    this.exits.push({
      deal: after,
      from,
      label: named(before.pipelineStage),
      to: outcome === 'open' ? to : undefined,
      outcome,
      days: daysInStage(before, left.slice(0, 10)),
    });
  }
}

/** When the deal left: by its own dates where they are later than those known before, else when it was seen. */
function exitTime(before: Opportunity, after: Opportunity, seen: string): string {
  const [entered, changed] = [before.stageUpdatedAt, after.stageUpdatedAt];
  if (dayOf(changed) && changed && (!dayOf(entered) || changed > (entered ?? ''))) return changed;
  return dayOf(after.closedAt) && after.closedAt ? after.closedAt : seen;
}

function daysInStage(before: Opportunity, left: string): number | undefined {
  const entered = dayOf(before.stageUpdatedAt);
  return entered && left >= entered ? daysBetween(entered, left) : undefined;
}

/** The exits that match the filters, by the stage that was left. */
export const matchingExits = (
  exits: readonly StageExit[],
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Steps<StageExit[]> =>
  filterSteps(exits, ({ deal, label }) =>
    passesAll({ ...readDeal(deal), record: { ...deal, pipelineStage: { ...label } } }, filters),
  );

/** A percentage of fewer deals is not shown: it would not be meaningful. */
const minExits = 5;

/** Stages in their order, by the deals that left them in the period. */
export function stageRows(exits: readonly StageExit[], order: StageOrder) {
  const ranked = [...groupBy(exits, ({ from }) => from)].map(([key, left]) => ({
    rank: order.get(key) ?? Number.MAX_VALUE,
    row: stageRow(left, order),
  }));
  ranked.sort((one, other) => one.rank - other.rank || byName(one.row, other.row));
  return ranked.map(({ row }) => row);
}

/** `conversion`: moved forward or won, in percent of those that left. */
function stageRow(exits: readonly StageExit[], order: StageOrder) {
  const { id, name } = exits.map((exit) => exit.label).sort(byName)[0] ?? {};
  const days = exits.flatMap((exit) => exit.days ?? []);
  const count = (is: (exit: StageExit) => boolean | undefined) => exits.filter(is).length;
  const forward = count(({ from, to }) => isForward(from, to, order));
  const won = count(({ outcome }) => outcome === 'won');
  const share = percentOf(zero.plus(forward + won), zero.plus(exits.length));
  return compact({
    id: name ? undefined : id,
    name,
    left: exits.length,
    medianDays: days.length > 0 ? Math.round(median(days)) : undefined,
    forward: nonZero(forward),
    back: nonZero(count(({ from, to }) => isForward(from, to, order) === false)),
    won: nonZero(won),
    lost: nonZero(count(({ outcome }) => outcome === 'lost')),
    conversion: exits.length >= minExits && share ? roundedPercent(share) : undefined,
  });
}
