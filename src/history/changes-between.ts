import { type PipelineFilters, passesFilters } from '../briefs/pipeline/pipeline.ts';
import {
  missingLabel,
  type PipelineBy,
  pipelineBy,
  referenceLabel,
} from '../briefs/pipeline/pipeline-groups.ts';
import { dayOf } from '../figures/days.ts';
import type { Deal, ReadDeal } from '../figures/deals.ts';
import { groupKey, groupRows, type Label, monthLabel } from '../figures/group-labels.ts';
import { type Amounts, CurrencySums, type Decimal, zero } from '../figures/money.ts';
import { compact, type LimitedList, type Named } from '../figures/naming.ts';
import { weighted } from '../figures/probability.ts';
import { flatMapSteps, type Steps } from '../figures/steps.ts';
import type { Opportunity } from '../service/records/records.ts';
import { forEachInSlices, runInSlices } from '../slices.ts';
import { isOneOf } from '../values.ts';
import { type PeriodStates, spreadEvenly } from './compare.ts';
import {
  type Comparison,
  centsOf,
  compareRecords,
  OpenSum,
  pairRecords,
  type Step,
} from './movements.ts';
import {
  type ChangeOptions,
  changeRows,
  type DayTotal,
  type DealChange,
  dealRules,
  ends,
  type Move,
  matchingExits,
  type PipelineState,
  passesAll,
  periodDeals,
  reshapedFields,
  type StageOrder,
  stageOrder,
  stageRows,
  type TwoPipelines,
} from './pipeline-changes.ts';

const maxGroups = 8;
const defaultDays = 12;

export interface Shown {
  by?: PipelineBy | 'day' | 'quote' | undefined;
  /** Only records with this step or move. */
  movement?: string | undefined;
  /** Of the lists; the default depends on what else is shown. */
  rows?: number | undefined;
}

export type PipelineChanges = Awaited<ReturnType<typeof changesBetween>>;

/** Grouped, or with one movement, it is without stages and forecast. */
export async function changesBetween(
  asRead: PeriodStates,
  options: ChangeOptions,
  { by, movement, rows }: Shown,
) {
  const { reshaped, states } = await withoutReshaped(asRead);
  const readDeal = periodDeals(states, options.currencyOf);
  const compared = await compareDeals(states, options, readDeal);
  const { opening, closing, steps, moves, changes, parts, order } = compared;
  const maxDeals = isOneOf(['day', 'quote'], by) ? 0 : (rows ?? (by ? 3 : movement ? 10 : 4));
  const isWhole = by === undefined && movement === undefined;
  return compact({
    pipeline: [
      { step: 'opening' as const, ...opening },
      ...steps,
      { step: 'closing' as const, ...closing },
    ],
    moves: moves.length > 0 ? moves : undefined,
    reshaped: reshaped.length > 0 ? reshaped : undefined,
    groups: isOneOf(pipelineBy, by)
      ? await runInSlices(changeGroups(parts, by, maxGroups))
      : undefined,
    days:
      by === 'day'
        ? await dailyTotals(states, options, readDeal, Math.max(2, rows ?? defaultDays))
        : undefined,
    deals: await runInSlices(changeRows(changes, states.series, maxDeals, movement)),
    stages: isWhole ? await stagesOf(states, options, readDeal, order) : undefined,
    forecast: isWhole ? await forecastOf(states, options, readDeal) : undefined,
  });
}

/** The states without the fields that the service sends otherwise at the end. */
async function withoutReshaped(states: PeriodStates) {
  const { opening, closing } = states;
  const pairs = pairRecords(opening.records, closing.records);
  const reshaped = await runInSlices(reshapedFields(pairs));
  if (reshaped.length === 0) return { reshaped, states };
  const none = Object.fromEntries(reshaped.map(({ field }) => [field, undefined]));
  const without = <T extends TwoPipelines['opening']>(state: T) => ({
    ...state,
    records: state.records.map((record) => ({ ...record, ...none })),
  });
  return { reshaped, states: { ...states, opening: without(opening), closing: without(closing) } };
}

export async function compareDeals(
  { opening, closing }: TwoPipelines,
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<Comparison<Deal, Move> & { order: StageOrder }> {
  const order = await runInSlices(stageOrder([...opening.records, ...closing.records], readDeal));
  const rules = dealRules(opening.day, filters, readDeal, order);
  const pairs = pairRecords(opening.records, closing.records);
  return { ...(await runInSlices(compareRecords(pairs, rules))), order };
}

/** The stages that deals left; unknown where the last state has none. */
async function stagesOf(
  { series, closing }: PeriodStates,
  options: ChangeOptions,
  readDeal: ReadDeal,
  order: StageOrder,
) {
  if (!closing.records.some(({ pipelineStage }) => pipelineStage)) return undefined;
  const exits = await runInSlices(matchingExits(series.exits, options, readDeal));
  const rows = stageRows(exits, order);
  return rows.length > 0 ? rows : undefined;
}

/** Nothing where deals are filtered by what may have changed since. */
async function forecastOf(
  { closing, monthBefore }: PeriodStates,
  options: ChangeOptions,
  readDeal: ReadDeal,
) {
  const { stage, closeFrom, closeTo } = options;
  if (!monthBefore || (stage ?? closeFrom ?? closeTo) !== undefined) return undefined;
  const rows = await forecastRows(monthBefore, closing, options, readDeal);
  return rows.length > 0 ? { since: monthBefore.day, until: closing.day, rows } : undefined;
}

export async function dayTotal(
  { day, records }: PipelineState,
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<DayTotal> {
  const sum = new OpenSum();
  const weightedSum = new CurrencySums();
  await forEachInSlices(records, (record) => {
    const deal = readDeal(record);
    if (deal.outcome !== 'open' || !passesAll(deal, filters)) return;
    sum.add(deal);
    weightedSum.add(deal.currency, weighted(deal.value, deal.chance));
  });
  return { day, ...sum.toTotal(), ...compact({ weightedValue: weightedSum.toAmounts() }) };
}

/**
 * The open pipeline on the days of a period, oldest first: the opening, the closing, and evenly spread days between.
 * @param limit most days; at least 2
 */
export async function dailyTotals(
  { opening, closing, between, reader }: TwoPipelines & Pick<PeriodStates, 'between' | 'reader'>,
  filters: PipelineFilters,
  readDeal: ReadDeal,
  limit: number,
): Promise<LimitedList<DayTotal>> {
  const total = (state: PipelineState) => dayTotal(state, filters, readDeal);
  const rows = [await total(opening)];
  for (const day of spreadEvenly(between, limit - 2)) {
    const snapshot = await reader.read(day);
    if (snapshot) rows.push(await total({ day, ...snapshot }));
  }
  rows.push(await total(closing));
  return { shown: rows.length, total: between.length + 2, rows };
}

/**
 * `expected`: deals that were expected to close in the period, with their values at its beginning. Then these deals by
 * their outcome, with values at the end; `removed` with those at the beginning. `wonUnexpected`: won in the period although
 * not expected to close.
 */
const forecastParts = [
  'expected',
  'won',
  'lost',
  'closedUnknown',
  'stillOpen',
  'removed',
  'wonUnexpected',
] as const;

type ForecastPart = (typeof forecastParts)[number];

interface ForecastRow {
  deals: ForecastPart;
  count: number;
  value?: Amounts;
  /** Of `expected`: value × probability. */
  weightedValue?: Amounts;
}

/**
 * What was expected on one day to close by another, and what did. Filters by stage and close date do not apply.
 * @returns no rows if nothing was expected and nothing won
 */
export async function forecastRows(
  then: PipelineState,
  now: PipelineState,
  filters: PipelineFilters,
  readDeal: ReadDeal,
): Promise<ForecastRow[]> {
  const isInPeriod = (time: string | undefined): boolean => {
    const day = dayOf(time);
    return day !== undefined && then.day < day && day <= now.day;
  };
  const wasExpected = ({ outcome, record }: Deal) =>
    outcome === 'open' && isInPeriod(record.expectedCloseDate);
  const wasWon = ({ outcome, record }: Deal, before: Deal | undefined) =>
    outcome === 'won' && (before ? before.outcome === 'open' : isInPeriod(record.closedAt));
  const passes = (deal: Deal) => passesFilters(deal, filters);
  const forecastOfDeal = (
    before: Deal | undefined,
    after: Deal | undefined,
  ): [ForecastPart, Deal][] => {
    if (before && wasExpected(before) && passes(before)) {
      const outcome = (after ? ends[after.outcome] : 'removed') ?? 'stillOpen';
      const last = after && outcome !== 'removed' ? after : before;
      return [
        ['expected', before],
        [outcome, last],
      ];
    }
    return after && wasWon(after, before) && passes(after) ? [['wonUnexpected', after]] : [];
  };
  const sums = new Map(forecastParts.map((part) => [part, new OpenSum()]));
  const weightedSum = new CurrencySums();
  await forEachInSlices(pairRecords(then.records, now.records), ({ before, after }) => {
    for (const [part, deal] of forecastOfDeal(
      before && readDeal(before),
      after && readDeal(after),
    )) {
      sums.get(part)?.add(deal);
      if (part === 'expected') weightedSum.add(deal.currency, weighted(deal.value, deal.chance));
    }
  });
  const found = [...sums].map(([deals, sum]): ForecastRow => ({ deals, ...sum.toCountAndValue() }));
  if (found.every(({ count }) => count === 0)) return [];
  const [expected = { deals: 'expected', count: 0 }, ...others] = found;
  return [
    { ...expected, ...compact({ weightedValue: weightedSum.toAmounts() }) },
    ...others.filter(({ count }) => count > 0),
  ];
}

/**
 * What a group shows: opening + new + won + lost + removed + moved + valueChanged = closing, by currency. `moved`: in
 * from other groups and periods, less out to them.
 */
const columns = [
  'opening',
  'new',
  'won',
  'lost',
  'removed',
  'moved',
  'valueChanged',
  'closing',
] as const;
type Column = (typeof columns)[number];
type Figures = Partial<Record<Column, Amounts>>;

/** The column of a step; that of the others is `moved`. */
const columnOf: Partial<Record<Step, Column>> = {
  new: 'new',
  reopened: 'new',
  valueUp: 'valueChanged',
  valueDown: 'valueChanged',
  currencyChanged: 'valueChanged',
  won: 'won',
  lost: 'lost',
  closedUnknown: 'removed',
  removed: 'removed',
};

/** What a deal adds to a column of a group. */
interface Part {
  label: Label;
  column: Column;
  currency: string;
  amount: Decimal;
}

const labelOf = (record: Opportunity, by: PipelineBy): Label =>
  by === 'close_month' ? monthLabel(dayOf(record.expectedCloseDate)) : referenceLabel(record, by);

function partsOf({ was, is, after, effects }: DealChange, by: PipelineBy): Part[] {
  const from = was && labelOf(was.record, by);
  const to = is && labelOf(is.record, by);
  const isMoved = from && to && groupKey(from) !== groupKey(to);
  const label = to ?? from ?? (after ? labelOf(after.record, by) : {});
  const part = (column: Column, state: typeof was, inGroup = label): Part[] =>
    state ? [{ label: inGroup, column, currency: state.currency, amount: centsOf(state) }] : [];
  const steps = isMoved
    ? [...part('moved', is), ...part('moved', was, from).map(negated)]
    : effects.map(({ step, ...effect }) => ({
        label,
        column: columnOf[step] ?? 'moved',
        ...effect,
      }));
  return [...part('opening', was, isMoved ? from : label), ...steps, ...part('closing', is)];
}

const negated = (part: Part): Part => ({ ...part, amount: zero.minus(part.amount) });

function sumsOf(parts: readonly Part[], of: Column): CurrencySums {
  const sums = new CurrencySums();
  for (const { column, currency, amount } of parts) if (column === of) sums.add(currency, amount);
  return sums;
}

const figuresOf = (parts: readonly Part[]): Figures =>
  compact(Object.fromEntries(columns.map((column) => [column, sumsOf(parts, column).toAmounts()])));

/** Groups with the most value on either day first, months in time order; those beyond `limit` become "N others". */
export function* changeGroups(
  changes: readonly DealChange[],
  by: PipelineBy,
  limit: number,
): Steps<LimitedList<Named & Figures & { groups?: number }>> {
  const parts = yield* flatMapSteps(changes, (change) => partsOf(change, by));
  return yield* groupRows(parts, {
    labelsOf: ({ label }) => label,
    ranksOf: (items) => [
      Math.max(sumsOf(items, 'opening').largest, sumsOf(items, 'closing').largest),
    ],
    limit,
    missing: missingLabel(by),
    figuresOf,
  });
}
