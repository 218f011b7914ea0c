import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ChangeCall, Question } from '../changes/consent.ts';
import type { Trace } from '../service/call.ts';
import type { NameOf } from '../setting-names.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { hasSecret, withoutSecrets } from '../text/secrets.ts';
import { wording } from '../text/untrusted-text.ts';
import type { Answer } from '../tool-kit/define-tool.ts';
import { madeUpNote } from '../views/made-up-note.ts';
import { parseArguments } from './arguments.ts';
import type { ConsentSetting } from './consent.ts';
import { type CallObserver, callOutcomeOf, isUnexpected } from './observer.ts';
import { textOf, toResult } from './results.ts';
import { loadTool, type Surface, type SurfaceEntry } from './surface.ts';
import { describeError } from './wording.ts';

/** Key in `_meta` of a result, of what the view of a question needs. */
const consentMetaKey = 'cpq-mcp/consent';

interface CallLog {
  /** Logs a fault of this server; its details are not sent to the host. */
  failed(tool: string, error: unknown): void;
}

/** Everything needed to serve a tenant's calls. */
export interface CallParts {
  surface: Surface;
  tenant: Tenant;
  log: CallLog;
  observer?: CallObserver | undefined;
  /** Names settings to the operator in error messages. */
  nameOf: NameOf;
  /** How a person may agree to a write. */
  consent: ConsentSetting;
  /** The tenant is the embedded one, whose records are invented. */
  isMadeUp?: boolean;
}

export interface IncomingCall {
  given: Record<string, unknown> | undefined;
  signal: AbortSignal;
  /** Incoming trace context. */
  trace: Trace | undefined;
}

/**
 * Validates the arguments, runs the tool, and converts its answer to a result. `createCall` makes the call
 * context from the validated arguments.
 * @param ask makes the result in which the host asks a person, for tools that may write
 * @throws what the tool throws; `errorResult` words it
 */
export async function runTool<Asked = never>(
  entry: SurfaceEntry,
  { tenant, observer, isMadeUp }: CallParts,
  { given, signal, trace }: IncomingCall,
  createCall: (args: Record<string, unknown>) => ChangeCall,
  ask?: (question: Question) => Asked,
): Promise<CallToolResult | Asked> {
  const onEnd = observer?.onCall(entry.definition.name, trace);
  try {
    entry.tool ??= loadTool(entry.definition.name);
    const tool = await entry.tool;
    const args = parseArguments(entry.input, tool.input, given ?? {});
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
    throw error;
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
export function errorResult(
  name: string,
  error: unknown,
  { log, nameOf, tenant }: Pick<CallParts, 'log' | 'nameOf' | 'tenant'>,
): CallToolResult {
  if (isUnexpected(error)) log.failed(name, error);
  const text = withoutSecrets(describeError(error, nameOf, tenant.heldSince()));
  return { content: [{ type: 'text', text }], isError: true };
}

/** Adds up the progress of all collections that a call reads, so that it only increases. */
export function progressReporter(
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
