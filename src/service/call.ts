/** A trace context, as in the W3C headers of these names. */
export interface Trace {
  traceparent: string;
  tracestate?: string;
}

/** What the requests of a tool call need of it. */
export interface Call {
  /** Aborts the call's requests and closes their sockets. */
  signal: AbortSignal;
  /** When the call must have ended, in milliseconds since the epoch. */
  deadline: number;
  /**
   * `walk` reads a whole collection, and must not use the reserve of the rate budget; `background` does so while no call
   * waits for it, and leaves more. `write` may use what was set aside for a write. Default: `interactive`, a single
   * request that a person waits for.
   */
  purpose?: 'interactive' | 'walk' | 'background' | 'write';
  /** Of a walk, once its first page shows it. */
  cost?: WalkCost | undefined;
  trace?: Trace | undefined;
}

/** What a walk takes, in requests. */
export interface WalkCost {
  pages: number;
  /** Those that were not read yet. */
  left: number;
  /** How long each request may be held back while the budget is low, so that the walk still ends in time. */
  pauseMs: number;
}

/** What a call of a tool leaves to its readings. */
export interface CallContext extends Call {
  /**
   * Reports the progress of a long reading; a host may ignore it.
   * @param place the page, the time that is left, and what the reading costs
   */
  progress(read: number, total: number | undefined, what: string, place?: string): void;
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
  purpose: call.purpose ?? 'interactive',
  trace: call.trace,
});

const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Printable, and no longer than the standard requires to be propagated (W3C Trace Context, 3.3.1.5). */
const statePattern = /^[\x21-\x7e][\x20-\x7e]{0,511}$/;

/** Parses the trace headers. Returns undefined if they are missing or invalid. */
export function traceFrom(headers: Readonly<Record<string, unknown>>): Trace | undefined {
  const traceparent = parentFrom(headers.traceparent);
  if (traceparent === undefined) return undefined;
  const { tracestate } = headers;
  const isState = typeof tracestate === 'string' && statePattern.test(tracestate);
  return isState ? { traceparent, tracestate } : { traceparent };
}

/** Converts any version of `traceparent` to version 00. */
function parentFrom(header: unknown): string | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, spanId, flags = '', more] = parentPattern.exec(header) ?? [];
  if (version === undefined || version === 'ff' || isZero(traceId) || isZero(spanId)) {
    return undefined;
  }
  if (version === '00') return more === undefined ? header : undefined;
  const sampled = Number.parseInt(flags, 16) & 1;
  return `00-${traceId}-${spanId}-0${sampled}`;
}

const isZero = (digits: string | undefined): boolean => /^0*$/.test(digits ?? '');

/** The trace id: 32 hexadecimal digits. */
export const traceIdOf = ({ traceparent }: Trace): string => traceparent.slice(3, 35);
