import type { Row } from '../hosts.ts';
import { isRow, references } from '../upstream/writes.ts';
import type { Named } from './stored-data.ts';
import type { References, Switches } from './switches.ts';

/** Fields that refer to another record. */
const referring = [...references, 'opportunity', 'product', 'paymentTerm'];

/** Optional fields, which are empty where the service omits none. */
const optional = ['closedAt', 'sentAt', 'description', 'term'];

const isNamed = (value: unknown): value is Named => isRow(value) && 'id' in value;

function reference(name: string, { id, name: called }: Named, form: References): Row {
  const flat = { [`${name}Id`]: id };
  switch (form) {
    case 'nested':
      return { [name]: { id, name: called } };
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

function withReferences(record: Row, form: References): Row {
  const entries = Object.entries(record).flatMap(([name, value]) => {
    if (referring.includes(name) && isNamed(value)) {
      return Object.entries(reference(name, value, form));
    }
    if (name !== 'items') return [[name, value]];
    return [[name, (value as Row[]).map((item) => withReferences(item, form))]];
  });
  return Object.fromEntries(entries);
}

function withCompany(path: string, record: Row, on: Switches): Row {
  if (path !== '/contact' || on.contactCompany === 'flat') return record;
  const { companyId, companyName, ...rest } = record;
  return { ...rest, company: { id: companyId, name: companyName } };
}

/** Each kind of record has its own deletion mark, except where the mark is not a time. */
function withMark({ deletedAt, deleted, ...record }: Row, form: Switches['deleted']): Row {
  const time = deletedAt ?? deleted;
  if (form === 'boolean') return { ...record, deleted: time !== undefined };
  if (form === 'null') {
    return { ...record, deletedAt: deletedAt ?? null, deleted: deleted ?? null };
  }
  return {
    ...record,
    ...(deletedAt === undefined ? {} : { deletedAt }),
    ...(deleted === undefined ? {} : { deleted }),
  };
}

function withEmpty(path: string, record: Row, form: Switches['missing']): Row {
  if (form === 'absent' || !['/opportunity', '/quote'].includes(path)) return record;
  const empty = form === 'null' ? null : '';
  return { ...Object.fromEntries(optional.map((name) => [name, empty])), ...record };
}

const amounts = ['onetimeRevenue', 'monthlyRevenue', 'price', 'cost', 'quantity', 'revenue'];
const days = ['startDate', 'expectedCloseDate'];
const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}(T|$)/.test(value);

function shownValue(name: string, value: unknown, on: Switches): unknown {
  // Their names are the tenant's own.
  if (name === 'customFields') return value;
  if (Array.isArray(value)) return value.map((entry) => shownValue('', entry, on));
  if (isRow(value)) return shownRow(value, on);
  if (name === 'probability' && on.probability === 'percent') return Number(value) * 100;
  if (amounts.includes(name) && on.amounts === 'texts') return String(value);
  if (!isTime(value) || on.times === 'ISO') return value;
  const ms = Date.parse(value);
  return on.times === 'epoch milliseconds' ? ms : Math.floor(ms / 1000);
}

/** The stored form of a value in the form in which this service shows it, which it takes as well as the documented one. */
export function storedValue(name: string, value: unknown, on: Switches): unknown {
  if (amounts.includes(name) && on.amounts === 'texts' && typeof value === 'string')
    return Number(value);
  if (!days.includes(name) || on.times === 'ISO' || typeof value !== 'number') return value;
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

function shownName(name: string, { fields, idField }: Switches): string {
  if (fields === 'PascalCase') return pascal(name);
  if (fields === 'other amounts' && name in otherAmounts) return otherAmounts[name] ?? name;
  if (name === 'id') return idField;
  return fields === 'snake_case' ? snake(name) : name;
}

function shownRow(row: Row, on: Switches): Row {
  const entries = Object.entries(row).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [shownName(name, on), shownValue(name, value, on)]),
  );
}

/** A stored record as this service sends it, by id or in a row of a list. */
export function shown(path: string, record: Row, as: 'record' | 'row', on: Switches): Row {
  const { items, ...rest } = record;
  const bare = as === 'row' && on.items === 'by id only';
  const whole = bare || items === undefined ? rest : { ...rest, items };
  const marked = withMark(withCompany(path, whole, on), on.deleted);
  const row = shownRow(withEmpty(path, withReferences(marked, on.references), on.missing), on);
  if (on.fields !== 'in attributes') return row;
  const { id, ...attributes } = row;
  return { id, kind: path.slice(1), attributes };
}
