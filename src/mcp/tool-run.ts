import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ToolCall } from '../tenant/call.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { readArguments } from './arguments.ts';
import { toResult } from './results.ts';
import type { Entry, Surface } from './surface.ts';
import { explain } from './wording.ts';

/** Most hosts give up after 60 seconds; what is known by then is better than nothing. */
export const callMs = 45_000;

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
 * Runs a tool: arguments repaired and checked, its answer put into the protocol's words. `callOf` makes
 * the call of the checked arguments.
 * @throws whatever the tool throws, for `failure` to word
 */
export async function runTool(
  entry: Entry,
  tenant: Tenant,
  given: Record<string, unknown> | undefined,
  callOf: (args: Record<string, unknown>) => ToolCall,
): Promise<CallToolResult> {
  const tool = await entry.tool();
  const args = readArguments(entry.input, tool.input, given ?? {});
  return toResult(await tool.run(tenant, args, callOf(args)));
}

/** An error as a tool's result, in words for the assistant; one that is ours is logged. */
export function failure(name: string, error: unknown, log: CallLog): CallToolResult {
  if (isUnexpected(error)) log.failed(name, error);
  return { content: [{ type: 'text', text: explain(error) }], isError: true };
}

const isUnexpected = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error.constructor === Error ||
  error instanceof TypeError ||
  error instanceof RangeError;

/** Several collections may be read for one call: their counts are added up, so that progress only grows. */
export function progressTo(
  tell: (params: Record<string, unknown>) => void,
  progressToken: string | number,
): ToolCall['progress'] {
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
    tell({
      progressToken,
      progress,
      message: `Reading ${what.replaceAll('_', ' ')} records: ${read}${total === undefined ? '' : ` of ${total}`}`,
      ...(counted ? { total: Math.max(whole, progress) } : {}),
    });
  };
}
