/** The changes of the pipeline by stage, owner and so on. */
import type { Opportunity } from '../records/records.ts';
import { dayOf } from './days.ts';
import type { Deal } from './deals.ts';
import { type Amounts, CurrencySums, type Decimal, zero } from './money.ts';
import { byName, compact, type LimitedList, type Named, nonBlank } from './naming.ts';
import {
  centsOf,
  type DealChange,
  type Effect,
  refKey,
  type Scope,
  type Step,
} from './pipeline-changes.ts';
import type { PipelineBy } from './pipeline-groups.ts';

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

const columnOf: Readonly<Record<Step, Column>> = {
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

const monthLength = 'YYYY-MM'.length;
const missingLabels: Readonly<Record<PipelineBy, string>> = {
  stage: 'no stage',
  owner: 'no owner',
  company: 'no company',
  category: 'no category',
  source: 'no source',
  close_month: 'no close date',
};

function labelOf(record: Opportunity, by: PipelineBy): Named {
  if (by === 'close_month')
    return compact({ name: dayOf(record.expectedCloseDate)?.slice(0, monthLength) });
  const ref = by === 'stage' ? record.pipelineStage : record[by];
  return compact({ id: nonBlank(ref?.id), name: nonBlank(ref?.name) });
}

/** Groups with the most value on either day first; those beyond `limit` become a last row, "N others". */
export function changeGroups(
  changes: readonly DealChange[],
  by: PipelineBy,
  scope: Scope,
  limit: number,
): LimitedList<ChangeGroup> {
  const groups = new Groups(by);
  for (const change of changes) groups.add(change, scope);
  const ranked = [...groups.all].sort(
    (one, other) => other.largest - one.largest || byName(one.label, other.label),
  );
  const cut = ranked.length === limit + 1 ? ranked.length : limit;
  const rows = ranked.slice(0, cut).map((group) => rowOf(group, ranked, by));
  const others = ranked.slice(cut);
  if (others.length > 0) rows.push(mergedRow(others));
  return { shown: Math.min(cut, ranked.length), total: ranked.length, rows };
}

function rowOf(group: Group, all: readonly Group[], by: PipelineBy): ChangeGroup {
  const { id, name = id ? undefined : missingLabels[by] } = group.label;
  const isUnclear = !name || all.some((other) => other !== group && other.label.name === name);
  return { ...compact({ id: isUnclear ? id : undefined, name }), ...group.figures() };
}

function mergedRow(others: readonly Group[]): ChangeGroup {
  const merged = new Group({});
  for (const group of others) merged.merge(group);
  return { name: `${others.length} others`, ...merged.figures(), groups: others.length };
}

class Groups {
  readonly #by: PipelineBy;
  readonly #groups = new Map<string, Group>();

  constructor(by: PipelineBy) {
    this.#by = by;
  }

  get all(): Iterable<Group> {
    return this.#groups.values();
  }

  add(change: DealChange, scope: Scope): void {
    const { before, after, effects } = change;
    const was = before && scope.has(before) ? before : undefined;
    const is = after && scope.has(after) ? after : undefined;
    if (was) this.#of(was).opening.add(was.currency, centsOf(was));
    if (is) this.#of(is).closing.add(is.currency, centsOf(is));
    if (was && is && this.#of(was) !== this.#of(is)) {
      this.#of(was).add('moved', was.currency, zero.minus(centsOf(was)));
      this.#of(is).add('moved', is.currency, centsOf(is));
      return;
    }
    const deal = was ?? is ?? after;
    if (deal) this.#addEffects(this.#of(deal), effects);
  }

  #addEffects(group: Group, effects: readonly Effect[]): void {
    for (const { step, currency, amount } of effects) group.add(columnOf[step], currency, amount);
  }

  #of({ record }: Deal): Group {
    const label = labelOf(record, this.#by);
    const key = refKey(label) ?? '';
    const group = this.#groups.get(key) ?? new Group(label);
    this.#groups.set(key, group);
    // One name per id: the first in alphabetical order, independent of record order.
    if (byName(label, group.label) < 0) group.label = label;
    return group;
  }
}
