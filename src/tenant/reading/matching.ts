import { fieldOf } from '../../values.ts';

/** Applies filters, a search text and a sort order to records. */
type Row = Readonly<Record<string, unknown>>;

export interface Condition {
  readonly path: string;
  readonly values: readonly string[];
}

/** `key:v1|v2,key2:v`: a comma is and, a pipe is or. */
export const conditionsIn = (filters: string): Condition[] =>
  filters.split(',').flatMap((part) => {
    const colon = part.indexOf(':');
    if (colon < 1) return [];
    const values = part.slice(colon + 1).split('|');
    return [{ path: part.slice(0, colon).trim(), values: values.map(folded) }];
  });

const folded = (value: unknown): string => String(value).trim().toLowerCase();

/** What a missing field means, where it means something. */
const defaults = new Map<string, unknown>([['listed', true]]);

/** The value at a path; `company.id` and `companyId` are two names of the same field. */
function valueAt(record: Row, path: string): unknown {
  const nested = path.replace(/(\w)Id$/, '$1.id');
  return (
    read(record, path) ??
    read(record, nested === path ? flatPath(path) : nested) ??
    defaults.get(path)
  );
}

/** `companyId` for `company.id`, as services without nested records name it. */
export const flatPath = (path: string): string => path.replace(/\.id$/, 'Id');

const read = (record: Row, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => fieldOf(value, name), record);

/** Whether the record meets the condition; `undefined` if it does not have the field. */
export function passes(record: Row, { path, values }: Condition): boolean | undefined {
  const value = valueAt(record, path);
  if (value === undefined || value === null) return undefined;
  const all = Array.isArray(value) ? value : [value];
  if (all.some((it) => typeof it === 'object' && it !== null)) return undefined;
  return all.some((it) => values.includes(folded(it)));
}

/** Whether the record contains every word of the text. */
export function mentions(record: Row, text: string): boolean {
  const written = folded(JSON.stringify(record));
  const words = folded(text).split(/\s+/);
  return words.every((word) => written.includes(word));
}

interface SortKey {
  readonly path: string;
  readonly sign: 1 | -1;
}

const sortKeysIn = (sort: string): SortKey[] =>
  sort
    .split(',')
    .map((key) => ({ path: key.trim().replace(/^[-+ ]/, ''), sign: key.startsWith('-') ? -1 : 1 }));

/** Records without a value come last in either direction. */
function compare(one: Row, other: Row, { path, sign }: SortKey): number {
  const [a, b] = [valueAt(one, path), valueAt(other, path)];
  const [hasA, hasB] = [a !== undefined && a !== null, b !== undefined && b !== null];
  if (!hasA || !hasB) return Number(hasB) - Number(hasA);
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  const [textA, textB] = [folded(a), folded(b)];
  return textA === textB ? 0 : textA < textB ? -sign : sign;
}

const compareBy =
  (keys: readonly SortKey[]) =>
  (one: Row, other: Row): number =>
    keys.reduce((order, key) => order || compare(one, other, key), 0);

/** Sorts by `-field,+field`; equal records keep their order. */
export const sortedBy = <R>(records: readonly R[], sort: string): R[] =>
  records.toSorted(compareBy(sortKeysIn(sort)) as (one: R, other: R) => number);

/** Whether the records that have a value of the first field are in that order. */
export function isSortedBy(records: readonly Row[], sort: string): boolean {
  const [first] = sortKeysIn(sort);
  if (!first) return true;
  const known = records.filter((it) => (valueAt(it, first.path) ?? null) !== null);
  return known.every((it, at) => at === 0 || compare(known[at - 1] ?? it, it, first) <= 0);
}
