import type { Trace } from './trace.ts';

/** One call of a tool, as far as the wire is concerned. */
export interface Call {
  /** Ends the call's requests, sockets included. */
  signal: AbortSignal;
  /** When the call must have ended, in milliseconds since the epoch. */
  deadline: number;
  /** `walk` leaves the reserve of the rate budget to people who ask for one thing. */
  purpose: 'interactive' | 'walk';
  /** The trace that its requests belong to. */
  trace?: Trace | undefined;
}
