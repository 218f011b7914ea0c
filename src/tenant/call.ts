import type { Call } from '../api/call.ts';
import type { Trace } from '../api/trace.ts';
import type { Consent, Proposal } from './changes/consent.ts';

/** One call of a tool. */
export interface ToolCall {
  signal: AbortSignal;
  /** When it must have answered, in milliseconds since the epoch. */
  deadline: number;
  /** Tells a waiting person how far a long reading is; a host may ignore it. */
  progress(read: number, total: number | undefined, what: string): void;
  /** Name and version of the host, as it says. */
  client: string;
  /** Who this server took the caller for, where it asks who calls. */
  caller?: string | undefined;
  /** The trace that what is asked of the service for it belongs to. */
  trace?: Trace | undefined;
  /** Asks the person to agree to exactly this; may end the call, which then comes back with the answer. */
  consent(proposal: Proposal): Promise<Consent>;
}

/** The same call, for one thing that a person waits for. */
export const interactiveCall = (call: ToolCall): Call => ({
  signal: call.signal,
  deadline: call.deadline,
  purpose: 'interactive',
  trace: call.trace,
});
