import type { Row } from '../hosts.ts';
import type { Active, Reference } from './behaviour.ts';
import { isRow, references } from './records.ts';

/** Fields that refer to another record. */
const referring = [...references, 'opportunity', 'product', 'paymentTerm'];

/** Optional fields, which are empty where the service omits none. */
const optional = ['closedAt', 'sentAt', 'description', 'term'];

const isReference = (name: string, value: unknown): value is Row =>
  referring.includes(name) && isRow(value) && 'id' in value;

function reference(name: string, { id, name: called }: Row, form: Reference): Row {
  const flat = { [`${name}Id`]: id };
  switch (form) {
    case 'flat ids':
      return flat;
    case 'flat ids and names':
      return { ...flat, [`${name}DisplayValue`]: called };
    case 'both':
      return { [name]: { id, name: called }, ...flat };
    case 'names':
      return { [name]: called };
    case 'bare ids':
      return { [name]: id };
  }
}

function withReferences(record: Row, form: Reference | undefined): Row {
  if (form === undefined) return record;
  const entries = Object.entries(record).flatMap(([name, value]) => {
    if (isReference(name, value)) return Object.entries(reference(name, value, form));
    if (name !== 'items') return [[name, value]];
    return [[name, (value as Row[]).map((item) => withReferences(item, form))]];
  });
  return Object.fromEntries(entries);
}

function withCompany(path: string, record: Row, on: Active): Row {
  if (path !== '/contact' || !on.nestedCompany) return record;
  const { companyId, companyName, ...rest } = record;
  return { ...rest, company: { id: companyId, name: companyName } };
}

/** Each kind of record has its own deletion mark, except where the mark is not a time. */
function withMark(record: Row, form: Active['deleted']): Row {
  const { deletedAt, deleted, ...rest } = record;
  if (form === 'boolean') return { ...rest, deleted: (deletedAt ?? deleted) !== undefined };
  if (form === undefined) return record;
  return { ...rest, deletedAt: deletedAt ?? null, deleted: deleted ?? null };
}

function withEmpty(path: string, record: Row, form: Active['missing']): Row {
  if (form === undefined || !['/opportunity', '/quote'].includes(path)) return record;
  const empty = form === 'null' ? null : '';
  return { ...Object.fromEntries(optional.map((name) => [name, empty])), ...record };
}

const amounts = ['onetimeRevenue', 'monthlyRevenue', 'price', 'cost', 'quantity', 'revenue'];
const days = ['startDate', 'expectedCloseDate'];
const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}(T|$)/.test(value);

function sentValue(name: string, value: unknown, on: Active): unknown {
  // Their names are the tenant's own.
  if (name === 'customFields') return value;
  if (Array.isArray(value)) return value.map((entry) => sentValue('', entry, on));
  if (isRow(value)) return sentRow(value, on);
  if (name === 'probability' && on.probability === 'percent') return Number(value) * 100;
  if (amounts.includes(name) && on.amounts === 'texts') return String(value);
  if (!isTime(value) || on.times === undefined) return value;
  const ms = Date.parse(value);
  return on.times === 'epoch milliseconds' ? ms : Math.floor(ms / 1000);
}

/** The stored form of a value in the form in which this service shows it, which it takes as well as the documented one. */
export function storedValue(name: string, value: unknown, on: Active): unknown {
  if (amounts.includes(name) && on.amounts === 'texts' && typeof value === 'string')
    return Number(value);
  if (!days.includes(name) || on.times === undefined || typeof value !== 'number') return value;
  const ms = on.times === 'epoch milliseconds' ? value : value * 1000;
  return new Date(ms).toISOString().slice(0, 10);
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const pascal = (name: string): string => name.replace(/^./, (letter) => letter.toUpperCase());

/** Undocumented names of amounts. */
const otherAmounts: Readonly<Record<string, string>> = {
  onetimeRevenue: 'amountOnce',
  monthlyRevenue: 'amountPerMonth',
  price: 'unitAmount',
  cost: 'unitOutlay',
};

function sentName(name: string, { fields, idField }: Active): string {
  if (fields === 'PascalCase') return pascal(name);
  if (fields === 'other amounts' && name in otherAmounts) return otherAmounts[name] ?? name;
  if (name === 'id' && idField) return idField;
  return fields === 'snake_case' ? snake(name) : name;
}

function sentRow(row: Row, on: Active): Row {
  const entries = Object.entries(row).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [sentName(name, on), sentValue(name, value, on)]),
  );
}

const forms = [
  ...(['references', 'nestedCompany', 'deleted', 'missing', 'probability'] as const),
  ...(['amounts', 'times', 'fields', 'idField'] as const),
] as const;

/** A stored record as the service sends it, by id or in a row of a list. */
export function sentRecord(path: string, stored: Row, as: 'record' | 'row', on: Active): Row {
  const { items, ...rest } = stored;
  const record = as === 'row' && on.itemsById && items !== undefined ? rest : stored;
  if (forms.every((name) => on[name] === undefined)) return record;
  const marked = withMark(withCompany(path, record, on), on.deleted);
  const row = sentRow(withEmpty(path, withReferences(marked, on.references), on.missing), on);
  if (on.fields !== 'in attributes') return row;
  const { id, ...attributes } = row;
  return { id, kind: path.slice(1), attributes };
}
