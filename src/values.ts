// Reads values of unknown type. Imports nothing, so every module may use it.

export type JsonObject = Record<string, unknown>;

/** Whether a value is an object and no list. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The field of an object, an error or a list; `undefined` for any other value. */
export const fieldOf = (value: unknown, name: string): unknown =>
  hasFields(value) ? value[name] : undefined;

const hasFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Gives it an own field of any name: an assignment to `__proto__` would replace its prototype. */
export function setField(fields: JsonObject, name: string, value: unknown): void {
  if (name !== '__proto__') fields[name] = value;
  else Object.defineProperty(fields, name, { value, enumerable: true, configurable: true });
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

/** True if objects and lists are nested at most `levels` deep. */
export function isShallow(value: unknown, levels: number): boolean {
  if (!hasFields(value)) return true;
  if (levels === 0) return false;
  for (const name in value) {
    const inner = value[name];
    if (typeof inner === 'object' && !isShallow(inner, levels - 1)) return false;
  }
  return true;
}

/** The names of a table's entries. Only for tables whose type lists every entry. */
export const keysOf = <T extends object>(table: T): (keyof T & string)[] =>
  Object.keys(table) as (keyof T & string)[];

/** Whether a table has an entry of that name itself. */
export const isKeyOf = <T extends object>(table: T, name: PropertyKey): name is keyof T =>
  Object.hasOwn(table, name);

/** Whether a value is one of a list's. */
export const isOneOf = <T>(list: readonly T[], value: unknown): value is T =>
  list.some((one) => one === value);

/** The code of an error of the system, such as `ENOENT`; `undefined` if it has none. */
export function errorCode(error: unknown): string | undefined {
  const code = fieldOf(error, 'code');
  return typeof code === 'string' ? code : undefined;
}

export const toError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

export const messageOf = (error: unknown): string => toError(error).message;

/** What looks like an id, and not like a number or a name. */
export const longId = /^(?=.*\d)[\w-]{15,}$/;

/** The value of a JSON text; `undefined` if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object of a JSON text; `undefined` if it is none. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** A segment of a path without its percent encoding; an invalid encoding is taken literally. */
export function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** JSON with sorted property names, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const names = Object.keys(value).sort();
  const pairs = names.map((name) => [name, fieldOf(value, name)] as const);
  const shown = pairs.filter(([, inner]) => inner !== undefined);
  return `{${shown.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join(',')}}`;
}
