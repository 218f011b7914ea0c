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
  /** Held while a request of this call is in flight, where their number is limited. */
  slot?: RequestSlot | undefined;
}

/** Permission for one request at a time to be in flight. */
export interface RequestSlot {
  /** Resolves when the slot is held. No effect if it is held already. */
  acquire(): Promise<void>;
  /** The response has arrived, or no request follows. No effect if the slot is not held. */
  release(): void;
}
