import type * as z from 'zod';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import { identifier, join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isShallow, parseJson } from '../values.ts';
import type { JsonSchema } from './schema.ts';

/** Maximum nesting depth of an argument; deeper ones could overflow the stack. */
const maxDepth = 32;

/**
 * Repairs common mistakes of models (numbers as strings, lists as JSON strings, `null` for "not given"), then
 * validates.
 * @throws InvalidArguments
 */
export function parseArguments(
  schema: JsonSchema,
  check: z.ZodObject,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const known = schema.properties ?? {};
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length > 0) throw new InvalidArguments(unknownArguments(unknown, Object.keys(known)));
  const repaired: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    checkSize(name, value);
    const repairedValue = repair(value, known[name] ?? {});
    checkSize(name, repairedValue); // A JSON string may have become a list.
    if (repairedValue !== undefined) repaired[name] = repairedValue;
  }
  const checked = check.safeParse(repaired);
  if (checked.success) return wellFormed(checked.data);
  const problems = checked.error.issues.map((issue) => describeIssue(issue, repaired, known));
  const message = join(problems, '; ');
  throw new InvalidArguments(message.endsWith('?') ? message : wording`${message}.`);
}

/** Maximum entries of a list, and of an object. */
const maxEntries = 100;

function checkSize(name: string, value: unknown): void {
  const entries = typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
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

/** Replaces lone surrogates, which cannot be encoded in UTF-8. */
const wellFormed = (given: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, wellFormedValue(value)]));

function wellFormedValue(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  return Array.isArray(value) ? value.map(wellFormedValue) : value;
}

function repair(value: unknown, schema: JsonSchema): unknown {
  if (value === null) return undefined;
  if (typeof value === 'string') return repairText(value, schema);
  // Infinity (such as 1e400) is not converted, so that validation rejects it.
  if (typeof value === 'number' && schema.type === 'string' && Number.isFinite(value)) {
    return String(value);
  }
  return value;
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
  if (issue.path.length === 0) return trusted(issue.message);
  const schema = known[property] ?? {};
  const value = given[property];
  if (value === undefined) return wording`${name} is required`;
  if (issue.code === 'custom') return wording`${name}: ${trusted(issue.message)}`;
  return wording`${name} must be ${expectedType(schema, issue)}, not ${shown(value)}`;
}

const maxShown = 80;

function shown(value: unknown): Wording {
  if (typeof value === 'number' && !Number.isFinite(value))
    return wording`a number that is too large`;
  if (typeof value === 'string') return quote(value, maxShown);
  return typeof value === 'object'
    ? quote(JSON.stringify(value), maxShown)
    : trusted(String(value));
}

function expectedType(schema: JsonSchema, issue: Issue): Wording {
  if (schema.enum) return wording`one of ${trusted(schema.enum.join(', '))}`;
  if (schema.type === 'integer' || schema.type === 'number') return describeRange(schema, issue);
  if (schema.type === 'array') return describeList(schema.items?.enum);
  if (issue.code === 'too_big')
    return wording`a string of at most ${trusted(String(issue.maximum))} characters`;
  if (issue.code === 'too_small') return wording`a non-empty string`;
  return schema.type === 'boolean'
    ? wording`true or false`
    : wording`of type ${trusted(schema.type ?? 'any')}`;
}

const describeList = (words: unknown[] | undefined): Wording =>
  words ? wording`a list of ${trusted(words.join(', '))}` : wording`a list of strings`;

function describeRange({ type, minimum, maximum }: JsonSchema, issue: Issue): Wording {
  const kind = type === 'integer' ? wording`a whole number` : wording`a number`;
  if (minimum !== undefined && maximum !== undefined) return wording`${kind} ${minimum}–${maximum}`;
  if (issue.code === 'too_big')
    return wording`${kind} of at most ${trusted(String(issue.maximum))}`;
  // A minimum of 0 is not in the schema that hosts get.
  const least = issue.code === 'too_small' ? Number(issue.minimum) : minimum;
  return least === undefined ? kind : wording`${kind} from ${least}`;
}
