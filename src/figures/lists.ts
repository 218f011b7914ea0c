/** Lists that are ordered, grouped and cut. */

import { type Steps, sortSteps } from './steps.ts';

/** By code unit, which is independent of the locale. */
export function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export interface LimitedList<Row> {
  shown: number;
  total: number;
  rows: Row[];
}

export function limitList<Row>(items: readonly Row[], limit = items.length): LimitedList<Row> {
  const rows = items.slice(0, limit);
  return { shown: rows.length, total: items.length, rows };
}

/** The first rows of a list in this order, from a position on. Equal items keep their order. */
export function* limitSorted<Item, Row>(
  items: readonly Item[],
  order: (a: Item, b: Item) => number,
  limit: number,
  toRow: (item: Item) => Row,
  from = 0,
): Steps<LimitedList<Row>> {
  const sorted = yield* sortSteps(items, order);
  const rows = sorted.slice(from, from + limit).map(toRow);
  return { shown: rows.length, total: items.length, rows };
}

/** Groups records by key, in their original order. */
export function groupBy<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string,
): Map<string, [Item, ...Item[]]> {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) addTo(groups, keyOf(item), item);
  return groups;
}

/** Numbers of items by key, the highest first. */
export function countsBy<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string,
): Record<string, number> {
  const groups = [...groupBy(items, keyOf)];
  groups.sort(([a, some], [b, others]) => others.length - some.length || compare(a, b));
  return Object.fromEntries(groups.map(([key, { length }]) => [key, length]));
}

export function addTo<Item>(
  groups: Map<string, Item[]> | Map<string, [Item, ...Item[]]>,
  key: string,
  item: Item,
): void {
  const group = groups.get(key);
  if (group) group.push(item);
  else groups.set(key, [item]);
}
