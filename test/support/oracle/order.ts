import type { Big } from 'big.js';

interface Named {
  id?: string | undefined;
  name?: string | undefined;
}

/** Orders by name without regard to case, then as written, then by id; records without a name last. */
export function byName(one: Named, other: Named): number {
  if (!one.name || !other.name) {
    if (one.name || other.name) return one.name ? -1 : 1;
    return compare(one.id, other.id);
  }
  return (
    compare(one.name.trim().toLowerCase(), other.name.trim().toLowerCase()) ||
    compare(one.name, other.name) ||
    compare(one.id, other.id)
  );
}

/** The highest first, unknown ones last. */
export function descending(one: Big | undefined, other: Big | undefined): number {
  if (one && other) return other.cmp(one);
  return Number(other !== undefined) - Number(one !== undefined);
}

export function compare(one = '', other = ''): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The members that are not undefined. */
export const only = <T extends object>(members: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Partial<T>;

/** The members of these names. */
export const picked = (members: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(members).filter(([name]) => names.includes(name)));

/** The members other than 0; left out if there are none. */
export function counts(members: Record<string, number>): Record<string, number> | undefined {
  const reported = Object.entries(members).filter(([, count]) => count > 0);
  return reported.length === 0 ? undefined : Object.fromEntries(reported);
}

export function grouped<T>(rows: readonly T[], keyOf: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

/** The highest value first, then by name. */
export const byWorth = (
  one: Named & { value: Big | undefined },
  other: Named & { value: Big | undefined },
): number => descending(one.value, other.value) || byName(one, other);
