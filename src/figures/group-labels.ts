/** Groups of records by what they refer to, and what a row of a grouping is called. */
import type { QuoteItem } from '../service/records/records.ts';
import type { Day } from './days.ts';
import { compact, nonBlank } from './fields.ts';
import { groupBy, type LimitedList } from './lists.ts';
import { byName, type Named, named, normaliseName } from './naming.ts';
import type { Steps } from './steps.ts';

/** Equal for labels of the same group: by id, or by name where there is no id. */
export const groupKey = (label: Named): string =>
  label.id ? `id ${label.id}` : `name ${normaliseName(label.name)}`;

/** What a group is called; `key` is its place among groups that have an order of their own, such as months. */
export interface Label extends Named {
  key?: string | number | undefined;
}

export function monthLabel(day: Day | undefined): Label {
  const month = day?.slice(0, 'YYYY-MM'.length);
  return month === undefined ? {} : { name: month, key: month };
}

export function quarterLabel(day: Day | undefined): Label {
  if (day === undefined) return {};
  const name = `${day.slice(0, 'YYYY'.length)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`;
  return { name, key: name };
}

/** The label of the band of a number: "under 1,000", "1,000 to under 10,000", …, "100,000 and more". */
export function bandLabel(number: number | undefined, limits: readonly number[], unit = ''): Label {
  if (number === undefined) return {};
  const words = limits.map((limit) => `${limit.toLocaleString('en-US')}${unit}`);
  const key = limits.filter((limit) => number >= limit).length;
  const [low, high] = [words[key - 1], words[key]];
  if (low === undefined) return { name: `under ${high}`, key };
  return { name: high === undefined ? `${low} and more` : `${low} to under ${high}`, key };
}

/** What the product or category of a line of a quote is called. */
export const lineLabel = (item: QuoteItem, by: 'category' | 'product'): Named =>
  by === 'category'
    ? named(item.category)
    : { ...compact({ name: nonBlank(item.name) }), ...named(item.product) };

/** Items with the same label. If one id has several names, the label has the first in alphabetical order. */
interface LabelledGroup<Item> {
  label: Label;
  items: Item[];
}

export function collectGroups<Item>(
  items: readonly Item[],
  labelsOf: (item: Item) => Label | readonly Label[],
): LabelledGroup<Item>[] {
  const groups = new Map<string, LabelledGroup<Item>>();
  for (const item of items) {
    for (const label of [labelsOf(item)].flat()) {
      const key = groupKey(label);
      const group = groups.get(key) ?? { label, items: [] };
      groups.set(key, group);
      if (byName(label, group.label) < 0) group.label = label;
      // Once, though labels may differ in letter case only: those of a deal and of its company.
      if (group.items.at(-1) !== item) group.items.push(item);
    }
  }
  return [...groups.values()];
}

/** The groups with the highest of these numbers first, then by name and id; those of labels with a key in its order. */
function rankGroups<Item>(
  groups: readonly LabelledGroup<Item>[],
  ranksOf: (items: readonly Item[]) => readonly number[],
): LabelledGroup<Item>[] {
  if (groups.some(({ label }) => label.key !== undefined))
    return groups.toSorted((a, b) => byKey(a.label, b.label));
  const ranked = groups.map((group) => ({ group, ranks: ranksOf(group.items) }));
  ranked.sort(
    (a, b) =>
      a.ranks.reduce((order, rank, at) => order || (b.ranks[at] ?? 0) - rank, 0) ||
      byName(a.group.label, b.group.label),
  );
  return ranked.map(({ group }) => group);
}

function byKey({ key: a }: Label, { key: b }: Label): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return a < b ? -1 : Number(a > b);
}

/** Tells the label of each row. It has an id only where the name is not unique: an id is a third of a row, and filters accept names. */
function rowLabels(groups: readonly { label: Named }[], missing: string): (label: Named) => Named {
  const counts = groupBy(groups, ({ label }) => normaliseName(label.name));
  return ({ id, name }) => {
    if (!name) return id ? { id } : { name: missing };
    const isShared = id && (counts.get(normaliseName(name))?.length ?? 0) > 1;
    return isShared ? { id, name } : { name };
  };
}

/** How items become rows. */
interface GroupRows<Item, Figures> {
  labelsOf(item: Item): Label | readonly Label[];
  ranksOf(items: readonly Item[]): readonly number[];
  /** Groups shown before the others are merged, if there are several. */
  limit: number;
  /** Whether the last groups are shown instead of the first: of months of the past, the latest. */
  showsLast?: boolean;
  /** The name of the group of items without a label. */
  missing: string;
  figuresOf(items: readonly Item[]): Figures;
}

/** The row of a group, or of several that are merged. */
export type GroupRow<Figures> = Named & Figures & { groups?: number };

/** The groups as ranked rows; those beyond the limit become a last row, "N others" or "N earlier". */
export function* groupRows<Item, Figures extends object>(
  items: readonly Item[],
  { labelsOf, ranksOf, limit, showsLast = false, missing, figuresOf }: GroupRows<Item, Figures>,
): Steps<LimitedList<GroupRow<Figures>>> {
  const groups = rankGroups(collectGroups(items, labelsOf), ranksOf);
  yield;
  const merged = groups.length <= limit + 1 ? 0 : groups.length - limit;
  const shown = showsLast ? groups.slice(merged) : groups.slice(0, groups.length - merged);
  const labelOf = rowLabels(groups, missing);
  const rows: GroupRow<Figures>[] = [];
  for (const { label, items } of shown) {
    rows.push({ ...labelOf(label), ...figuresOf(items) });
    yield;
  }
  if (merged > 0) {
    const others = showsLast ? groups.slice(0, merged) : groups.slice(-merged);
    // An item with several labels counts once here.
    const figures = figuresOf([...new Set(others.flatMap(({ items }) => items))]);
    const name = `${merged} ${showsLast ? 'earlier' : 'others'}`;
    rows.push({ name, ...figures, groups: merged });
  }
  return { shown: shown.length, total: groups.length, rows };
}
