/** What the snapshots between two days show: how often close dates slipped, and how long deals stay in a stage. */

import { dayOf, daysBetween } from '../figures/days.ts';
import { percentOf, roundedPercent, zero } from '../figures/money.ts';
import { byName, compact, groupBy, type Named, nonBlank } from '../figures/naming.ts';
import { type Outcome, outcomeOf } from '../figures/outcome.ts';
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

/** The changes of every deal over time, from observations in the order of time. */
export class DealSeries {
  readonly slips = new Map<string, Slips>();
  readonly exits: StageExit[] = [];
  /** Time of the last change of stage or outcome, as exactly as it is known. */
  readonly changedAt = new Map<string, string>();
  readonly #last = new Map<string, Opportunity>();
  /** The time of the last snapshot, and of the last change of a deal that an event reported, in milliseconds. */
  #snapshotAt: number;
  readonly #eventAt = new Map<string, number>();

  /** @param opening the records of the first day, read at `takenAt` */
  constructor(opening: readonly Opportunity[], takenAt: Date) {
    this.#snapshotAt = takenAt.getTime();
    for (const record of opening) if (record.id) this.#last.set(record.id, record);
  }

  /** Notes the time of the snapshot whose deals are observed next. */
  startSnapshot(takenAt: Date): void {
    this.#snapshotAt = takenAt.getTime();
  }

  /** Notes a deal, as seen at a time. */
  observe(record: Opportunity, seen: string): void {
    if (record.id) this.#observe(record.id, record, seen);
  }

  /** Notes an event: the fields of a deal that it carries; the others are as before. */
  observeEvent(id: string, fields: Opportunity, seen: string): void {
    const before = this.#last.get(id);
    if (before && this.#isNewer(id, fields)) this.#observe(id, { ...before, ...fields, id }, seen);
  }

  /** Whether an event is newer than what is known: one that arrives late, again or out of order is not. */
  #isNewer(id: string, fields: Opportunity): boolean {
    const changedAt = timeOf(fields.updatedAt) ?? timeOf(fields.stageUpdatedAt);
    if (changedAt === undefined) return true;
    if (changedAt <= Math.max(this.#snapshotAt, this.#eventAt.get(id) ?? 0)) return false;
    this.#eventAt.set(id, changedAt);
    return true;
  }

  #observe(id: string, after: Opportunity, seen: string): void {
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

/** A text with a time of day, in milliseconds; a day alone does not say what came first. */
function timeOf(text: string | undefined): number | undefined {
  const time =
    text === undefined || text.length <= 'YYYY-MM-DD'.length ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
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
export const minExits = 5;

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
