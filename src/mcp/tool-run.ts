import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import type { ChangeCall, ConsentSetting, Question } from '../changes/consent.ts';
import { ChangeRefused } from '../changes/refusal.ts';
import { callMs } from '../service/call.ts';
import { isApiError } from '../service/errors.ts';
import type { NameOf } from '../setting-names.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { hasSecret, withoutSecrets } from '../text/secrets.ts';
import { identifier, join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import type { Answer } from '../tool-kit/define-tool.ts';
import { isShallow, parseJson } from '../values.ts';
import { madeUpNote } from '../views/made-up-note.ts';
import type { JsonSchema } from './listing.ts';
import { type CallObserver, callOutcomeOf, isKnown } from './observer.ts';
import { textOf, toResult } from './results.ts';
import { loadTool, type ServerDescription, type SurfaceEntry } from './surface.ts';
import { describeError } from './wording.ts';

/** Key in `_meta` of a result, of what the view of a question needs. */
const consentMetaKey = 'cpq-mcp/consent';

export interface CallParts extends ServerDescription {
  tenant: Tenant;
  /** Logs a fault of this server; its details are not sent to the host. */
  log: { failed(tool: string, error: unknown): void };
  observer?: CallObserver | undefined;
  /** Names settings to the operator in error messages. */
  nameOf: NameOf;
  consent: ConsentSetting;
}

/**
 * Validates the arguments, runs the tool, and converts its answer or error to a result.
 * @param ask for tools that may write: has the host ask a person
 * @throws the signal's reason when the call was cancelled
 */
export async function runTool<Asked = never>(
  entry: SurfaceEntry,
  parts: CallParts,
  { given, signal }: { given: Record<string, unknown> | undefined; signal: AbortSignal },
  createCall: (args: Record<string, unknown>) => ChangeCall,
  ask?: (question: Question) => Promise<Asked>,
): Promise<CallToolResult | Asked> {
  const { surface, tenant, observer, isMadeUp } = parts;
  const onEnd = observer?.onCall(entry.definition.name);
  try {
    entry.tool ??= loadTool(entry.definition.name);
    const tool = await entry.tool;
    const { inputSchema } = entry.definition;
    const args = parseArguments(inputSchema, tool.input, given ?? {}, surface.list);
    const call = createCall(args);
    const answer = await tool.run(tenant, args, call);
    if (answer.question?.how === 'asked' && ask) {
      onEnd?.('asked');
      return ask(answer.question);
    }
    const marked = isMadeUp && tool.toolset === 'briefs' ? withMadeUpNote(answer) : answer;
    const written = await toResult(marked);
    // The text and the structured content have the same facts, and the text is searched at once.
    const result = hasSecret(textOf(written)) ? withoutSecrets(written) : written;
    onEnd?.(answer.question ? 'asked' : result.isError ? 'error' : 'ok');
    const forView = answer.question?.forView;
    return forView ? { ...result, _meta: { [consentMetaKey]: forView } } : result;
  } catch (error) {
    onEnd?.(signal.aborted ? 'cancelled' : callOutcomeOf(error));
    signal.throwIfAborted();
    return errorResult(entry.definition, error, parts);
  }
}

/** Figures of invented records say so, in the text and in the views: they could be taken for a tenant's. */
function withMadeUpNote(answer: Answer): Answer {
  const { rows, notes = [] } = answer;
  const marked = { ...answer, notes: [wording`${madeUpNote}`, ...notes] };
  if (!rows) return marked;
  return { ...marked, rows: { ...rows, keep: (count) => withMadeUpNote(rows.keep(count)) } };
}

/** Converts an error to a tool result worded for the assistant; logs faults of this server. */
function errorResult(
  { name, annotations }: ListedTool,
  error: unknown,
  { log, nameOf, tenant }: CallParts,
): CallToolResult {
  if (!isKnown(error)) log.failed(name, error);
  const words = withoutSecrets(describeError(error, nameOf, tenant.heldSince()));
  // A sent write always has an outcome, so an error of these kinds means that nothing was sent.
  const isUnsent = isApiError(error) || error instanceof ChangeRefused;
  const text = isUnsent && !annotations?.readOnlyHint ? `Nothing was written. ${words}` : words;
  return { content: [{ type: 'text', text }], isError: true };
}

/**
 * The context of a call that does not write.
 * @param notify sends the parameters of a progress notification
 * @param token of these notifications, if the host wants them
 */
export const readingCall = (
  signal: AbortSignal,
  notify: (params: Record<string, unknown>) => void,
  token: string | number | undefined,
): ChangeCall => ({
  signal,
  deadline: Date.now() + callMs,
  progress: token === undefined ? () => {} : progressReporter(notify, token),
  client: '', // Only the journal of changes has it.
  consent: () => Promise.reject(new Error('not a call that may write')),
});

/** Adds up the progress of all collections that a call reads, so that it only increases. */
function progressReporter(
  notify: (params: Record<string, unknown>) => void,
  progressToken: string | number,
): ChangeCall['progress'] {
  const reads = new Map<string, { read: number; total: number | undefined }>();
  let reported = 0;
  return (read, total, what, place = '') => {
    reads.set(what, { read, total });
    const all = [...reads.values()];
    const progress = all.reduce((sum, one) => sum + one.read, 0);
    if (progress <= reported) return;
    reported = progress;
    const counted = all.every((one) => one.total !== undefined);
    const whole = all.reduce((sum, one) => sum + (one.total ?? 0), 0);
    notify({
      progressToken,
      progress,
      message: `Reading ${what.replaceAll('_', ' ')} records: ${read}${total === undefined ? '' : ` of ${total}`}${place && `, ${place}`}`,
      ...(counted ? { total: Math.max(whole, progress) } : {}),
    });
  };
}

/** Maximum nesting depth of an argument; deeper ones could overflow the stack. */
const maxDepth = 32;
/** Maximum entries of a list, and of an object. */
const maxEntries = 100;

/** Repairs common mistakes of models, such as numbers as strings, then validates. @throws InvalidArguments */
export function parseArguments(
  { properties: known = {} }: JsonSchema,
  check: z.ZodObject,
  given: Record<string, unknown>,
  tools: readonly ListedTool[] = [],
): Record<string, unknown> {
  const unknown: string[] = [];
  for (const name in given) if (!Object.hasOwn(known, name)) unknown.push(name);
  if (unknown.length > 0)
    throw new InvalidArguments(unknownArguments(unknown, Object.keys(known), tools));
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
  // Each wrong entry of a list gives the same sentence.
  const message = join([...new Set(problems)], '; ');
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

/** Of the other tools, one that alone takes such arguments is named. */
function unknownArguments(
  unknown: string[],
  known: string[],
  tools: readonly ListedTool[],
): Wording {
  const takes = ({ inputSchema: { properties = {} } }: ListedTool): boolean =>
    unknown.every((name) => Object.hasOwn(properties, name));
  const [taker, ...more] = tools.filter(takes);
  const hint =
    taker && more.length === 0
      ? wording` ${trusted(taker.name)} takes ${unknown.length === 1 ? 'it' : 'them'}.`
      : '';
  const names = unknown.slice(0, maxNamed).map((name) => quote(name, 60));
  const plural = unknown.length === 1 ? 'argument' : 'arguments';
  const rest = unknown.length > maxNamed ? wording` and ${unknown.length - maxNamed} more` : '';
  const others = wording`Known: ${trusted(known.join(', '))}`;
  return wording`Unknown ${plural} ${join(names, ', ')}${rest}.${hint} ${known.length === 0 ? 'This tool takes none' : others}.`;
}

/**
 * Replaces lone surrogates, which cannot be encoded in UTF-8, once a tool that refuses them has seen them; an entry that a
 * list repeats is in it once.
 */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  return Array.isArray(value) ? [...new Set(value.map(wellFormed))] : value;
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
  if (issue.code === 'custom') return wording`${name}: ${trusted(issue.message)}`;
  const schema = known[property] ?? {};
  const expected = trusted(expectedValue(schema, issue));
  if (given[property] === undefined)
    return schema.items?.enum
      ? wording`${name} is required: ${expected}`
      : wording`${name} is required`;
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

function expectedValue({ type, items, ...schema }: JsonSchema, issue: Issue): string {
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  if (type === 'array') return `a list of ${items?.enum?.join(', ') ?? 'strings'}`;
  if (type === 'boolean') return 'true or false';
  // Some limits are not in the schema that hosts get.
  const least = issue.code === 'too_small' ? Number(issue.minimum) : schema.minimum;
  const most = issue.code === 'too_big' ? Number(issue.maximum) : schema.maximum;
  if (type === 'integer') return `a whole number${rangeWords(least, most)}`;
  if (type === 'number') return `a number${rangeWords(least, most)}`;
  if (most !== undefined) return `a string of at most ${most} characters`;
  return least === undefined ? `of type ${type ?? 'any'}` : 'a non-empty string';
}

function rangeWords(least: number | undefined, most: number | undefined): string {
  if (least === undefined) return most === undefined ? '' : ` of at most ${most}`;
  return most === undefined ? ` from ${least}` : ` ${least}–${most}`;
}
