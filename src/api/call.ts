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
  /** `walk` reads a whole collection, and must not use the reserve of the rate budget. */
  purpose: 'interactive' | 'walk';
  trace?: Trace | undefined;
}
