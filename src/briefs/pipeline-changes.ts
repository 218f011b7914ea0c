/**
 * How the open pipeline changed between two days: opening value, movements and closing value, which add up exactly in
 * every currency. Formulas: docs/definitions.md, "Changes of the pipeline".
 */
import type { Opportunity } from '../records/records.ts';
import { type Day, dayOf, daysBetween } from './days.ts';
import { type Deal, toDeal } from './deals.ts';
import { type Amounts, type CurrencyOf, CurrencySums, type Decimal, zero } from './money.ts';
import { compact, type Named, nonBlank, normaliseName } from './naming.ts';
import { type PipelineFilters, passesFilters, passesOpenFilters } from './pipeline.ts';
import { probabilityScale } from './probability.ts';

/** Every opportunity of a tenant at the end of a day. */
export interface PipelineState {
  day: Day;
  records: readonly Opportunity[];
}

/** The steps from the opening to the closing value, in the order in which they are shown. */
export const steps = [
  'new',
  'reopened',
  'movedIn',
  'transferredIn',
  'valueUp',
  'valueDown',
  'currencyChanged',
  'won',
  'lost',
  'closedUnknown',
  'removed',
  'movedOut',
  'transferredOut',
] as const;
export type Step = (typeof steps)[number];

/** Changes of deals that are open on both days. */
export const moves = [
  'stageForward',
  'stageBack',
  'stageChanged',
  'slipped',
  'pulledIn',
  'ownerChanged',
] as const;
type Move = (typeof moves)[number];

export type Movement = Step | Move;

/** A contribution to the sums; `count` is what it adds to the number of deals in the pipeline. */
export interface Effect {
  step: Step;
  currency: string;
  /** In whole cents, negative where value leaves the pipeline. */
  amount: Decimal;
  count: -1 | 0 | 1;
}

/** One deal on both days; absent where it did not exist. */
export interface DealChange {
  before: Deal | undefined;
  after: Deal | undefined;
  effects: Effect[];
  moves: Move[];
}

/** Which deals belong to the pipeline that is compared. */
export interface Scope {
  /** A deal that is open. */
  has(deal: Deal): boolean;
  /** A closed deal that would have belonged to it while it was open. */
  hasClosed(deal: Deal): boolean;
  /** Whether an open deal is outside of it because of its close date only. */
  isOutsidePeriod(deal: Deal): boolean;
}

/** The scope of these filters. A closed deal has another stage than before, so a stage filter leaves it out. */
export function scopeOf(filters: PipelineFilters): Scope {
  const { closeFrom: _from, closeTo: _to, ...others } = filters;
  const { stage: _stage, ...untilClosed } = filters;
  return {
    has: (deal) =>
      deal.outcome === 'open' &&
      passesFilters(deal, filters) &&
      passesOpenFilters(deal.record, filters),
    hasClosed: (deal) =>
      isClosed(deal) &&
      filters.stage === undefined &&
      passesFilters(deal, filters) &&
      passesOpenFilters(deal.record, untilClosed),
    isOutsidePeriod: (deal) =>
      passesFilters(deal, others) && passesOpenFilters(deal.record, others),
  };
}

const isClosed = ({ outcome }: Deal): boolean => outcome !== 'open' && outcome !== 'deleted';

/** Every deal of two days, paired by id. */
export function pairDeals(
  opening: PipelineState,
  closing: PipelineState,
  currencyOf: CurrencyOf,
): DealChange[] {
  const { scale } = probabilityScale([...opening.records, ...closing.records]);
  const before = new Map<string, Opportunity>();
  for (const record of opening.records) if (record.id) before.set(record.id, record);
  const pairs = new Map<string, DealChange>();
  for (const record of closing.records) {
    if (!record.id) continue;
    const was = before.get(record.id);
    before.delete(record.id);
    pairs.set(record.id, {
      before: was && toDeal(was, currencyOf, scale),
      after: toDeal(record, currencyOf, scale),
      effects: [],
      moves: [],
    });
  }
  for (const [id, record] of before) {
    const was = toDeal(record, currencyOf, scale);
    pairs.set(id, { before: was, after: undefined, effects: [], moves: [] });
  }
  return [...pairs.values()];
}

/** A deal's value in whole cents, so that sums of parts and wholes agree; an unknown value adds nothing. */
export const centsOf = ({ value }: Deal): Decimal => value?.round(2) ?? zero;

/** What a deal contributes. `since`: the day of the opening. */
function effectsOf({ before, after }: DealChange, scope: Scope, since: Day): Effect[] {
  const was = before && scope.has(before) ? before : undefined;
  const is = after && scope.has(after) ? after : undefined;
  if (was && is) return valueEffects(was, is);
  if (was) return leaving(was, after, scope);
  if (is) return [entering(entryOf(before, scope), is)];
  return passing(before, after, scope, since);
}

const entering = (step: Step, deal: Deal): Effect => ({
  step,
  currency: deal.currency,
  amount: centsOf(deal),
  count: 1,
});

const leavingAs = (step: Step, deal: Deal): Effect => ({
  step,
  currency: deal.currency,
  amount: zero.minus(centsOf(deal)),
  count: -1,
});

function valueEffects(before: Deal, after: Deal): Effect[] {
  const [was, is] = [centsOf(before), centsOf(after)];
  if (before.currency === after.currency) {
    const amount = is.minus(was);
    if (amount.eq(0)) return [];
    const step = amount.gt(0) ? 'valueUp' : 'valueDown';
    return [{ step, currency: after.currency, amount, count: 0 }];
  }
  const [from, to] = [before.currency, after.currency];
  return [
    { step: 'currencyChanged', currency: from, amount: zero.minus(was), count: 0 },
    { step: 'currencyChanged', currency: to, amount: is, count: 0 },
  ];
}

const closingSteps = { won: 'won', lost: 'lost', closed_unknown: 'closedUnknown' } as const;

/** A closed deal leaves with its value at the end; any other with its value at the opening. */
function leaving(before: Deal, after: Deal | undefined, scope: Scope): Effect[] {
  if (!after || after.outcome === 'deleted') return [leavingAs('removed', before)];
  if (after.outcome === 'open')
    return [leavingAs(scope.isOutsidePeriod(after) ? 'movedOut' : 'transferredOut', before)];
  return [...valueEffects(before, after), leavingAs(closingSteps[after.outcome], after)];
}

function entryOf(before: Deal | undefined, scope: Scope): Step {
  if (!before) return 'new';
  if (before.outcome !== 'open') return 'reopened';
  return scope.isOutsidePeriod(before) ? 'movedIn' : 'transferredIn';
}

/** A deal that came and was closed between the two days: it enters and leaves with its value at the end. */
function passing(
  before: Deal | undefined,
  after: Deal | undefined,
  scope: Scope,
  since: Day,
): Effect[] {
  if (!after || !scope.hasClosed(after) || (before && before.outcome !== 'open')) return [];
  const closed = dayOf(after.record.closedAt);
  if (!before && closed !== undefined && closed <= since) return [];
  const { outcome } = after;
  if (outcome === 'open' || outcome === 'deleted') return [];
  return [entering(entryOf(before, scope), after), leavingAs(closingSteps[outcome], after)];
}

/** Where a stage is in the pipeline: the median probability of its open deals, by key of the stage. */
export type StageOrder = ReadonlyMap<string, number>;

export const stageKey = ({ pipelineStage }: Opportunity): string | undefined =>
  refKey(pipelineStage);

/** Equal for references to the same record: its id, or its name where it has no id. */
function refKey(ref: Named | undefined): string | undefined {
  const id = nonBlank(ref?.id);
  if (id) return `id ${id}`;
  const name = nonBlank(ref?.name);
  return name && `name ${normaliseName(name)}`;
}

/** The order of the stages by all open deals of both days. */
function stageOrder(changes: readonly DealChange[]): StageOrder {
  const chances = new Map<string, number[]>();
  for (const deal of changes.flatMap(({ before, after }) => [before, after])) {
    const stage = deal?.outcome === 'open' ? stageKey(deal.record) : undefined;
    if (stage === undefined || !deal?.chance) continue;
    const known = chances.get(stage) ?? [];
    chances.set(stage, known);
    known.push(deal.chance.toNumber());
  }
  return new Map([...chances].map(([stage, known]) => [stage, median(known)]));
}

/** The middle of some numbers, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Whether a move from one stage to another is forward; `undefined` where their order is unknown. */
export function isForward(
  from: string | undefined,
  to: string | undefined,
  order: StageOrder,
): boolean | undefined {
  const [was, is] = [order.get(from ?? ''), order.get(to ?? '')];
  if (was === undefined || is === undefined || was === is) return undefined;
  return is > was;
}

/** How a deal that is open on both days moved. */
function movesOf({ before, after }: DealChange, order: StageOrder): Move[] {
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

/** Days by which the close date moved later; negative if earlier, `undefined` if one of the dates is unknown. */
export function slipDays(before: Opportunity, after: Opportunity): number | undefined {
  const [was, is] = [dayOf(before.expectedCloseDate), dayOf(after.expectedCloseDate)];
  return was && is ? daysBetween(was, is) : undefined;
}

export interface ChangeOptions extends PipelineFilters {
  currencyOf: CurrencyOf;
}

/** The deals of a scope that moved, with the order of the stages. */
export interface Comparison {
  opening: PipelineTotal;
  closing: PipelineTotal;
  /** Every deal that is in the pipeline on either day, or came and went between them. */
  changes: DealChange[];
  order: StageOrder;
}

/** Open deals of one day; `value` in whole cents by currency. */
export interface PipelineTotal {
  count: number;
  value?: Amounts;
  /** Deals without a known value. */
  unknownValue?: number;
}

/** Compares two days. */
export function compareStates(
  opening: PipelineState,
  closing: PipelineState,
  options: ChangeOptions,
): Comparison {
  const pairs = pairDeals(opening, closing, options.currencyOf);
  const scope = scopeOf(options);
  const order = stageOrder(pairs);
  const inScope = (deal: Deal | undefined): boolean => deal !== undefined && scope.has(deal);
  const changes = pairs.flatMap((pair) => {
    const effects = effectsOf(pair, scope, opening.day);
    const belongs = inScope(pair.before) || inScope(pair.after);
    if (!belongs && effects.length === 0) return [];
    return { ...pair, effects, moves: belongs ? movesOf(pair, order) : [] };
  });
  const totalInScope = (deals: readonly (Deal | undefined)[]) =>
    totalOf(deals.flatMap((deal) => (deal && scope.has(deal) ? deal : [])));
  return {
    opening: totalInScope(pairs.map(({ before }) => before)),
    closing: totalInScope(pairs.map(({ after }) => after)),
    changes,
    order,
  };
}

export function totalOf(deals: readonly Deal[]): PipelineTotal {
  const sums = new CurrencySums();
  for (const deal of deals) if (deal.value) sums.add(deal.currency, centsOf(deal));
  const unknown = deals.filter(({ value }) => !value).length;
  return compact({
    count: deals.length,
    value: sums.toAmounts(),
    unknownValue: unknown || undefined,
  });
}

/** One step: how many deals, and what they add to the pipeline or, negative, take from it. */
export interface StepRow {
  step: Step;
  count: number;
  value?: Amounts;
}

/** The steps that occur, in the order of `steps`. */
export function stepRows(changes: readonly DealChange[]): StepRow[] {
  return steps.flatMap((step) => {
    const sums = new CurrencySums();
    let count = 0;
    for (const { effects } of changes) {
      const own = effects.filter((effect) => effect.step === step);
      if (own.length > 0) count += 1;
      for (const { currency, amount } of own) sums.add(currency, amount);
    }
    return count === 0 ? [] : compact({ step, count, value: sums.toAmounts() });
  });
}

/** One kind of move: how many deals, and their value at the end. */
export interface MoveRow {
  move: Move;
  count: number;
  value?: Amounts;
}

export function moveRows(changes: readonly DealChange[]): MoveRow[] {
  return moves.flatMap((move) => {
    const moved = changes.filter((change) => change.moves.includes(move));
    if (moved.length === 0) return [];
    const { value } = totalOf(moved.flatMap(({ after }) => after ?? []));
    return compact({ move, count: moved.length, value });
  });
}
