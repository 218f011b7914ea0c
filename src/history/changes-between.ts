import { type PipelineFilters, passesAll, passesFilters } from '../briefs/pipeline/pipeline.ts';
import {
  dealLabel,
  missingLabel,
  type PipelineBy,
  pipelineBy,
} from '../briefs/pipeline/pipeline-groups.ts';
import { addDays, type Day, dayOf } from '../figures/days.ts';
import { byValue, type Deal, dealRow, type ReadDeal, totalValue } from '../figures/deals.ts';
import { compact, nonBlank } from '../figures/fields.ts';
import { groupKey, groupRows, type Label } from '../figures/group-labels.ts';
import { type LimitedList, limitSorted } from '../figures/lists.ts';
import { type Amounts, CurrencySums, type Decimal, percentOfCounts } from '../figures/money.ts';
import type { Named } from '../figures/naming.ts';
import { weighted } from '../figures/probability.ts';
import { flatMapSteps, type Steps } from '../figures/steps.ts';
import { forEachInSlices, runInSlices } from '../slices.ts';
import { isOneOf } from '../values.ts';
import { type PeriodStates, spreadEvenly } from './compare.ts';
import {
  type Comparison,
  centsOf,
  compareRecords,
  type ListPart,
  OpenSum,
  pairRecords,
  type Step,
} from './movements.ts';
import {
  type ChangeOptions,
  changeRows,
  closesOf,
  type DealChange,
  dealRules,
  ends,
  type Move,
  matchingExits,
  type PipelineState,
  periodDeals,
  reshapedFields,
  type StageOrder,
  stageOrder,
  stageRows,
  type TwoPipelines,
  wasOpenSince,
} from './pipeline-changes.ts';

const maxGroups = 8;
const defaultDays = 12;

export interface Shown {
  by?: PipelineBy | 'day' | 'quote' | undefined;
  /** Only records with one of these steps or moves. */
  movement?: readonly string[] | undefined;
  /** Only open deals whose close date was moved later so many times. */
  pushes?: number | undefined;
  /** Of the lists; the default depends on what else is shown. */
  rows?: number | undefined;
  /** Position of the first record that is listed. */
  from?: number | undefined;
}

export const isWhole = ({ by, movement, pushes, from = 0 }: Shown): boolean =>
  (by ?? movement ?? pushes) === undefined && from === 0;

/** Rows of a list that is filled up to a length. */
export const maxListed = 40;

export type PipelineChanges = Awaited<ReturnType<typeof changesBetween>>;

/** Grouped, or with some movements, it is without stages and forecast; without what a list has begun with from there on. */
export async function changesBetween(states: PeriodStates, options: ChangeOptions, shown: Shown) {
  const { by, movement: only, pushes: atLeast, rows, from = 0 } = shown;
  const pairs = pairRecords(states.opening.records, states.listed);
  const reshaped = await runInSlices(reshapedFields(pairs));
  const readDeal = periodDeals(states, options.currencyOf);
  const compared = await compareDeals(states, options, readDeal);
  const { changes, order } = compared;
  const limit = isOneOf(['day', 'quote'], by) ? 0 : (rows ?? (by && !only ? 3 : maxListed));
  const isGrouped = isOneOf(pipelineBy, by);
  const found = { reshaped: reshaped.length > 0 ? reshaped : undefined };
  if (atLeast !== undefined) {
    const asked = {
      by: isGrouped ? by : 'owner',
      atLeast,
      limit: rows ?? maxListed,
      from,
    } as const;
    const pushes = await runInSlices(pushesOf(changes, states.series.slips, asked));
    return compact({ ...found, ...pushes });
  }
  return compact({
    ...movementRows(compared, only),
    ...found,
    groups: isGrouped ? await runInSlices(changeGroups(changes, by, maxGroups)) : undefined,
    days:
      by === 'day'
        ? await dailyTotals(states, options, readDeal, Math.max(2, rows ?? defaultDays))
        : undefined,
    deals: await runInSlices(changeRows(changes, states.series, { limit, from, only })),
    stages: isWhole(shown) ? await stagesOf(states, options, readDeal, order) : undefined,
    forecast: isWhole(shown) ? await forecastOf(states, options, readDeal) : undefined,
  });
}

/** Without those that were not asked for, and then without opening and closing, which would not be their sum. */
function movementRows(
  { rows, moves }: Comparison<Deal, Move>,
  only: readonly string[] | undefined,
) {
  const asked = only ? moves.filter(({ move }) => only.includes(move)) : moves;
  return {
    pipeline: only ? rows.filter(({ step }) => only.includes(step)) : rows,
    moves: asked.length > 0 ? asked : undefined,
  };
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
  const rows = stageRows(exits, order, (exit) => series.outcomeNow(exit));
  return rows.length > 0 ? rows : undefined;
}

/** Nothing where deals are filtered by what may have changed since. */
async function forecastOf(states: PeriodStates, options: ChangeOptions, readDeal: ReadDeal) {
  const { stage, closeFrom, closeTo } = options;
  if ((stage ?? closeFrom ?? closeTo) !== undefined) return undefined;
  const { opening, closing } = states;
  const rows = await forecastRows(opening, closing, options, readDeal);
  const [from, until] = [addDays(opening.day, 1), closing.day];
  return rows.length > 0 ? { from, until, rows } : undefined;
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
) {
  const total = async ({ day, records }: PipelineState) => {
    const sum = new OpenSum();
    const weightedSum = new CurrencySums();
    await forEachInSlices(records, (record) => {
      const deal = readDeal(record);
      if (deal.outcome !== 'open' || !passesAll(deal, filters)) return;
      sum.add(deal);
      weightedSum.add(deal.currency, weighted(deal.value, deal.chance));
    });
    return { day, ...sum.toTotal(), ...compact({ weightedValue: weightedSum.toAmounts() }) };
  };
  const rows = [await total(opening)];
  for (const day of spreadEvenly(between, limit - 2)) {
    const snapshot = await reader.read(day);
    if (snapshot) rows.push(await total(snapshot));
  }
  rows.push(await total(closing));
  return { shown: rows.length, total: between.length + 2, rows };
}

export type DayTotal = Awaited<ReturnType<typeof dailyTotals>>['rows'][number];

/** What became of the expected deals, with their values at the end; `removed` with those at the beginning. */
const outcomesOfExpected = ['won', 'lost', 'closedUnknown', 'stillOpen', 'removed'] as const;
/** Other deals that were won in the period: due before it, after it, new to the filters, without a close date. */
const otherWins = ['wonLate', 'wonEarly', 'wonNew', 'wonUndated'] as const;
/** `expected`: deals with a close date in the period, with their values at its beginning. */
const forecastParts = ['expected', ...outcomesOfExpected, ...otherWins] as const;
type ForecastPart = (typeof forecastParts)[number];

/** The parts of a forecast that a deal is in, with its value there. */
function forecastReader(then: Day, now: Day, passes: (deal: Deal) => boolean) {
  const dueIn = ({ record }: Deal): Day => dayOf(record.expectedCloseDate) ?? '';
  const isInPeriod = (day: Day): boolean => then < day && day <= now;
  const isExpected = (deal: Deal): boolean =>
    deal.outcome === 'open' && isInPeriod(dueIn(deal)) && passes(deal);
  const outcomeIn = (before: Deal, after: Deal | undefined): [ForecastPart, Deal] => {
    const outcome = (after ? ends[after.outcome] : 'removed') ?? 'stillOpen';
    return [outcome, after && outcome !== 'removed' ? after : before];
  };
  const wonDue = (due: Day): ForecastPart =>
    due === '' ? 'wonUndated' : due > now ? 'wonEarly' : 'wonLate';
  const wonAs = (before: Deal | undefined, after: Deal): ForecastPart | undefined => {
    if (before?.outcome === 'open') return passes(before) ? wonDue(dueIn(before)) : 'wonNew';
    return wasOpenSince(then, before, after) ? 'wonNew' : undefined;
  };
  return (before: Deal | undefined, after: Deal | undefined): [ForecastPart, Deal][] => {
    if (before && isExpected(before)) return [['expected', before], outcomeIn(before, after)];
    const won = after?.outcome === 'won' && passes(after) ? wonAs(before, after) : undefined;
    return after && won ? [[won, after]] : [];
  };
}

/**
 * What was expected on one day to close by another, and what did. Filters by stage and close date do not apply. Of
 * `expected` there is the weighted value too: value × probability.
 * @returns no rows if nothing was expected and nothing won
 */
export async function forecastRows(
  then: PipelineState,
  now: PipelineState,
  filters: PipelineFilters,
  readDeal: ReadDeal,
) {
  const partsOf = forecastReader(then.day, now.day, (deal) => passesFilters(deal, filters));
  const sums = new Map(forecastParts.map((part) => [part, new OpenSum()]));
  const weightedSum = new CurrencySums();
  await forEachInSlices(pairRecords(then.records, now.records), ({ before, after }) => {
    for (const [part, deal] of partsOf(before && readDeal(before), after && readDeal(after))) {
      sums.get(part)?.add(deal);
      if (part === 'expected') weightedSum.add(deal.currency, weighted(deal.value, deal.chance));
    }
  });
  const found = [...sums].map(([deals, sum]) => ({ deals, ...sum.toCountAndValue() }));
  if (found.every(({ count }) => count === 0)) return [];
  const [expected, ...others] = found;
  return [
    { ...expected, ...compact({ weightedValue: weightedSum.toAmounts() }) },
    ...others.filter(({ count }) => count > 0),
  ];
}

/**
 * What a group shows: opening + new + won + lost + removed + moved + valueChanged = closing, by currency. `moved`: in
 * from other groups and periods, less out to them.
 */
const between = ['new', 'won', 'lost', 'removed', 'moved', 'valueChanged'] as const;
const columns = ['opening', ...between, 'closing'] as const;
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

function partsOf({ was, is, after, effects }: DealChange, by: PipelineBy): Part[] {
  const from = was && dealLabel(was, by);
  const to = is && dealLabel(is, by);
  const isMoved = from && to && groupKey(from) !== groupKey(to);
  const label = to ?? from ?? (after ? dealLabel(after, by) : {});
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

const negated = (part: Part): Part => ({ ...part, amount: part.amount.neg() });

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

interface Pushed extends DealChange {
  is: Deal;
  times: number;
}

/**
 * The deals that are open at the end and were pushed at least so many times. Formulas: docs/definitions.md, "Changes of the
 * pipeline".
 * @param slips how often each deal was pushed, by its id
 */
export function* pushesOf(
  changes: readonly DealChange[],
  slips: ReadonlyMap<string, number>,
  { by, atLeast, limit, from }: Omit<ListPart, 'only'> & { by: PipelineBy; atLeast: number },
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
  const order = (one: Pushed, other: Pushed): number =>
    other.times - one.times || byValue(one.is, other.is);
  const deals = yield* limitSorted(open.filter(isPushed), order, limit, toRow, from);
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
