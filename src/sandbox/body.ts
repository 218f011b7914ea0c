import type { Context } from './context.ts';
import { invalid } from './errors.ts';
import { isObject, type Json, type Row } from './json.ts';

/** Returns the requirement that a value fails, or nothing. */
type Check = (value: unknown) => string | undefined;

/** One allowed property of a body. */
interface Property {
  column: string;
  check: Check;
  /** The table and column that the value refers to. */
  refers?: { table: string; lookupColumn: 'id' | 'externalIdentifier' };
}
export type BodyShape = Record<string, Property>;

const requirement =
  (message: string, isValid: (value: unknown) => boolean): Check =>
  (value) =>
    isValid(value) ? undefined : message;

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value);

export const text = requirement('must be a string', isText);
export const amount = requirement('must be a number', isNumber);
export const object = requirement('must be an object', isObject);
export const wholeNumber = requirement(
  'must be an integer not less than 0',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);
export const share = requirement(
  'must be a number between 0 and 1',
  (value) => isNumber(value) && Number(value) >= 0 && Number(value) <= 1,
);
export const date = requirement(
  'must be a valid date, YYYY-MM-DD',
  (value) => isText(value) && isDay(String(value)),
);
/** JavaScript parses 2026-02-30 as a day in March, so the parsed date must print as the same text. */
function isDay(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

/** Properties stored in the column of the same name. */
export function plainProperties(check: Check, ...names: string[]): BodyShape {
  return Object.fromEntries(names.map((column) => [column, { column, check }]));
}

/** The two properties that refer to a record: `companyId` and `companyExtId`. */
export function reference(name: string, table: string): BodyShape {
  const column = `${name}Id`;
  return {
    [`${name}ExtId`]: {
      column,
      check: text,
      refers: { table, lookupColumn: 'externalIdentifier' },
    },
    [`${name}Id`]: { column, check: text, refers: { table, lookupColumn: 'id' } },
  };
}

/**
 * Checks a body and turns it into column values. `null` clears a property; if both forms of a
 * reference are given, the id wins.
 * @throws Refusal 400 with a message for every problem.
 */
export function rowFromBody(
  { store, tenant }: Pick<Context, 'store' | 'tenant'>,
  shape: BodyShape,
  body: Json | undefined,
  required: string[] = [],
): Row {
  if (!isObject(body)) throw invalid('body must be an object');
  const problems = [
    ...missing(body, required),
    ...unknownProperties(shape, body),
    ...wrongValues(shape, body),
  ];
  const row: Row = {};
  for (const [name, { column, refers }] of Object.entries(shape)) {
    const value = body[name];
    if (value === undefined) continue;
    row[column] = refers && value !== null ? findId(name, String(value), refers) : value;
  }
  if (problems.length > 0) throw invalid(...problems);
  return row;

  function findId(
    name: string,
    value: string,
    { table, lookupColumn: by }: NonNullable<Property['refers']>,
  ) {
    const sql = `select id from ${table} where tenant = ? and ${by} = ?`;
    const id = store.value(sql, tenant, value);
    if (id === undefined) problems.push(`${name} "${value}" does not exist`);
    return id === undefined ? null : String(id);
  }
}

const missing = (body: Record<string, unknown>, required: string[]) =>
  required
    .filter((name) => String(body[name] ?? '').trim() === '')
    .map((name) => `${name} should not be empty`);

const unknownProperties = (shape: BodyShape, body: Record<string, unknown>) =>
  Object.keys(body)
    .filter((name) => !Object.hasOwn(shape, name))
    .map((name) => `property ${name} should not exist`);

function wrongValues(shape: BodyShape, body: Record<string, unknown>): string[] {
  return Object.entries(shape).flatMap(([name, { check }]) => {
    const value = body[name];
    const wrong = value === undefined || value === null ? undefined : check(value);
    return wrong ? [`${name} ${wrong}`] : [];
  });
}
