import type * as z from 'zod';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import { identifier, join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isShallow, parseJson } from '../values.ts';
import type { JsonSchema } from './schema.ts';

/** Maximum nesting depth of an argument; deeper ones could overflow the stack. */
const maxDepth = 32;
/** Maximum entries of a list, and of an object. */
const maxEntries = 100;

/**
 * Repairs common mistakes of models (numbers as strings, lists as JSON strings, `null` for "not given"), then
 * validates.
 * @throws InvalidArguments
 */
export function parseArguments(
  { properties: known = {} }: JsonSchema,
  check: z.ZodObject,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const unknown: string[] = [];
  for (const name in given) if (!Object.hasOwn(known, name)) unknown.push(name);
  if (unknown.length > 0) throw new InvalidArguments(unknownArguments(unknown, Object.keys(known)));
  const repaired: Record<string, unknown> = {};
  for (const name in given) {
    const value = repair(given[name], known[name] ?? {});
    if (typeof value === 'object' && value !== null) checkSize(name, value);
    if (value !== undefined) repaired[name] = value;
  }
  const checked = check.safeParse(repaired);
  if (checked.success) {
    const { data } = checked;
    for (const name in data) data[name] = wellFormed(data[name]);
    return data;
  }
  const problems = checked.error.issues.map((issue) => describeIssue(issue, repaired, known));
  const message = join(problems, '; ');
  throw new InvalidArguments(message.endsWith('?') ? message : wording`${message}.`);
}

function checkSize(name: string, value: object): void {
  const entries = Object.keys(value).length;
  if (entries > maxEntries)
    throw new InvalidArguments(
      wording`${identifier(name)} may have ${maxEntries} entries, not ${entries}.`,
    );
  if (!isShallow(value, maxDepth))
    throw new InvalidArguments(wording`${identifier(name)} is nested too deeply.`);
}

const maxNamed = 10;

function unknownArguments(unknown: string[], known: string[]): Wording {
  const names = unknown.slice(0, maxNamed).map((name) => quote(name, 60));
  const plural = unknown.length === 1 ? 'argument' : 'arguments';
  const more = unknown.length > maxNamed ? wording` and ${unknown.length - maxNamed} more` : '';
  const others = wording`Known: ${trusted(known.join(', '))}`;
  return wording`Unknown ${plural} ${join(names, ', ')}${more}. ${known.length === 0 ? 'This tool takes none' : others}.`;
}

/** Replaces lone surrogates, which cannot be encoded in UTF-8, once a tool that refuses them has seen them. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  return Array.isArray(value) ? value.map(wellFormed) : value;
}

function repair(value: unknown, schema: JsonSchema): unknown {
  if (value === null) return undefined;
  // Infinity (such as 1e400) is not converted, so that validation rejects it.
  if (typeof value === 'number')
    return schema.type === 'string' && Number.isFinite(value) ? String(value) : value;
  return typeof value === 'string' ? repairText(value, schema) : value;
}

function repairText(text: string, schema: JsonSchema): unknown {
  const trimmed = text.trim();
  switch (schema.type) {
    case 'integer':
    case 'number':
      return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : text;
    case 'boolean':
      return /^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() === 'true' : text;
    case 'array':
      return toList(trimmed);
    case 'object':
      return parseNested(trimmed) ?? text;
    default:
      return (
        schema.enum?.find((word) => String(word).toLowerCase() === trimmed.toLowerCase()) ?? text
      );
  }
}

function toList(text: string): unknown {
  const list = parseNested(text);
  if (Array.isArray(list)) return list;
  return text === '' ? undefined : text.split(',').map((part) => part.trim());
}

/** A list or an object from its JSON text; of any other text, validation reports the expected type. */
const parseNested = (text: string): unknown => (/^[[{]/.test(text) ? parseJson(text) : undefined);

type Issue = z.core.$ZodIssue;

/** One validation error: the expected range or values, and the given value. */
function describeIssue(
  issue: Issue,
  given: Record<string, unknown>,
  known: Record<string, JsonSchema>,
): Wording {
  // Names and messages come from the tools' own schemas; unknown names were refused before.
  const property = String(issue.path[0] ?? '');
  const name = trusted(property);
  if (property === '') return trusted(issue.message);
  if (given[property] === undefined) return wording`${name} is required`;
  if (issue.code === 'custom') return wording`${name}: ${trusted(issue.message)}`;
  const expected = trusted(expectedValue(known[property] ?? {}, issue));
  return wording`${name} must be ${expected}, not ${shown(given[property])}`;
}

const maxShown = 80;

function shown(value: unknown): Wording {
  if (typeof value === 'number' && !Number.isFinite(value))
    return wording`a number that is too large`;
  return typeof value === 'number' || typeof value === 'boolean'
    ? trusted(String(value))
    : quote(typeof value === 'string' ? value : JSON.stringify(value), maxShown);
}

function expectedValue({ type = 'any', items, ...schema }: JsonSchema, issue: Issue): string {
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  if (type === 'array') return `a list of ${items?.enum?.join(', ') ?? 'strings'}`;
  if (type === 'boolean') return 'true or false';
  // Some limits are not in the schema that hosts get.
  const least = issue.code === 'too_small' ? Number(issue.minimum) : schema.minimum;
  const most = issue.code === 'too_big' ? Number(issue.maximum) : schema.maximum;
  if (type === 'integer') return `a whole number${rangeWords(least, most)}`;
  if (type === 'number') return `a number${rangeWords(least, most)}`;
  if (most !== undefined) return `a string of at most ${most} characters`;
  return least === undefined ? `of type ${type}` : 'a non-empty string';
}

function rangeWords(least: number | undefined, most: number | undefined): string {
  if (least === undefined) return most === undefined ? '' : ` of at most ${most}`;
  return most === undefined ? ` from ${least}` : ` ${least}–${most}`;
}
