/** Deals, as the comparison of two days sees them. Formulas: docs/definitions.md, "Changes of the pipeline". */
import {
  type PipelineFilters,
  passesFilters,
  passesOpenFilters,
} from '../briefs/pipeline/pipeline.ts';
import { type Day, dayOf, daysBetween } from '../figures/days.ts';
import type { Deal, ReadDeal } from '../figures/deals.ts';
import type { Amounts, CurrencyOf } from '../figures/money.ts';
import {
  addTo,
  compact,
  type LimitedList,
  type Named,
  nonBlank,
  normaliseName,
} from '../figures/naming.ts';
import type { Steps } from '../figures/steps.ts';
import type { Opportunity } from '../service/records/records.ts';
import {
  arrow,
  type Change,
  type MovedColumns,
  type MovementRules,
  movedRows,
  type OpenTotal,
  type Pair,
  type Step,
} from './movements.ts';

/** Every opportunity of a tenant at the end of a day. */
export interface PipelineState {
  day: Day;
  records: readonly Opportunity[];
}

/** The open pipeline of one day. */
export interface DayTotal extends OpenTotal {
  day: Day;
  /** Value × probability. */
  weightedValue?: Amounts;
}

/** The steps of deals, in the order in which they are shown. */
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
] as const satisfies Step[];
export type DealStep = (typeof steps)[number];

/** Changes of deals that are open on both days. */
export const moves = [
  'stageForward',
  'stageBack',
  'stageChanged',
  'slipped',
  'pulledIn',
  'ownerChanged',
] as const;
export type Move = (typeof moves)[number];
export type Movement = DealStep | Move;

export type DealChange = Change<Deal, Move>;

export interface ChangeOptions extends PipelineFilters {
  currencyOf: CurrencyOf;
}

export const passesAll = (deal: Deal, filters: PipelineFilters): boolean =>
  passesFilters(deal, filters) && passesOpenFilters(deal.record, filters);

const ends = { won: 'won', lost: 'lost', closed_unknown: 'closedUnknown' } as const;

/** The deals of some filters. A closed deal has another stage than before, so a stage filter leaves it out. */
export class DealRules implements MovementRules<Opportunity, Deal, Move> {
  readonly mayBeUnread = false;
  readonly read: ReadDeal;
  readonly #since: Day;
  readonly #filters: PipelineFilters;
  readonly #chances = new Map<string, number[]>();
  #order: StageOrder | undefined;

  /** @param since the day of the opening */
  constructor(since: Day, filters: PipelineFilters, readDeal: ReadDeal) {
    this.#since = since;
    this.#filters = filters;
    this.read = (record) => {
      const deal = readDeal(record);
      this.#noteChance(deal);
      return deal;
    };
  }

  #noteChance({ outcome, record, chance }: Deal): void {
    const stage = outcome === 'open' ? stageKey(record) : undefined;
    if (stage === undefined || !chance || record.probability === undefined) return;
    addTo(this.#chances, stage, record.probability);
  }

  /** The order of the stages of all deals, known when these were read. */
  get order(): StageOrder {
    this.#order ??= new Map([...this.#chances].map(([stage, known]) => [stage, median(known)]));
    return this.#order;
  }

  isOpen({ outcome }: Deal): boolean {
    return outcome === 'open';
  }

  matches(deal: Deal): boolean {
    const hasStage = deal.outcome === 'open' || this.#filters.stage === undefined;
    return hasStage && passesAll(deal, this.#filters);
  }

  endOf({ outcome }: Deal): Step | undefined {
    return outcome === 'open' || outcome === 'deleted' ? undefined : ends[outcome];
  }

  wasOpenBetween(before: Deal | undefined, { record }: Deal): boolean {
    const closed = dayOf(record.closedAt);
    return !before && (closed === undefined || closed > this.#since);
  }

  isOutsidePeriod(deal: Deal): boolean {
    const { closeFrom: _from, closeTo: _to, ...others } = this.#filters;
    return passesAll(deal, others);
  }

  movesOf({ before, after }: Pair<Deal>): Move[] {
    if (before?.outcome !== 'open' || after?.outcome !== 'open') return [];
    const found: Move[] = [];
    const [from, to] = [stageKey(before.record), stageKey(after.record)];
    if (from !== to) {
      const forward = isForward(from, to, this.order);
      found.push(forward === undefined ? 'stageChanged' : forward ? 'stageForward' : 'stageBack');
    }
    const days = slipDays(before.record, after.record);
    if (days) found.push(days > 0 ? 'slipped' : 'pulledIn');
    if (refKey(before.record.owner) !== refKey(after.record.owner)) found.push('ownerChanged');
    return found;
  }
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

export interface ChangeRow extends MovedColumns<Move> {
  name?: string;
  stage?: string;
  /** Expected close date. */
  closes?: string;
  /** Days by which the close date moved later; negative if earlier. */
  slipDays?: number;
  /** How often it moved later. */
  slips?: number;
  /** When the stage or the outcome changed last. */
  at?: string;
}

/** The deals that moved, or that have one movement, one row each, the largest first. */
export const changeRows = (
  changes: readonly DealChange[],
  series: {
    slips: ReadonlyMap<string, { times: number }>;
    changedAt: ReadonlyMap<string, string>;
  },
  limit: number,
  only?: string,
): Steps<LimitedList<ChangeRow>> =>
  movedRows(
    changes,
    {
      nameOf: ({ record: { id, name } }) => compact({ id, name }),
      toRow: ({ before, after }, { id, ...columns }): ChangeRow => {
        const show = (read: (deal: Opportunity) => string | undefined) =>
          arrow(before?.record, after?.record, read);
        return compact({
          id,
          name: nonBlank((after ?? before)?.record.name),
          ...columns,
          stage: show(({ pipelineStage }) => nonBlank(pipelineStage?.name)),
          closes: show(({ expectedCloseDate }) => dayOf(expectedCloseDate)),
          slipDays: (before && after && slipDays(before.record, after.record)) || undefined,
          slips: id === undefined ? undefined : series.slips.get(id)?.times,
          at: id === undefined ? undefined : series.changedAt.get(id),
        });
      },
    },
    limit,
    only,
  );
