import type * as z from 'zod';
import { isShallow } from '../api/envelope.ts';
import type { JsonSchema } from './schema.ts';

/** No argument needs more; without end, it would overflow the stack of whoever walks it. */
const maxDepth = 32;

/** Arguments that a tool cannot take, in words that say what it can. */
export class BadArguments extends Error {
  readonly kind = 'bad-arguments';
}

/**
 * Repairs what models commonly get wrong (numbers as strings, lists as JSON strings, `null` for "not
 * given"), then checks.
 * @throws BadArguments
 */
export function readArguments(
  schema: JsonSchema,
  check: z.ZodObject,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const known = schema.properties ?? {};
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length > 0) throw new BadArguments(unknownArguments(unknown, Object.keys(known)));
  const repaired: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    checkDepth(name, value);
    const mended = repair(value, known[name] ?? {});
    checkDepth(name, mended); // A text may have been a list.
    if (mended !== undefined) repaired[name] = mended;
  }
  const checked = check.safeParse(repaired);
  if (checked.success) return wellFormed(checked.data);
  const problems = checked.error.issues.map((issue) => problem(issue, repaired, known));
  const told = problems.join('; ');
  throw new BadArguments(told.endsWith('?') ? told : `${told}.`);
}

function checkDepth(name: string, value: unknown): void {
  if (!isShallow(value, maxDepth)) throw new BadArguments(`${name} is nested too deeply.`);
}

function unknownArguments(unknown: string[], known: string[]): string {
  const names = unknown.map((name) => JSON.stringify(name.slice(0, 60))).join(', ');
  const plural = unknown.length === 1 ? 'argument' : 'arguments';
  const others = known.length === 0 ? 'This tool takes none' : `Known: ${known.join(', ')}`;
  return `Unknown ${plural} ${names}. ${others}.`;
}

/** Half a pair of surrogates is no text: no request can carry it. What is written must not have one at all. */
const wellFormed = (given: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, wellFormedValue(value)]));

function wellFormedValue(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  return Array.isArray(value) ? value.map(wellFormedValue) : value;
}

function repair(value: unknown, schema: JsonSchema): unknown {
  if (value === null) return undefined;
  if (typeof value === 'string') return repairText(value, schema);
  if (typeof value === 'number' && schema.type === 'string') return String(value);
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
      return listFrom(trimmed);
    case 'object':
      return parsed(trimmed) ?? text;
    default:
      return (
        schema.enum?.find((word) => String(word).toLowerCase() === trimmed.toLowerCase()) ?? text
      );
  }
}

function listFrom(text: string): unknown {
  const list = parsed(text);
  if (Array.isArray(list)) return list;
  return text === '' ? undefined : text.split(',').map((part) => part.trim());
}

function parsed(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON after all: the check below says what was wanted.
  }
}

type Issue = z.core.$ZodIssue;

/** One problem, with the range or the choices in it, and what was given. */
function problem(
  issue: Issue,
  given: Record<string, unknown>,
  known: Record<string, JsonSchema>,
): string {
  const name = String(issue.path[0] ?? '');
  if (issue.path.length === 0) return issue.message;
  const schema = known[name] ?? {};
  if (given[name] === undefined) return `${name} is required`;
  const shown = JSON.stringify(given[name])?.slice(0, 80);
  if (issue.code === 'custom') return `${name}: ${issue.message}`;
  return `${name} must be ${wanted(schema, issue)}, not ${shown}`;
}

function wanted(schema: JsonSchema, issue: Issue): string {
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  if (schema.type === 'integer' || schema.type === 'number') return range(schema, issue);
  if (schema.type === 'array') return 'a list of texts';
  if (issue.code === 'too_big') return `a text of at most ${issue.maximum} characters`;
  if (issue.code === 'too_small') return 'a text that is not empty';
  return schema.type === 'boolean' ? 'true or false' : `of type ${schema.type ?? 'any'}`;
}

function range({ type, minimum, maximum }: JsonSchema, issue: Issue): string {
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  if (minimum !== undefined && maximum !== undefined) return `${kind} ${minimum}–${maximum}`;
  if (issue.code === 'too_big') return `${kind} of at most ${issue.maximum}`;
  return minimum === undefined ? kind : `${kind} from ${minimum}`;
}
