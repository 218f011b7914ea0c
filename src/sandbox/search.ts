import type { SqlValue } from './database.ts';
import { invalid } from './errors.ts';
import type { Field, ScalarKind } from './fields.ts';
import type { Resource } from './schema.ts';

const DEFAULT_SIZE = 20;
const MAXIMUM_SIZE = 100;
/** Of words and filters; SQLite accepts an expression of 1,000. */
const MAXIMUM_CONDITIONS = 100;

/** A row selection: SQL over the row `t`, and its parameters after the tenant. */
export interface Search {
  where: string;
  order: string;
  params: SqlValue[];
}
export interface Page {
  size: number;
  from: number;
}

/** The SQL expression of a filter key, such as `company.id`, and the comparison of its values. */
interface Key {
  sql: string;
  kind: ScalarKind;
  /** The placeholder of the value, for keys of a child table. */
  inside?: (condition: string) => string;
}

/**
 * Reads `size` and `from`. A size over the maximum is clamped silently.
 * @throws Refusal 400 for anything that is not a whole number in range.
 */
export function readPage(query: URLSearchParams): Page {
  const size = wholeNumber(query, 'size', 1) ?? DEFAULT_SIZE;
  return { size: Math.min(size, MAXIMUM_SIZE), from: wholeNumber(query, 'from', 0) ?? 0 };
}

function wholeNumber(query: URLSearchParams, name: string, min: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) < min) {
    throw invalid(`${name} must be an integer not less than ${min}`);
  }
  return Number(text);
}

/**
 * Reads `query`, `filters` and `sort`.
 * @throws Refusal 400 for a filter or sort key that the record does not have.
 */
export function readSearch(resource: Resource, query: URLSearchParams): Search {
  const conditions = [
    ...freeText(resource, query.get('query')),
    ...filters(resource, query.get('filters')),
  ];
  if (conditions.length > MAXIMUM_CONDITIONS)
    throw invalid(`query and filters must have at most ${MAXIMUM_CONDITIONS} words and keys`);
  return {
    where: conditions.map(({ sql }) => ` and ${sql}`).join(''),
    params: conditions.flatMap(({ params }) => params),
    order: sorting(resource, query.get('sort')),
  };
}

interface Condition {
  sql: string;
  params: SqlValue[];
}

/** Every word has to occur somewhere in the searchable text, in any letter case. */
function freeText(resource: Resource, text: string | null): Condition[] {
  const words = text?.trim().split(/\s+/).filter(Boolean) ?? [];
  const searched = `lower(concat_ws(' ', ${resource.searchable.join(', ')}))`;
  return words.map((word) => ({ sql: `instr(${searched}, lower(?)) > 0`, params: [word] }));
}

function filters(resource: Resource, text: string | null): Condition[] {
  if (!text) return [];
  return text.split(',').map((part) => {
    const colon = part.indexOf(':');
    if (colon < 1) throw invalid(`filters must look like key:value, not "${part}"`);
    return matches(resource, part.slice(0, colon).trim(), part.slice(colon + 1).split('|'));
  });
}

function matches(resource: Resource, name: string, values: string[]): Condition {
  const key = findKey(resource.fields, resource.aliases?.[name] ?? name, 't');
  if (!key) throw invalid(`filters: unknown key "${name}"`);
  const wrong = values.find((value) => key.kind === 'number' && !isNumber(value));
  if (wrong !== undefined) throw invalid(`filters: ${name} must be a number, not "${wrong}"`);
  const condition = compare(key);
  return {
    sql: key.inside ? key.inside(condition) : condition,
    params: [JSON.stringify(values)],
  };
}

const isNumber = (text: string): boolean => /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text.trim());

/** Passes the values as one JSON array, so that a filter is one statement for any number of values. */
function compare({ sql, kind }: Key): string {
  switch (kind) {
    case 'id':
      return `${sql} in (select value from json_each(?))`;
    case 'number':
      return `cast(${sql} as real) in (select cast(value as real) from json_each(?))`;
    case 'flag':
      return `iif(${sql}, 'true', 'false') in (select lower(value) from json_each(?))`;
    case 'json':
      return `exists (select 1 from json_each(${sql}) l where
        lower(iif(l.type = 'object', l.value ->> '$.name', l.value))
        in (select lower(value) from json_each(?)))`;
    default:
      return `lower(${sql}) in (select lower(value) from json_each(?))`;
  }
}

function sorting(resource: Resource, text: string | null): string {
  if (!text) return 't.rowid';
  return [...text.split(',').map((part) => sortTerm(resource, part)), 't.id'].join(', ');
}

/** Records without the field come last in either direction. */
function sortTerm(resource: Resource, part: string): string {
  const name = part.replace(/^[+-]/, '');
  const key = findKey(resource.fields, name, 't');
  if (!key || key.inside || key.kind === 'json' || /^json_/.test(key.sql)) {
    throw invalid(`sort: unknown field "${name}"`);
  }
  return `${key.sql} is null, ${comparable(key)} ${part.startsWith('-') ? 'desc' : 'asc'}`;
}

function comparable({ sql, kind }: Key): string {
  if (kind === 'number') return `cast(${sql} as real)`;
  if (kind === 'date') return `julianday(${sql})`;
  return kind === 'text' ? `${sql} collate nocase` : sql;
}

function findKey(fields: Field[], name: string, row: string): Key | undefined {
  const [head = '', ...tail] = name.split('.');
  const field = fields.find((candidate) => candidate.name === head);
  return field && keyOf(field, tail.join('.'), row);
}

function keyOf(field: Field, rest: string, row: string): Key | undefined {
  switch (field.kind) {
    case 'list':
      return listKey(field.table, field.by, findKey(field.fields, rest, 'i'), row);
    case 'nest':
      return findKey(field.fields, rest, row);
    case 'json':
      return jsonKey(`${row}.${field.column}`, rest);
    case 'ref':
      return referenceKey(field.table, field.fields, `${row}.${field.column}`, rest, row);
    default:
      return rest ? undefined : plainKey(`${row}.${field.column}`, field.kind);
  }
}

const plainKey = (sql: string, kind: Key['kind']): Key => ({
  // A missing flag counts as true: an absent `listed` means listed.
  sql: kind === 'flag' ? `coalesce(${sql}, 1)` : sql,
  kind,
});

function referenceKey(
  table: string,
  names: string[],
  column: string,
  rest: string,
  row: string,
): Key | undefined {
  if (rest === 'id') return plainKey(column, 'id');
  if (!names.includes(rest)) return undefined;
  const found = `(select r.${rest} from ${table} r where r.tenant = ${row}.tenant and r.id = ${column})`;
  return plainKey(found, 'text');
}

/** `labels` matches any entry; `customFields.site` and `address.city` reach one member. */
function jsonKey(column: string, rest: string): Key | undefined {
  if (!rest) return plainKey(column, 'json');
  if (/["\\]/.test(rest)) return undefined;
  const steps = rest.split('.').map((step) => `."${step.replaceAll("'", "''")}"`);
  return { sql: `json_extract(${column}, '$${steps.join('')}')`, kind: 'text' };
}

function listKey(table: string, by: string, key: Key | undefined, row: string): Key | undefined {
  if (!key) return undefined;
  const wrap = (condition: string) =>
    `exists (select 1 from ${table} i where i.tenant = ${row}.tenant and i.${by} = ${row}.id and ${condition})`;
  return { ...key, inside: wrap };
}
