/** What the snapshots between two days show: how often close dates slipped, and how long deals stay in a stage. */

import {
  type PipelineFilters,
  passesFilters,
  passesOpenFilters,
} from '../briefs/pipeline/pipeline.ts';
import { dayOf, daysBetween } from '../figures/days.ts';
import type { ReadDeal } from '../figures/deals.ts';
import { percentOf, roundedPercent, zero } from '../figures/money.ts';
import { byName, compact, groupBy, type Named, nonBlank } from '../figures/naming.ts';
import { type Outcome, outcomeOf } from '../figures/outcome.ts';
import { filterSteps, type Steps } from '../figures/steps.ts';
import type { Opportunity } from '../service/records/records.ts';
import { isForward, median, type StageOrder, slipDays, stageKey } from './pipeline-changes.ts';

/** How often and by how many days in all a close date moved later. */
export interface Slips {
  times: number;
  days: number;
}

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
  readonly slips = new Map<string, Slips>();
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
    this.#noteSlip(id, before, after);
    this.#noteExit(id, before, after, seen);
  }

  #noteSlip(id: string, before: Opportunity, after: Opportunity): void {
    const days = slipDays(before, after);
    if (days === undefined || days <= 0 || outcomeOf(after) !== 'open') return;
    const known = this.slips.get(id) ?? { times: 0, days: 0 };
    this.slips.set(id, { times: known.times + 1, days: known.days + days });
  }

  #noteExit(id: string, before: Opportunity, after: Opportunity, seen: string): void {
    const [from, to, outcome] = [stageKey(before), stageKey(after), outcomeOf(after)];
    const isUnchanged = outcome === 'open' && from === to;
    if (isUnchanged || outcome === 'deleted') return;
    const left = exitTime(before, after, seen);
    this.changedAt.set(id, left);
    if (from === undefined) return;
    const { pipelineStage } = before;
    this.exits.push({
      deal: after,
      from,
      label: compact({ id: nonBlank(pipelineStage?.id), name: nonBlank(pipelineStage?.name) }),
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
  filterSteps(exits, ({ deal, label }) => {
    const inStage = { ...deal, pipelineStage: { ...label } };
    return passesFilters(readDeal(deal), filters) && passesOpenFilters(inStage, filters);
  });

/** The deals that left one stage in the period. */
export interface StageRow extends Named {
  left: number;
  /** Median days in the stage, of the deals for which they are known. */
  medianDays?: number;
  forward?: number;
  back?: number;
  won?: number;
  lost?: number;
  /** Moved forward or won, in percent of those that left; from `minExits` on. */
  conversion?: number;
}

/** A percentage of fewer deals is not shown: it would not be meaningful. */
const minExits = 5;

/** Stages in their order, by the deals that left them. */
export function stageRows(exits: readonly StageExit[], order: StageOrder): StageRow[] {
  const ranked = [...groupBy(exits, ({ from }) => from)].map(([key, left]) => ({
    rank: order.get(key) ?? Number.MAX_VALUE,
    row: stageRow(left, order),
  }));
  ranked.sort((one, other) => one.rank - other.rank || byName(one.row, other.row));
  return ranked.map(({ row }) => row);
}

function stageRow(exits: readonly StageExit[], order: StageOrder): StageRow {
  const [label = {}] = exits.map((exit) => exit.label).sort(byName);
  const days = exits.flatMap((exit) => exit.days ?? []);
  const count = (is: (exit: StageExit) => boolean | undefined) => exits.filter(is).length;
  const forward = count(({ from, to }) => isForward(from, to, order));
  const back = count(({ from, to }) => isForward(from, to, order) === false);
  const won = count(({ outcome }) => outcome === 'won');
  const lost = count(({ outcome }) => outcome === 'lost');
  const share = percentOf(zero.plus(forward + won), zero.plus(exits.length));
  return compact({
    ...(label.name ? { name: label.name } : label),
    left: exits.length,
    medianDays: days.length > 0 ? Math.round(median(days)) : undefined,
    forward: forward || undefined,
    back: back || undefined,
    won: won || undefined,
    lost: lost || undefined,
    conversion: exits.length >= minExits && share ? roundedPercent(share) : undefined,
  });
}
