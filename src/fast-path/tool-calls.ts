import type { Trace } from '../api/call.ts';
import { type CallParts, errorResult, progressReporter, runTool } from '../mcp/tool-run.ts';
import { callMs, type ToolCall } from '../tenant/call.ts';
import { visible } from '../text/characters.ts';
import { traceFrom } from '../traffic/trace.ts';
import type { JsonObject } from '../values.ts';
import type { ClientInfo, FastRequest } from './requests.ts';

/** The context of a request. */
export interface CallContext {
  signal: AbortSignal;
  /** The client, if the request does not name it. */
  client?: ClientInfo | undefined;
  /** Trace context, if the request contains none. */
  trace?: Trace | undefined;
  /** Sends a notification ahead of the answer. */
  notify(method: string, params: JsonObject): void;
}

type Called = { name: string; arguments?: JsonObject; _meta?: JsonObject };

/**
 * The result of a `tools/call` request; errors are results too.
 * @throws the signal's reason when the call was cancelled
 */
export async function callTool(
  request: FastRequest,
  context: CallContext,
  parts: CallParts,
): Promise<object> {
  const { name, arguments: given, _meta = {} } = request.params as Called;
  const entry = parts.surface.find(name);
  if (!entry) throw new Error(`not handled by the fast path: ${name}`);
  const { signal } = context;
  const asked = { given, signal, trace: traceFrom(_meta) ?? context.trace };
  const call = (_: unknown, trace: Trace | undefined) => toToolCall(request, context, trace);
  try {
    return await runTool(entry, parts, asked, call);
  } catch (error) {
    signal.throwIfAborted();
    return errorResult(name, error, parts);
  }
}

function toToolCall(
  { client, progressToken }: FastRequest,
  { signal, notify, ...connection }: CallContext,
  trace: Trace | undefined,
): ToolCall {
  const asking = client ?? connection.client;
  const send = (params: JsonObject) => notify('notifications/progress', params);
  return {
    signal,
    deadline: Date.now() + callMs,
    progress: progressToken === undefined ? () => {} : progressReporter(send, progressToken),
    client: asking ? visible(`${asking.name} ${asking.version}`).slice(0, 120) : 'unknown host',
    trace,
    consent: () => Promise.reject(new Error('a read-only tool requested consent to a write')),
  };
}
