import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Trace } from '../api/trace.ts';
import type { NameOf } from '../setting-names.ts';
import type { ToolCall } from '../tenant/call.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { parseArguments } from './arguments.ts';
import { type CallObserver, callOutcomeOf, isUnexpected } from './observer.ts';
import { toResult } from './results.ts';
import type { Surface, SurfaceEntry } from './surface.ts';
import { describeError } from './wording.ts';

/** Most hosts give up after 60 seconds; what is known by then is better than nothing. */
export const callMs = 45_000;

interface CallLog {
  /** An error that is ours: nobody else will ever see its details. */
  failed(tool: string, error: unknown): void;
}

/** What serving a tenant's calls needs. */
export interface CallParts {
  surface: Surface;
  tenant: Tenant;
  log: CallLog;
  /** Is told of every call. */
  observer?: CallObserver | undefined;
  /** Names settings to the operator in error messages. */
  nameOf: NameOf;
  /** Whether a token may stand in where a host cannot ask a person. */
  allowTokens: boolean;
}

/** A call as it came in. */
export interface IncomingCall {
  given: Record<string, unknown> | undefined;
  signal: AbortSignal;
  /** The trace that it came with. */
  trace: Trace | undefined;
}

/**
 * Runs a tool: arguments repaired and checked, its answer put into the protocol's words. `toToolCall` makes
 * the call of the checked arguments, at its place in the trace.
 * @throws whatever the tool throws, for `failure` to word
 */
export async function runTool(
  entry: SurfaceEntry,
  { tenant, observer }: CallParts,
  { given, signal, trace }: IncomingCall,
  createCall: (args: Record<string, unknown>, trace: Trace | undefined) => ToolCall,
): Promise<CallToolResult> {
  const observation = observer?.onCall(entry.definition.name, trace);
  try {
    const tool = await entry.tool();
    const args = parseArguments(entry.input, tool.input, given ?? {});
    const call = createCall(args, observation?.trace ?? trace);
    const result = withoutKey(tenant, await toResult(await tool.run(tenant, args, call)));
    observation?.end(result.isError ? 'error' : 'ok');
    return result;
  } catch (error) {
    observation?.end(signal.aborted ? 'cancelled' : callOutcomeOf(error));
    throw error;
  }
}

/** An error as a tool's result, in words for the assistant; one that is ours is logged. */
export function errorResult(
  name: string,
  error: unknown,
  { log, tenant, nameOf }: Pick<CallParts, 'log' | 'tenant' | 'nameOf'>,
): CallToolResult {
  if (isUnexpected(error)) log.failed(name, error);
  const text = tenant.client.withoutKey(describeError(error, nameOf));
  return { content: [{ type: 'text', text }], isError: true };
}

/**
 * Looked for in what leaves, since a key may only come together there: when what cannot be seen, or markup,
 * was taken out between its letters. Both forms of an answer hold the same.
 */
function withoutKey({ client }: Tenant, result: CallToolResult): CallToolResult {
  const [part] = result.content;
  return part?.type === 'text' && client.withoutKey(part.text) !== part.text
    ? client.withoutKey(result)
    : result;
}

/** Several collections may be read for one call: their counts are added up, so that progress only grows. */
export function progressReporter(
  notify: (params: Record<string, unknown>) => void,
  progressToken: string | number,
): ToolCall['progress'] {
  const reads = new Map<string, { read: number; total: number | undefined }>();
  let reported = 0;
  return (read, total, what) => {
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
      message: `Reading ${what.replaceAll('_', ' ')} records: ${read}${total === undefined ? '' : ` of ${total}`}`,
      ...(counted ? { total: Math.max(whole, progress) } : {}),
    });
  };
}
