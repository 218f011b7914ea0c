import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ToolCall } from '../tenant/call.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { readArguments } from './arguments.ts';
import { toResult } from './results.ts';
import type { Surface } from './surface.ts';
import { explain } from './wording.ts';

/** Most hosts give up after 60 seconds; what is known by then is better than nothing. */
const callMs = 45_000;

export interface CallLog {
  /** An error that is ours: nobody else will ever see its details. */
  failed(tool: string, error: unknown): void;
}

/**
 * One call of a tool: arguments repaired and checked, the tool run, its answer or error put into the
 * protocol's words.
 * @throws ProtocolError for a tool that is not listed; the signal's reason when cancelled
 */
export async function callTool(
  surface: Surface,
  tenant: Tenant,
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  ctx: ServerContext,
  log: CallLog,
): Promise<CallToolResult> {
  const entry = surface.find(params.name);
  if (!entry) throw unknownTool(params.name);
  try {
    const args = readArguments(entry.input, entry.tool.input, params.arguments ?? {});
    return await toResult(await entry.tool.run(tenant, args, toolCall(ctx)));
  } catch (error) {
    ctx.mcpReq.signal.throwIfAborted();
    const text = explain(error);
    if (isUnexpected(error)) log.failed(params.name, error);
    return { content: [{ type: 'text', text }], isError: true };
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

function toolCall(ctx: ServerContext): ToolCall {
  const { signal, _meta } = ctx.mcpReq;
  const token = _meta?.progressToken;
  const progress = token === undefined ? () => {} : progressOf(ctx, token);
  return { signal, deadline: Date.now() + callMs, progress };
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
