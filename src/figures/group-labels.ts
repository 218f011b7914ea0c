/** Groups of records by what they refer to, and what a row of a grouping is called. */
import type { Day } from './days.ts';
import { byName, groupBy, type LimitedList, type Named, normaliseName } from './naming.ts';
import type { Steps } from './steps.ts';

const monthLength = 'YYYY-MM'.length;
export const monthOf = (day: Day | undefined): string | undefined => day?.slice(0, monthLength);

/** Equal for labels of the same group: by id, or by name where there is no id. */
export const groupKey = (label: Named): string =>
  label.id ? `id ${label.id}` : `name ${normaliseName(label.name)}`;

/** Items with the same label. If one id has several names, the label has the first in alphabetical order. */
export interface LabelledGroup<Item> {
  label: Named;
  items: Item[];
}

export function collectGroups<Item>(
  items: readonly Item[],
  labelOf: (item: Item) => Named,
): LabelledGroup<Item>[] {
  const groups = new Map<string, LabelledGroup<Item>>();
  for (const item of items) {
    const label = labelOf(item);
    const key = groupKey(label);
    const group = groups.get(key) ?? { label, items: [] };
    groups.set(key, group);
    if (byName(label, group.label) < 0) group.label = label;
    group.items.push(item);
  }
  return [...groups.values()];
}

/** The groups with the highest of these numbers first, then by name and id. */
export function rankGroups<Item>(
  groups: readonly LabelledGroup<Item>[],
  ranksOf: (items: readonly Item[]) => readonly number[],
): LabelledGroup<Item>[] {
  const ranked = groups.map((group) => ({ group, ranks: ranksOf(group.items) }));
  ranked.sort(
    (a, b) =>
      a.ranks.reduce((order, rank, at) => order || (b.ranks[at] ?? 0) - rank, 0) ||
      byName(a.group.label, b.group.label),
  );
  return ranked.map(({ group }) => group);
}

/** Tells the label of each row. It has an id only where the name is not unique: an id is a third of a row, and filters accept names. */
function rowLabels(groups: readonly { label: Named }[], missing: string): (label: Named) => Named {
  const counts = groupBy(groups, ({ label }) => normaliseName(label.name));
  return (label) => {
    if (!label.name) return label.id ? { id: label.id } : { name: missing };
    const isShared = (counts.get(normaliseName(label.name))?.length ?? 0) > 1;
    return isShared ? label : { name: label.name };
  };
}

/** How groups become rows. */
interface GroupRows<Item, Figures> {
  /** Groups shown before the others are merged, if there are several. */
  limit: number;
  /** The name of the group of items without a label. */
  missing: string;
  figuresOf(items: readonly Item[]): Figures;
}

/** The row of a group, or of several that are merged. */
export type GroupRow<Figures> = Named & Figures & { groups?: number };

/** The groups as rows in their order; those beyond the limit become a last row, "N others". */
export function* groupRows<Item, Figures extends object>(
  groups: readonly LabelledGroup<Item>[],
  { limit, missing, figuresOf }: GroupRows<Item, Figures>,
): Steps<LimitedList<GroupRow<Figures>>> {
  const shown = groups.length <= limit + 1 ? groups : groups.slice(0, limit);
  const labelOf = rowLabels(groups, missing);
  const rows: GroupRow<Figures>[] = [];
  for (const { label, items } of shown) {
    rows.push({ ...labelOf(label), ...figuresOf(items) });
    yield;
  }
  const others = groups.slice(shown.length);
  if (others.length > 0) {
    const figures = figuresOf(others.flatMap(({ items }) => items));
    rows.push({ name: `${others.length} others`, ...figures, groups: others.length });
  }
  return { shown: shown.length, total: groups.length, rows };
}
