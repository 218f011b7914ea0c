/** Deals, as the comparison of two days sees them. Formulas: docs/definitions.md, "Changes of the pipeline". */

import {
  type PipelineFilters,
  passesAll,
  passesFilters,
  passesStage,
} from '../briefs/pipeline/pipeline.ts';
import { type Day, dayOf, daysBetween, median } from '../figures/days.ts';
import { type Deal, type ReadDeal, toDeal } from '../figures/deals.ts';
import { compact, nonZero } from '../figures/fields.ts';
import { addTo, countsBy, groupBy } from '../figures/lists.ts';
import { type CurrencyOf, percentOfCounts } from '../figures/money.ts';
import { byName, type Named, named } from '../figures/naming.ts';
import { type Outcome, outcomeOf } from '../figures/outcome.ts';
import { probabilityScale } from '../figures/probability.ts';
import { filterSteps, forEachStep, type Steps } from '../figures/steps.ts';
import type { Opportunity } from '../service/records/records.ts';
import { isOneOf } from '../values.ts';
import type { Snapshot } from './history.ts';
import {
  arrow,
  type Change,
  type ListPart,
  type MovementRules,
  movedColumns,
  movedRows,
  type Pair,
  quoteEnds,
  refArrow,
  refKey,
  type Step,
  steps,
} from './movements.ts';

/** Every opportunity of a tenant at the end of a day. */
export type PipelineState = Pick<Snapshot, 'day' | 'records'>;

/** Steps that deals do not have. */
const ofQuotesOnly = ['valueKnown', ...quoteEnds] as const;
export type DealStep = Exclude<Step, (typeof ofQuotesOnly)[number]>;

/** Changes of deals that are open on both days. */
const moves = [
  'stageForward',
  'stageBack',
  'stageChanged',
  'slipped',
  'pulledIn',
  'ownerChanged',
] as const;
export type Move = (typeof moves)[number];
export type Movement = DealStep | Move;

export const dealMovements: readonly string[] = [
  ...steps.filter((step) => !isOneOf(ofQuotesOnly, step)),
  ...moves,
];

export type DealChange = Change<Deal, Move>;

export interface ChangeOptions extends PipelineFilters {
  currencyOf: CurrencyOf;
}

/** The step by which a deal leaves the pipeline, by its outcome. */
export const ends = {
  open: undefined,
  won: 'won',
  lost: 'lost',
  closed_unknown: 'closedUnknown',
  deleted: 'removed',
} as const;

export type TwoPipelines = Record<'opening' | 'closing', PipelineState>;

/**
 * How deals of the period are read: the scale of their probability is that of both states. Each record is read once,
 * because most deals are the same in several states.
 */
export function periodDeals({ opening, closing }: TwoPipelines, currencyOf: CurrencyOf): ReadDeal {
  const { scale } = probabilityScale([...opening.records, ...closing.records]);
  const known = new WeakMap<Opportunity, Deal>();
  return (record) => {
    const deal = known.get(record) ?? toDeal(record, currencyOf, scale);
    known.set(record, deal);
    return deal;
  };
}

/**
 * The deals of some filters. A closed deal has another stage than before, so a stage filter leaves it out.
 * @param since the day of the opening
 */
export const dealRules = (
  since: Day,
  filters: PipelineFilters,
  readDeal: ReadDeal,
  order: StageOrder,
): MovementRules<Opportunity, Deal, Move> => ({
  moves,
  mayBeUnread: false,
  read: readDeal,
  matches: (deal) =>
    (deal.outcome === 'open' || filters.stage === undefined) && passesAll(deal, filters),
  endOf: ({ outcome }) => ends[outcome],
  wasOpenBetween: (before, after) => wasOpenSince(since, before, after),
  staysClosed: (deal) => passesFilters(deal, filters),
  isOutsidePeriod: (deal) => passesFilters(deal, filters) && passesStage(deal, filters),
  movesOf: (states) => movesOf(states, order),
});

/** Whether a deal that is closed now, and was closed or absent on a day, was open in between. */
export function wasOpenSince(
  since: Day,
  before: Deal | undefined,
  { outcome, record }: Deal,
): boolean {
  const closed = dayOf(record.closedAt);
  // Not one whose outcome is only told otherwise now.
  if (before) return isOtherwise(before.outcome, outcome) && (closed ?? '') > since;
  return closed === undefined || closed > since || isCreatedFrom(record, since);
}

/** Whether a deal that was closed was won, and is lost now, or the other way round. */
const isOtherwise = (before: Outcome, after: Outcome): boolean =>
  (before === 'lost' && after === 'won') || (before === 'won' && after === 'lost');

/** Whether a record that a state lacks was made after it: a state is of some time of its day. */
export const isCreatedFrom = ({ createdAt }: { createdAt?: string }, since: Day): boolean =>
  (dayOf(createdAt) ?? '') >= since;

function movesOf({ before, after }: Pair<Deal>, order: StageOrder): Move[] {
  if (before?.outcome !== 'open' || after?.outcome !== 'open') return [];
  const found: Move[] = [];
  const [from, to] = [stageKey(before.record), stageKey(after.record)];
  if (from !== to) {
    const forward = isForward(from, to, order);
    found.push(forward === undefined ? 'stageChanged' : forward ? 'stageForward' : 'stageBack');
  }
  const days = slipDays(before.record, after.record);
  if (days) found.push(days > 0 ? 'slipped' : 'pulledIn');
  if (refKey(before.record.owner) !== refKey(after.record.owner)) found.push('ownerChanged');
  return found;
}

const comparedFields = [
  ...(['owner', 'pipelineStage', 'statusId', 'currency', 'probability', 'closedAt'] as const),
  ...(['onetimeRevenue', 'monthlyRevenue', 'valueMonths', 'expectedCloseDate'] as const),
];
/** Fewer deals may lose a field by chance. */
const minReshaped = 5;

/** The fields that nearly all deals of both days had, and none has now, or the other way round; with their number. */
export function* reshapedFields(pairs: Iterable<Pair<Opportunity>>) {
  const counts = comparedFields.map((field) => ({ field, before: 0, after: 0 }));
  let deals = 0;
  yield* forEachStep(pairs, ({ before, after }) => {
    if (!before || !after) return;
    deals += 1;
    for (const count of counts) {
      if (before[count.field] !== undefined) count.before += 1;
      if (after[count.field] !== undefined) count.after += 1;
    }
  });
  const nearlyAll = Math.max(minReshaped, deals * 0.9);
  return counts.filter(
    ({ before, after }) => Math.min(before, after) === 0 && Math.max(before, after) >= nearlyAll,
  );
}

/** Where a stage is in the pipeline: the median probability of its open deals, by key of the stage. */
export type StageOrder = ReadonlyMap<string, number>;

export function* stageOrder(
  records: readonly Opportunity[],
  readDeal: ReadDeal,
): Steps<StageOrder> {
  const chances = new Map<string, number[]>();
  yield* forEachStep(records, (record) => {
    const { outcome, chance } = readDeal(record);
    const stage = stageKey(record);
    if (outcome === 'open' && stage !== undefined && chance)
      addTo(chances, stage, chance.toNumber());
  });
  return new Map([...chances].map(([stage, known]) => [stage, median(known)]));
}

const stageKey = ({ pipelineStage }: Opportunity): string | undefined => refKey(pipelineStage);

/** Whether a move from one stage to another is forward; `undefined` where their order is unknown. */
function isForward(
  from: string | undefined,
  to: string | undefined,
  order: StageOrder,
): boolean | undefined {
  const [was, is] = [order.get(from ?? ''), order.get(to ?? '')];
  if (was === undefined || is === undefined || was === is) return undefined;
  return is > was;
}

/** Days by which the close date moved later; negative if earlier, `undefined` if one of the dates is unknown. */
function slipDays(before: Opportunity, after: Opportunity): number | undefined {
  const [was, is] = [dayOf(before.expectedCloseDate), dayOf(after.expectedCloseDate)];
  return was && is ? daysBetween(was, is) : undefined;
}

/** What is known of each deal between the two days, by id: how often it slipped, and its last change. */
type Course = Pick<DealSeries, 'slips' | 'changedAt'>;

/** The deals that moved, one row each. */
export const changeRows = (changes: readonly DealChange[], course: Course, part: ListPart) =>
  movedRows(
    changes,
    {
      nameOf: ({ record }) => named(record),
      toRow: (change: DealChange) => changeRow(change, course),
    },
    part,
  );

export type ChangeRow = ReturnType<typeof changeRow>;

/** `slipDays`: days by which the close date moved later; `at`: when the stage or the outcome changed last. */
function changeRow(change: DealChange, { slips, changedAt }: Course) {
  const { before, after } = change;
  const { id, name } = named((after ?? before)?.record);
  return compact({
    id,
    name,
    ...movedColumns(change),
    stage: refArrow(before?.record, after?.record, ({ pipelineStage }) => pipelineStage),
    closes: closesOf(before, after),
    slipDays: (before && after && slipDays(before.record, after.record)) || undefined,
    slips: slips.get(id ?? ''),
    at: changedAt.get(id ?? ''),
  });
}

/** The close date before and after. */
export const closesOf = (before: Deal | undefined, after: Deal | undefined): string | undefined =>
  arrow(before?.record, after?.record, ({ expectedCloseDate }) => dayOf(expectedCloseDate));

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

  constructor(opening: readonly Opportunity[]) {
    for (const record of opening) if (record.id) this.#last.set(record.id, record);
  }

  /** Each deal as it was seen last. */
  latest = (): Opportunity[] => [...this.#last.values()];

  /** The outcome of the deal when it was seen last: snapshots do not keep closed deals for ever. */
  outcomeNow({ deal, outcome }: StageExit): Outcome {
    const latest = this.#last.get(deal.id ?? '');
    return latest ? outcomeOf(latest) : outcome;
  }

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

/** When the deal left: by its own dates where they are later than the days known before, else when it was seen. */
function exitTime(before: Opportunity, after: Opportunity, seen: string): string {
  const { stageUpdatedAt: changed = '', closedAt } = after;
  // Snapshots keep days, which any time of the same day would follow.
  if ((dayOf(changed) ?? '') > (dayOf(before.stageUpdatedAt) ?? '')) return changed;
  return dayOf(closedAt) && closedAt ? closedAt : seen;
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

const percentOfMany = (some = 0, others = 0): number | undefined =>
  some + others >= minExits ? percentOfCounts(some, some + others) : undefined;

/** Stages in their order, by the deals that left them in the period. */
export function stageRows(
  exits: readonly StageExit[],
  order: StageOrder,
  outcomeNow: (exit: StageExit) => Outcome,
) {
  const ranked = [...groupBy(exits, ({ from }) => from)].map(([key, left]) => ({
    rank: order.get(key) ?? Number.MAX_VALUE,
    row: stageRow(left, order, outcomeNow),
  }));
  ranked.sort((one, other) => one.rank - other.rank || byName(one.row, other.row));
  return ranked.map(({ row }) => row);
}

/** Steps back are no losses. The win rate is that of the deals, whichever stages they were in later. */
function stageRow(
  exits: readonly StageExit[],
  order: StageOrder,
  outcomeNow: (exit: StageExit) => Outcome,
) {
  const { id, name } = exits.map((exit) => exit.label).sort(byName)[0] ?? {};
  const days = exits.flatMap((exit) => exit.days ?? []);
  const count = (is: (exit: StageExit) => boolean | undefined) => exits.filter(is).length;
  const forward = count(({ from, to }) => isForward(from, to, order));
  const { won = 0, lost = 0 } = countsBy(exits, ({ outcome }) => outcome);
  const deals = new Map(exits.map((exit) => [exit.deal.id ?? exit, outcomeNow(exit)]));
  const now = countsBy(deals.values(), (outcome) => outcome);
  const rank = order.get(exits[0]?.from ?? '');
  return compact({
    id: name ? undefined : id,
    name,
    left: exits.length,
    medianDays: days.length > 0 ? Math.round(median(days)) : undefined,
    forward: nonZero(forward),
    back: nonZero(count(({ from, to }) => isForward(from, to, order) === false)),
    won: nonZero(won),
    lost: nonZero(lost),
    conversionPercent: percentOfMany(forward + won, lost),
    winRatePercent: percentOfMany(now.won, now.lost),
    probabilityPercent: rank === undefined ? undefined : percentOfCounts(rank, 1),
  });
}
