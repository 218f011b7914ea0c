import type {
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import { isApiError } from '../api/errors.ts';
import { type Trace, traceFrom } from '../api/trace.ts';
import type { ToolCall } from '../tenant/call.ts';
import { ChangeRefused } from '../tenant/changes/refusal.ts';
import type { Wording } from '../text/untrusted-text.ts';
import { requestConsent } from './consent.ts';
import { ElicitationRequired } from './elicitation-required.ts';
import { clientHost } from './host.ts';
import { InvalidParams } from './invalid-params.ts';
import { unknownTool } from './observer.ts';
import { type CallParts, callMs, errorResult, progressReporter, runTool } from './tool-run.ts';

export type { CallParts };

/**
 * One call of a tool: arguments repaired and checked, the tool run, its answer or error put into the
 * protocol's words. A tool that must ask a person ends here with the question, and is called again with
 * the answer.
 * @throws InvalidParams for a tool that is not listed; the signal's reason when cancelled
 */
export async function callTool(
  parts: CallParts,
  server: Server,
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const entry = parts.surface.find(params.name);
  const { signal } = ctx.mcpReq;
  const asked = { given: params.arguments, signal, trace: traceOf(ctx) };
  if (!entry) {
    parts.observer?.onCall(unknownTool, asked.trace).end('refused');
    throw new InvalidParams(`Unknown tool ${JSON.stringify(params.name.slice(0, 80))}`);
  }
  try {
    return await runTool(entry, parts, asked, ({ confirm }, trace) =>
      toolCall(parts, server, ctx, { confirm, trace }),
    );
  } catch (error) {
    if (error instanceof ElicitationRequired) return error.result;
    signal.throwIfAborted();
    const failed = errorResult(params.name, error, parts);
    return entry.definition.annotations?.readOnlyHint ? failed : withNothingWritten(failed, error);
  }
}

/** What is sent once always ends in an outcome, so that these errors all come from before. */
function withNothingWritten(failed: CallToolResult, error: unknown): CallToolResult {
  if (!(isApiError(error) || error instanceof ChangeRefused)) return failed;
  return { ...failed, content: [{ type: 'text', text: `Nothing was written. ${textOf(failed)}` }] };
}

const textOf = ({ content: [part] }: CallToolResult): string =>
  part?.type === 'text' ? part.text : '';

/** What a call may use of the protocol: its end, its time, progress, and a person to ask. */
export function toolCall(
  { tenant, allowTokens, nameOf }: CallParts,
  server: Server,
  ctx: ServerContext,
  { confirm, trace }: { confirm?: unknown; trace: Trace | undefined } = { trace: traceOf(ctx) },
): ToolCall {
  const { signal, _meta } = ctx.mcpReq;
  const host = clientHost(server, ctx);
  const token = _meta?.progressToken;
  const consent = {
    state: tenant.state,
    host: tenant.host,
    allowTokens,
    nameOf,
    withoutKey: (text: Wording) => tenant.client.withoutKey(text),
  };
  return {
    signal,
    deadline: Date.now() + callMs,
    progress: token === undefined ? () => {} : progressReporter(progressNotifier(ctx), token),
    client: host.name,
    caller: ctx.http?.authInfo?.clientId,
    trace,
    consent: (proposal) => requestConsent(proposal, consent, host, ctx, confirm),
  };
}

/** As the message itself says, and else the request that carried it. */
function traceOf({ mcpReq, http }: ServerContext): Trace | undefined {
  const { headers } = http?.req ?? {};
  const fromHeaders = headers && {
    traceparent: headers.get('traceparent'),
    tracestate: headers.get('tracestate'),
  };
  return traceFrom(mcpReq._meta ?? {}) ?? traceFrom(fromHeaders ?? {});
}

/** A host that went away does not want to hear it; its call is cancelled by other means. */
const progressNotifier =
  ({ mcpReq }: ServerContext) =>
  (params: Record<string, unknown>): void => {
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
