import type { Consent, Proposal } from '../changes/consent.ts';
import type { Call, Trace } from '../service/call.ts';

export interface ToolCall {
  signal: AbortSignal;
  /** The deadline of the call, in milliseconds since the epoch. */
  deadline: number;
  /** Reports the progress of a long reading; a host may ignore it. */
  progress(read: number, total: number | undefined, what: string): void;
  /** Name and version that the host reports. */
  client: string;
  /** The authenticated caller, if callers are authenticated. */
  caller?: string | undefined;
  trace?: Trace | undefined;
  /** Asks a person to agree to exactly this change. May end the call, which the host then repeats with the answer. */
  consent(proposal: Proposal): Promise<Consent>;
}

/** Time limit of a call; most hosts give up after 60 seconds. */
export const callMs = 45_000;

/** Time that a call reserves for its answer, at most a fifth of the remaining time. */
const answerReserveMs = 2_000;

/** When reading for the call has to end, so that there is time to answer with what was read. */
export const readingDeadline = ({ deadline }: ToolCall): number =>
  deadline - Math.min(answerReserveMs, (deadline - Date.now()) / 5);

/** The API call for many requests. */
export const readingCall = (call: ToolCall): Call => ({
  ...interactiveCall(call),
  deadline: readingDeadline(call),
  purpose: 'walk',
});

/** The API call for a single request that a person waits for. */
export const interactiveCall = (call: ToolCall): Call => ({
  signal: call.signal,
  deadline: call.deadline,
  purpose: 'interactive',
  trace: call.trace,
});
