/** A trace context, as in the W3C headers of these names. */
export interface Trace {
  traceparent: string;
  tracestate?: string;
}

/** The part of a tool call that its requests need. */
export interface Call {
  /** Aborts the call's requests and closes their sockets. */
  signal: AbortSignal;
  /** When the call must have ended, in milliseconds since the epoch. */
  deadline: number;
  /**
   * `walk` reads a whole collection, and must not use the reserve of the rate budget. `write` may use what was set aside
   * for a write.
   */
  purpose: 'interactive' | 'walk' | 'write';
  trace?: Trace | undefined;
}

/** What a call of a tool leaves to its readings. */
export interface CallContext {
  signal: AbortSignal;
  /** The deadline of the call, in milliseconds since the epoch. */
  deadline: number;
  /** Reports the progress of a long reading; a host may ignore it. */
  progress(read: number, total: number | undefined, what: string): void;
  trace?: Trace | undefined;
  /** Its requests may use what was set aside for a write. */
  writes?: boolean;
}

/** Time limit of a call; most hosts give up after 60 seconds. */
export const callMs = 45_000;

/** Time that a call reserves for its answer, at most a fifth of the remaining time. */
const answerReserveMs = 2_000;

/** When reading for the call has to end, so that there is time to answer with what was read. */
export const readingDeadline = ({ deadline }: CallContext): number =>
  deadline - Math.min(answerReserveMs, (deadline - Date.now()) / 5);

/** The API call for a single request that a person waits for. */
export const interactiveCall = (call: CallContext): Call => ({
  signal: call.signal,
  deadline: call.deadline,
  purpose: call.writes ? 'write' : 'interactive',
  trace: call.trace,
});
