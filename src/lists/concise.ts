import type { RecordOf, Resource } from '../service/records/records.ts';
import { fieldOf, isKeyOf, isObject, type JsonObject } from '../values.ts';
import { type Known, nothingKnown } from './column.ts';
import { columnsOf, isInCompanyCurrency, shownColumnsOf } from './columns.ts';

/** The concise form of one record, column by column but for `omitted`; empty fields are left out. */
export function concise<R extends Resource>(
  resource: R,
  record: RecordOf[R],
  known: Known = nothingKnown,
  omitted?: string,
): JsonObject {
  const row: JsonObject = {};
  for (const [name, column] of shownColumnsOf(resource)) {
    if (name === omitted) continue;
    const value = withoutEmpty(column.value(record, known));
    if (value !== undefined) row[name] = value;
  }
  return row;
}

/** The concise form with these keys, where it lacks them: hidden columns, or the service's own fields with dots. */
export function withKeys<R extends Resource>(
  resource: R,
  record: RecordOf[R],
  row: JsonObject,
  keys: readonly string[],
  known: Known,
): JsonObject {
  const columns = columnsOf(resource);
  for (const key of keys) {
    const column = isKeyOf(columns, key) ? columns[key] : undefined;
    if (column && !column.hidden) continue;
    const value = withoutEmpty(column ? column.value(record, known) : valueAt(record, key));
    if (value !== undefined) row[key] = value;
  }
  return row;
}

/** Every field that is not empty. */
export function fullRecord(record: object): JsonObject {
  const full = withoutEmpty(record);
  return isObject(full) ? full : {};
}

/** Every field; also the currency of the record's amounts, and of a company the name of its account manager, if known. */
export function wholeRecord<R extends Resource>(
  resource: R,
  record: RecordOf[R],
  known: Known,
): JsonObject {
  const { accountManager, currency } = concise(resource, record, known);
  const whole = fullRecord(record);
  if (resource === 'company' && accountManager !== undefined) whole.accountManager = accountManager;
  if (isInCompanyCurrency(resource) && currency !== undefined) whole.currency = currency;
  return whole;
}

/**
 * Selected fields: columns of the list, or the service's own fields with dots for nested ones; always includes what
 * names the record, and whether it is deleted.
 */
export function selectFields<R extends Resource>(
  resource: R,
  record: RecordOf[R],
  fields: readonly string[],
  known: Known = nothingKnown,
): JsonObject {
  const { id, number, name, deleted } = concise(resource, record, known);
  const row: JsonObject = { id, number, name: name ?? fieldOf(record, 'name'), deleted };
  for (const field of fields) row[field] = withoutEmpty(fieldValue(resource, record, field, known));
  return fullRecord(row);
}

function fieldValue<R extends Resource>(
  resource: R,
  record: RecordOf[R],
  field: string,
  known: Known,
): unknown {
  const columns = columnsOf(resource);
  const column = isKeyOf(columns, field) ? columns[field] : undefined;
  // The concise form leaves out values that can be assumed, such as the outcome of an open deal.
  return column ? (column.compared ?? column.value)(record, known) : valueAt(record, field);
}

/** The value under a path with dots; of a list, that of each entry. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const name of path.split('.')) {
    if (Array.isArray(at)) at = at.map((entry) => valueAt(entry, name));
    else at = isObject(at) && isKeyOf(at, name) ? at[name] : undefined;
  }
  return at;
}

/** Removes empty values at every depth: null, empty texts, lists and records. */
function withoutEmpty(value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const entries = value.map(withoutEmpty).filter((entry) => entry !== undefined);
    return entries.length > 0 ? entries : undefined;
  }
  const entries: JsonObject = {};
  let any = false;
  for (const name in value) {
    const inner = withoutEmpty(fieldOf(value, name));
    if (inner === undefined) continue;
    entries[name] = inner;
    any = true;
  }
  return any ? entries : undefined;
}

/** Columns and fields that are amounts of money. */
const amountNames: ReadonlySet<string> = new Set([
  ...['oneTime', 'monthly', 'yearly', 'otherTerms', 'value', 'revenue', 'profit'],
  ...['onetimeRevenue', 'monthlyRevenue', 'oneTimeProfit', 'monthlyProfit', 'monthlyChurn'],
  ...['price', 'cost', 'setupPrice', 'setupCost'],
]);

/** Whether a column, or a field with dots for nested ones, is an amount of money. */
export const isAmount = (field: string): boolean =>
  amountNames.has(field.slice(field.lastIndexOf('.') + 1));
