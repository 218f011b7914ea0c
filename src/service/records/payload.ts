/** The payload of an event: where it holds the record is not documented. */
import { isObject, isShallow, type JsonObject, parseJson } from '../../values.ts';

/** Maximum nesting: a record may be 64 levels deep, and the payload adds some. */
export const maxDepth = 80;
export const recordKeys = ['data', 'record', 'payload'];

/** The payload of a stored event; undefined if it is damaged. */
export function payloadOf(body: string): JsonObject | undefined {
  const payload = parseJson(body);
  return isObject(payload) && isShallow(payload, maxDepth) ? payload : undefined;
}

/** The record in a payload, if it contains one. */
export function recordFrom(payload: JsonObject, subject: string): JsonObject | undefined {
  for (const key of [...recordKeys, 'entity', subject]) {
    const value = payload[key];
    const found = Array.isArray(value) && value.length === 1 ? value[0] : value;
    if (isObject(found)) return unwrapRecord(found, subject);
  }
  return undefined;
}

/** The record may be nested one level deeper. */
function unwrapRecord(found: JsonObject, subject: string): JsonObject {
  const named = found[subject];
  if (isObject(named)) return named;
  if (found.id !== undefined) return found;
  const inner = [...recordKeys, 'object'].map((key) => found[key]).find(isObject);
  return inner ?? found;
}
