import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ChangeCall } from '../changes/consent.ts';
import { ChangeRefused } from '../changes/refusal.ts';
import { callMs, type Trace, traceFrom } from '../service/call.ts';
import { isApiError } from '../service/errors.ts';
import { visible } from '../text/characters.ts';
import { elicitConsent, requestConsent } from './consent.ts';
import { modernRevision } from './identity.ts';
import { InvalidParams } from './invalid-params.ts';
import { unknownTool } from './observer.ts';
import { textOf } from './results.ts';
import { type CallParts, errorResult, progressReporter, runTool } from './tool-run.ts';

/**
 * Handles `tools/call`: repairs and validates the arguments, runs the tool, and converts its answer or error
 * to a result. If a person must be asked, the result is the question, and the host repeats the call with the
 * answer.
 * @throws InvalidParams for a tool that is not listed; the signal's reason when cancelled
 */
export async function callTool(
  parts: CallParts,
  server: Server,
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const entry = parts.surface.byName.get(params.name);
  const { signal } = ctx.mcpReq;
  const asked = { given: params.arguments, signal, trace: traceOf(ctx) };
  if (!entry) {
    parts.observer?.onCall(unknownTool, asked.trace)('refused');
    throw new InvalidParams(`Unknown tool ${JSON.stringify(params.name.slice(0, 80))}`);
  }
  try {
    const createCall = ({ confirm }: Record<string, unknown>) =>
      toolCall(parts, server, ctx, confirm);
    return await runTool(entry, parts, asked, createCall, elicitConsent);
  } catch (error) {
    signal.throwIfAborted();
    const failed = errorResult(params.name, error, parts);
    return entry.definition.annotations?.readOnlyHint ? failed : withNothingWritten(failed, error);
  }
}

/** A sent write always has an outcome, so an error of these kinds means that nothing was sent. */
function withNothingWritten(failed: CallToolResult, error: unknown): CallToolResult {
  if (!(isApiError(error) || error instanceof ChangeRefused)) return failed;
  return { ...failed, content: [{ type: 'text', text: `Nothing was written. ${textOf(failed)}` }] };
}

/** The context of a call: cancellation, deadline, progress and consent. */
export function toolCall(
  { tenant, allowTokens, nameOf }: CallParts,
  server: Server,
  ctx: ServerContext,
  confirm?: unknown,
): ChangeCall {
  const { signal, _meta } = ctx.mcpReq;
  const host = clientHost(server, ctx);
  const token = _meta?.progressToken;
  const consent = {
    state: tenant.writes.tokens,
    host: tenant.host,
    allowTokens,
    nameOf,
  };
  return {
    signal,
    deadline: Date.now() + callMs,
    progress: token === undefined ? () => {} : progressReporter(progressNotifier(ctx), token),
    client: host.name,
    caller: ctx.http?.authInfo?.clientId,
    trace: traceOf(ctx),
    answered: ctx.mcpReq.requestState() !== undefined || confirm !== undefined,
    consent: (proposal) => requestConsent(proposal, consent, host.canAsk, ctx, confirm),
  };
}

/** Trace context from the message's `_meta`, or from the HTTP headers. */
function traceOf({ mcpReq, http }: ServerContext): Trace | undefined {
  const { headers } = http?.req ?? {};
  const fromHeaders = headers && {
    traceparent: headers.get('traceparent'),
    tracestate: headers.get('tracestate'),
  };
  return traceFrom(mcpReq._meta ?? {}) ?? traceFrom(fromHeaders ?? {});
}

/** Ignores send errors: a disconnected host's calls are cancelled elsewhere. */
const progressNotifier =
  ({ mcpReq }: ServerContext) =>
  (params: Record<string, unknown>): void => {
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };

interface Envelope {
  [CLIENT_INFO_META_KEY]?: Implementation;
  [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/**
 * Name and version of the client program, and whether it can ask a person.
 * In the modern era every request describes its client; in the legacy era only the first message of a
 * connection does, and stateless HTTP requests have no description.
 */
function clientHost(server: Server, { mcpReq }: ServerContext) {
  const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= modernRevision;
  // Already validated by the SDK, whose type lacks the key names.
  const envelope = isModern ? (mcpReq.envelope as Envelope | undefined) : undefined;
  const info = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const capabilities = isModern
    ? envelope?.[CLIENT_CAPABILITIES_META_KEY]
    : server.getClientCapabilities();
  const elicitation = capabilities?.elicitation;
  return {
    name: info ? visible(`${info.name} ${info.version}`).slice(0, 120) : 'unknown host',
    // Form elicitation; older hosts declare it by an empty object.
    canAsk:
      elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0),
  };
}
