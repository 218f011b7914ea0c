/** Applies the service's filters, search text and sort order to records. */
import { runSteps } from '../figures/steps.ts';
import { isObject, type JsonObject } from '../values.ts';
import {
  compareValues,
  fieldAt,
  filterParts,
  folded,
  readPart,
  readSort,
  sortBy,
  valuesOf,
} from './search-terms.ts';

export interface FieldCondition {
  readonly path: string;
  /** One of them must be equal. */
  readonly values: readonly string[];
}

export const conditionsIn = (filters: string): FieldCondition[] =>
  filterParts(filters).flatMap((part) => {
    const read = readPart(part);
    return read ? [{ path: read.name, values: read.values.map(folded) }] : [];
  });

/** What a missing field means, where it means something. */
const defaults = new Map<string, unknown>([['listed', true]]);

const valuesAt = (record: JsonObject, path: string): unknown[] =>
  valuesOf(fieldAt(record, path) ?? defaults.get(path));

/** Whether the record meets the condition; `undefined` if it does not have the field. */
export function matchesField(
  record: JsonObject,
  { path, values }: FieldCondition,
): boolean | undefined {
  const found = valuesAt(record, path);
  if (found.length === 0 || found.some(isObject)) return undefined;
  return found.some((value) => values.includes(folded(value)));
}

/** Whether the record contains every word of the text. */
export function mentions(record: JsonObject, text: string): boolean {
  const written = folded(JSON.stringify(record));
  const words = folded(text).split(/\s+/);
  return words.every((word) => written.includes(word));
}

/** Sorts by `-field,+field`. */
export const sortedByFields = <R extends JsonObject>(
  records: readonly R[],
  sort: string,
): readonly R[] =>
  runSteps(
    sortBy(
      records,
      readSort(sort).map(({ name, sign }) => ({
        read: (record) => valuesAt(record, name),
        sign,
      })),
    ),
  );

/** Whether the records that have a value of the first field are in that order. */
export function isSortedBy(records: readonly JsonObject[], sort: string): boolean {
  const [first] = readSort(sort);
  if (!first) return true;
  const values = records.flatMap((record) => valuesAt(record, first.name).slice(0, 1));
  return values.every(
    (value, at) => at === 0 || compareValues(values[at - 1], value, first.sign) <= 0,
  );
}
