import type {
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { ChangeCall, Question } from '../changes/consent.ts';
import { ChangeRefused } from '../changes/refusal.ts';
import { callMs, type Trace, traceFrom } from '../service/call.ts';
import { isApiError } from '../service/errors.ts';
import { isObject } from '../values.ts';
import type { HostClient } from './client.ts';
import {
  type AskingCall,
  askHost,
  createQuestion,
  elicitConsent,
  type FormAnswer,
  requestConsent,
} from './consent.ts';
import { InvalidParams } from './invalid-params.ts';
import { unknownTool } from './observer.ts';
import { textOf } from './results.ts';
import { clientOfRequest, isModern } from './session.ts';
import { isForView } from './surface.ts';
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
  const client = await clientOfRequest(parts.tenant.writes.tokens, server, ctx);
  try {
    const run = async (formAnswer?: FormAnswer): Promise<CallToolResult | InputRequiredResult> => {
      const createCall = (args: Record<string, unknown>) => {
        const asking = { tool: params.name, args, client, ctx, formAnswer };
        return changeCall(parts, isForView(entry.definition) ? answeredCall(asking) : asking);
      };
      const result = await runTool(entry, parts, asked, createCall, (question) => ({ question }));
      if (!isQuestion(result)) return result;
      if (isModern(server)) return elicitConsent(result.question);
      return run(await askHost(result.question, { server, ctx, updates: parts.tenant.updates }));
    };
    return await run();
  } catch (error) {
    signal.throwIfAborted();
    const failed = errorResult(params.name, error, parts);
    return entry.definition.annotations?.readOnlyHint ? failed : withNothingWritten(failed, error);
  }
}

const isQuestion = (
  result: CallToolResult | { question: Question },
): result is { question: Question } => 'question' in result;

/** A sent write always has an outcome, so an error of these kinds means that nothing was sent. */
function withNothingWritten(failed: CallToolResult, error: unknown): CallToolResult {
  if (!(isApiError(error) || error instanceof ChangeRefused)) return failed;
  return { ...failed, content: [{ type: 'text', text: `Nothing was written. ${textOf(failed)}` }] };
}

/** The call that a person answered in a view, by what the view sent. */
function answeredCall(call: AskingCall): AskingCall {
  const { secret, tool, arguments: args, answer } = call.args;
  const chosen = { secret: String(secret), isAgreed: answer === 'write' };
  return { ...call, tool: String(tool), args: isObject(args) ? args : {}, chosen };
}

/** The context of a call that may write. */
function changeCall(parts: CallParts, asking: AskingCall): ChangeCall {
  const { tenant, consent: allowed, nameOf } = parts;
  const { client, ctx, args, chosen, formAnswer } = asking;
  const consent = { state: tenant.writes.tokens, host: tenant.host, allowed, nameOf };
  const isAnswered = ctx.mcpReq.requestState() !== undefined || args.confirm !== undefined;
  return {
    ...toolCall(ctx, client),
    answered: isAnswered || chosen !== undefined || formAnswer !== undefined,
    consent: (proposal) => requestConsent(proposal, consent, asking),
    ...(chosen && {
      askAgain: (proposal) => createQuestion('view', proposal, consent, asking),
    }),
  };
}

/** The context of a call: cancellation, deadline and progress. */
export function toolCall(ctx: ServerContext, client?: HostClient): ChangeCall {
  const { signal, _meta } = ctx.mcpReq;
  const token = _meta?.progressToken;
  return {
    signal,
    deadline: Date.now() + callMs,
    progress: token === undefined ? () => {} : progressReporter(progressNotifier(ctx), token),
    client: client?.name ?? '', // Only the journal of changes has it.
    caller: ctx.http?.authInfo?.clientId,
    trace: traceOf(ctx),
    consent: () => Promise.reject(new Error('not a call that may write')),
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
