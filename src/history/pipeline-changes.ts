/** Deals, as the comparison of two days sees them. Formulas: docs/definitions.md, "Changes of the pipeline". */
import {
  type PipelineFilters,
  passesFilters,
  passesOpenFilters,
} from '../briefs/pipeline/pipeline.ts';
import { type Day, dayOf, daysBetween } from '../figures/days.ts';
import { type Deal, dealReader, type ReadDeal } from '../figures/deals.ts';
import type { Amounts, CurrencyOf } from '../figures/money.ts';
import { addTo, compact, named, nonBlank, normaliseName } from '../figures/naming.ts';
import { probabilityScale } from '../figures/probability.ts';
import { forEachStep, type Steps } from '../figures/steps.ts';
import type { Opportunity, Ref } from '../service/records/records.ts';
import { isOneOf } from '../values.ts';
import {
  arrow,
  type Change,
  type MovementRules,
  movedColumns,
  movedRows,
  type OpenTotal,
  type Pair,
  type Step,
  steps,
} from './movements.ts';

/** Every opportunity of a tenant at the end of a day. */
export interface PipelineState {
  day: Day;
  records: readonly Opportunity[];
}

/** Steps that deals do not have. */
const ofQuotesOnly = ['valueKnown', 'accepted', 'declined', 'expired', 'otherStatus'] as const;
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

/** The open pipeline of one day. */
export interface DayTotal extends OpenTotal {
  day: Day;
  /** Value × probability. */
  weightedValue?: Amounts;
}

export const passesAll = (deal: Deal, filters: PipelineFilters): boolean =>
  passesFilters(deal, filters) && passesOpenFilters(deal.record, filters);

/** The step by which a deal leaves the pipeline, by its outcome. */
export const ends = {
  open: undefined,
  won: 'won',
  lost: 'lost',
  closed_unknown: 'closedUnknown',
  deleted: 'removed',
} as const;

export interface TwoPipelines {
  opening: PipelineState;
  closing: PipelineState;
}

/** How deals of the period are read: the scale of their probability is that of both states. */
export function periodDeals({ opening, closing }: TwoPipelines, currencyOf: CurrencyOf): ReadDeal {
  const { scale } = probabilityScale([...opening.records, ...closing.records]);
  return dealReader(currencyOf, scale);
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
  wasOpenBetween(before, { record }) {
    const closed = dayOf(record.closedAt);
    return !before && (closed === undefined || closed > since);
  },
  isOutsidePeriod(deal) {
    const { closeFrom: _from, closeTo: _to, ...others } = filters;
    return passesAll(deal, others);
  },
  movesOf: (states) => movesOf(states, order),
});

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

export const stageKey = ({ pipelineStage }: Opportunity): string | undefined =>
  refKey(pipelineStage);

/** Equal for references to the same record: its id, or its name where it has no id. */
function refKey(ref: Ref | undefined): string | undefined {
  const { id, name } = named(ref);
  return id ? `id ${id}` : name && `name ${normaliseName(name)}`;
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

/** Days by which the close date moved later; negative if earlier, `undefined` if one of the dates is unknown. */
export function slipDays(before: Opportunity, after: Opportunity): number | undefined {
  const [was, is] = [dayOf(before.expectedCloseDate), dayOf(after.expectedCloseDate)];
  return was && is ? daysBetween(was, is) : undefined;
}

/** What is known of each deal between the two days, by id: how often it slipped, and its last change. */
interface Course {
  slips: ReadonlyMap<string, number>;
  changedAt: ReadonlyMap<string, string>;
}

/** The deals that moved, or that have one movement, one row each, the largest first. */
export const changeRows = (
  changes: readonly DealChange[],
  course: Course,
  limit: number,
  only?: string,
) =>
  movedRows(
    changes,
    {
      nameOf: ({ record }) => named(record),
      toRow: (change: DealChange) => changeRow(change, course),
    },
    limit,
    only,
  );

export type ChangeRow = ReturnType<typeof changeRow>;

/** `slipDays`: days by which the close date moved later; `at`: when the stage or the outcome changed last. */
function changeRow(change: DealChange, { slips, changedAt }: Course) {
  const { before, after } = change;
  const { id, name } = named((after ?? before)?.record);
  const show = (read: (deal: Opportunity) => string | undefined) =>
    arrow(before?.record, after?.record, read);
  return compact({
    id,
    name,
    ...movedColumns(change),
    stage: show(({ pipelineStage }) => nonBlank(pipelineStage?.name)),
    closes: show(({ expectedCloseDate }) => dayOf(expectedCloseDate)),
    slipDays: (before && after && slipDays(before.record, after.record)) || undefined,
    slips: slips.get(id ?? ''),
    at: changedAt.get(id ?? ''),
  });
}
