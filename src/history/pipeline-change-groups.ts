/** The changes of the pipeline by stage, owner and so on. */

import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import {
  missingLabels,
  type PipelineBy,
  referenceLabel,
} from '../briefs/pipeline/pipeline-groups.ts';
import { dayOf } from '../figures/days.ts';
import type { Deal } from '../figures/deals.ts';
import { groupKey, monthOf, othersName, rowLabel, sharedNames } from '../figures/group-labels.ts';
import { type Amounts, CurrencySums, type Decimal, zero } from '../figures/money.ts';
import { byName, compact, type LimitedList, type Named } from '../figures/naming.ts';
import type { Opportunity } from '../service/records/records.ts';
import { isKeyOf } from '../values.ts';
import { centsOf, type Effect } from './movements.ts';
import { type DealChange, type DealStep, isInPipeline } from './pipeline-changes.ts';

/** What a group shows: opening + new + won + lost + removed + moved + valueChanged = closing, by currency. */
export interface ChangeGroup extends Named {
  opening?: Amounts;
  new?: Amounts;
  won?: Amounts;
  lost?: Amounts;
  removed?: Amounts;
  /** In from other groups and periods, less out to them. */
  moved?: Amounts;
  valueChanged?: Amounts;
  closing?: Amounts;
  /** Number of groups merged into this one. */
  groups?: number;
}

const columns = ['new', 'won', 'lost', 'removed', 'moved', 'valueChanged'] as const;
type Column = (typeof columns)[number];

const columnOf: Readonly<Record<DealStep, Column>> = {
  new: 'new',
  reopened: 'new',
  movedIn: 'moved',
  transferredIn: 'moved',
  valueUp: 'valueChanged',
  valueDown: 'valueChanged',
  currencyChanged: 'valueChanged',
  won: 'won',
  lost: 'lost',
  closedUnknown: 'removed',
  removed: 'removed',
  movedOut: 'moved',
  transferredOut: 'moved',
};

class Group {
  label: Named;
  readonly opening = new CurrencySums();
  readonly closing = new CurrencySums();
  readonly sums = new Map(columns.map((column) => [column, new CurrencySums()]));

  constructor(label: Named) {
    this.label = label;
  }

  add(column: Column, currency: string, amount: Decimal): void {
    this.sums.get(column)?.add(currency, amount);
  }

  merge(other: Group): void {
    this.opening.addAll(other.opening);
    this.closing.addAll(other.closing);
    for (const [column, sums] of other.sums) this.sums.get(column)?.addAll(sums);
  }

  get largest(): number {
    return Math.max(this.opening.largest, this.closing.largest);
  }

  figures(): Omit<ChangeGroup, keyof Named | 'groups'> {
    const between = columns.map((column) => [column, this.sums.get(column)?.toAmounts()]);
    return compact({
      opening: this.opening.toAmounts(),
      ...Object.fromEntries(between),
      closing: this.closing.toAmounts(),
    });
  }
}

const labelOf = (record: Opportunity, by: PipelineBy): Named =>
  by === 'close_month'
    ? compact({ name: monthOf(dayOf(record.expectedCloseDate)) })
    : referenceLabel(record, by);

function mergedRow(others: readonly Group[]): ChangeGroup {
  const merged = new Group({});
  for (const group of others) merged.merge(group);
  return { name: othersName(others.length), ...merged.figures(), groups: others.length };
}

/** Groups the deals of a comparison, one after the other. */
export class ChangeGroups {
  readonly #by: PipelineBy;
  readonly #filters: PipelineFilters;
  readonly #groups = new Map<string, Group>();

  constructor(by: PipelineBy, filters: PipelineFilters) {
    this.#by = by;
    this.#filters = filters;
  }

  add({ before, after, effects }: DealChange): void {
    const was = before && isInPipeline(before, this.#filters) ? before : undefined;
    const is = after && isInPipeline(after, this.#filters) ? after : undefined;
    const from = was && this.#of(was);
    const to = is && this.#of(is);
    if (was) from?.opening.add(was.currency, centsOf(was));
    if (is) to?.closing.add(is.currency, centsOf(is));
    if (was && is && from !== to) {
      from?.add('moved', was.currency, zero.minus(centsOf(was)));
      to?.add('moved', is.currency, centsOf(is));
      return;
    }
    const group = from ?? to ?? (after && this.#of(after));
    if (group) this.#addEffects(group, effects);
  }

  /**
   * Groups with the most value on either day first, months in time order; those beyond `limit` become a last row,
   * "N others".
   */
  toRows(limit: number): LimitedList<ChangeGroup> {
    const ranked = [...this.#groups.values()].sort(
      (one, other) => other.largest - one.largest || byName(one.label, other.label),
    );
    const cut = ranked.length === limit + 1 ? ranked.length : limit;
    const shared = sharedNames(ranked);
    const shown = ranked.slice(0, cut);
    if (this.#by === 'close_month') shown.sort((one, other) => byName(one.label, other.label));
    const rows = shown.map(
      (group): ChangeGroup => ({
        ...rowLabel(group.label, missingLabels[this.#by], shared),
        ...group.figures(),
      }),
    );
    const others = ranked.slice(cut);
    if (others.length > 0) rows.push(mergedRow(others));
    return { shown: shown.length, total: ranked.length, rows };
  }

  #addEffects(group: Group, effects: readonly Effect[]): void {
    for (const { step, currency, amount } of effects)
      if (isKeyOf(columnOf, step)) group.add(columnOf[step], currency, amount);
  }

  #of({ record }: Deal): Group {
    const label = labelOf(record, this.#by);
    const key = groupKey(label);
    const group = this.#groups.get(key) ?? new Group(label);
    this.#groups.set(key, group);
    // One name per id: the first in alphabetical order, independent of record order.
    if (byName(label, group.label) < 0) group.label = label;
    return group;
  }
}
