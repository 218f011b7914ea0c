/** Groups of records by what they refer to, and what a row of a grouping is called. */
import type { Day } from './days.ts';
import { byName, groupBy, type Named, normaliseName } from './naming.ts';

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

/** Names that several groups share, letter case aside: their rows need ids. */
export function sharedNames(groups: readonly { label: Named }[]): ReadonlySet<string> {
  const byFold = groupBy(groups, ({ label }) => normaliseName(label.name));
  return new Set([...byFold].flatMap(([name, same]) => (same.length > 1 ? name : [])));
}

/** The label of a row. It has an id only where the name is not unique: an id is a third of a row, and filters accept names. */
export function rowLabel(label: Named, missing: string, shared: ReadonlySet<string>): Named {
  if (!label.name) return label.id ? { id: label.id } : { name: missing };
  return shared.has(normaliseName(label.name)) ? label : { name: label.name };
}

/** The name of the row that merges the groups beyond a limit. */
export const othersName = (groups: number): string => `${groups} others`;

/** The row that merges the groups beyond a limit. */
export const mergedRow = <Item, Figures extends object>(
  others: readonly LabelledGroup<Item>[],
  figuresOf: (items: readonly Item[]) => Figures,
) => ({
  name: othersName(others.length),
  ...figuresOf(others.flatMap(({ items }) => items)),
  groups: others.length,
});
