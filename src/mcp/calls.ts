import type {
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ToolCall } from '../tenant/call.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { readArguments } from './arguments.ts';
import { AskPerson, consentTo } from './consent.ts';
import { hostOf } from './host.ts';
import { toResult } from './results.ts';
import type { Surface } from './surface.ts';
import { explain } from './wording.ts';

/** Most hosts give up after 60 seconds; what is known by then is better than nothing. */
const callMs = 45_000;

export interface CallLog {
  /** An error that is ours: nobody else will ever see its details. */
  failed(tool: string, error: unknown): void;
}

/** What serving a tenant's calls needs. */
export interface CallParts {
  surface: Surface;
  tenant: Tenant;
  log: CallLog;
  /** Whether a token may stand in where a host cannot ask a person. */
  allowTokens: boolean;
}

/**
 * One call of a tool: arguments repaired and checked, the tool run, its answer or error put into the
 * protocol's words. A tool that must ask a person ends here with the question, and is called again with
 * the answer.
 * @throws ProtocolError for a tool that is not listed; the signal's reason when cancelled
 */
export async function callTool(
  parts: CallParts,
  server: Server,
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const entry = parts.surface.find(params.name);
  if (!entry) throw unknownTool(params.name);
  try {
    const args = readArguments(entry.input, entry.tool.input, params.arguments ?? {});
    const call = toolCall(parts, server, ctx, args.confirm);
    return await toResult(await entry.tool.run(parts.tenant, args, call));
  } catch (error) {
    if (error instanceof AskPerson) return error.result;
    ctx.mcpReq.signal.throwIfAborted();
    if (isUnexpected(error)) parts.log.failed(params.name, error);
    return { content: [{ type: 'text', text: explain(error) }], isError: true };
  }
}

const unknownTool = (name: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown tool ${JSON.stringify(name.slice(0, 80))}`,
  );

const isUnexpected = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error.constructor === Error ||
  error instanceof TypeError ||
  error instanceof RangeError;

/** What a call may use of the protocol: its end, its time, progress, and a person to ask. */
export function toolCall(
  { tenant, allowTokens }: CallParts,
  server: Server,
  ctx: ServerContext,
  confirm: unknown,
): ToolCall {
  const { signal, _meta } = ctx.mcpReq;
  const host = hostOf(server, ctx);
  const token = _meta?.progressToken;
  const consent = { state: tenant.state, host: tenant.host, allowTokens };
  return {
    signal,
    deadline: Date.now() + callMs,
    progress: token === undefined ? () => {} : progressOf(ctx, token),
    client: host.name,
    consent: (proposal) => consentTo(proposal, consent, host, ctx, confirm),
  };
}

/** Several collections may be read for one call: their counts are added up, so that progress only grows. */
function progressOf(ctx: ServerContext, progressToken: string | number): ToolCall['progress'] {
  const reads = new Map<string, { read: number; total: number | undefined }>();
  let told = 0;
  return (read, total, what) => {
    reads.set(what, { read, total });
    const all = [...reads.values()];
    const progress = all.reduce((sum, one) => sum + one.read, 0);
    if (progress <= told) return;
    told = progress;
    const counted = all.every((one) => one.total !== undefined);
    const whole = all.reduce((sum, one) => sum + (one.total ?? 0), 0);
    const params = {
      progressToken,
      progress,
      message: `Reading ${what.replaceAll('_', ' ')} records: ${read}${total === undefined ? '' : ` of ${total}`}`,
      ...(counted ? { total: Math.max(whole, progress) } : {}),
    };
    // A host that went away does not want to hear it; its call is cancelled by other means.
    ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}
