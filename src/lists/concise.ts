/** The rows of lists: the concise form of a record, all of it, or the fields that were asked for. */

import type { ApiRecord, Resource } from '../service/records/records.ts';
import { fieldOf, isKeyOf, isObject, type JsonObject, setField, valueAt } from '../values.ts';
import { type Known, listColumns, nothingKnown } from './columns.ts';

export interface RecordShape {
  detail: 'concise' | 'full';
  /** Columns of the list, or the service's own fields with dots for nested ones. */
  fields?: readonly string[] | undefined;
}

/** @param keys columns and fields that the concise form has besides its own */
export function rowOf(
  resource: Resource,
  record: ApiRecord,
  { detail, fields = [] }: RecordShape,
  known: Known,
  keys: readonly string[] = [],
): JsonObject {
  const row = concise(resource, record, known);
  if (fields.length > 0) return selectFields(resource, record, row, fields, known);
  if (detail === 'full') return wholeRecord(resource, record, row);
  const { all } = listColumns[resource];
  for (const key of keys) {
    const column = isKeyOf(all, key) ? all[key] : undefined;
    if (column && !column.hidden) continue;
    const value = column ? withoutEmpty(column.value(record, known)) : shownField(record, key);
    if (value !== undefined) row[key] = value;
  }
  return row;
}

export function concise(
  resource: Resource,
  record: ApiRecord,
  known: Known = nothingKnown,
): JsonObject {
  const row: JsonObject = {};
  for (const [name, column] of listColumns[resource].shown) {
    const value = column.value(record, known);
    const shown = typeof value === 'object' || value === '' ? withoutEmpty(value) : value;
    if (shown !== undefined) row[name] = shown;
  }
  return row;
}

/** Every field that is not empty. */
export function fullRecord(record: object): JsonObject {
  const full = withoutEmpty(record);
  return isObject(full) ? full : {};
}

/** Every field; also the currency of the record's amounts, and of a company the name of its account manager, if known. */
function wholeRecord(
  resource: Resource,
  record: ApiRecord,
  { accountManager, currency }: JsonObject,
): JsonObject {
  const whole = fullRecord(record);
  if (resource === 'company' && accountManager !== undefined) whole.accountManager = accountManager;
  if (listColumns[resource].isInCompanyCurrency && currency !== undefined)
    whole.currency = currency;
  return whole;
}

/** Selected fields, what names the record, whether it is deleted, and the currency where a field is an amount. */
function selectFields(
  resource: Resource,
  record: ApiRecord,
  { id, number, name, deleted, currency }: JsonObject,
  fields: readonly string[],
  known: Known,
): JsonObject {
  const row = fullRecord({ id, number, name: name ?? fieldOf(record, 'name'), deleted });
  const { all } = listColumns[resource];
  for (const field of fields) {
    const column = isKeyOf(all, field) ? all[field] : undefined;
    // The concise form leaves out values that can be assumed, such as the outcome of an open deal.
    const value = column && withoutEmpty((column.compared ?? column.value)(record, known));
    row[field] = column ? value : shownField(record, field);
  }
  if (showsCurrency(resource, fields)) row.currency ??= currency;
  return row;
}

/** A field that is not empty. Of the entries of a list each has its place, so that names and prices of lines are side by side. */
function shownField(record: ApiRecord, path: string): unknown {
  const value = valueAt(record, path);
  const known = withoutEmpty(value);
  const isOfEntries = path.includes('.') && Array.isArray(value) && known !== undefined;
  return isOfEntries ? value.map((entry) => withoutEmpty(entry) ?? null) : known;
}

/** Whether rows with these columns and fields, all without any, have a currency. */
export const showsCurrency = (resource: Resource, fields: readonly string[] = []): boolean =>
  listColumns[resource].isInCompanyCurrency &&
  (fields.length === 0 ||
    fields.some((field) => amountNames.has(field.slice(field.lastIndexOf('.') + 1))));

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
    setField(entries, name, inner);
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
