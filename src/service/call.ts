/** What the requests of a tool call need of it. */
export interface Call {
  /** Aborts the call's requests and closes their sockets. */
  signal: AbortSignal;
  /** When the call must have ended, in milliseconds since the epoch. */
  deadline: number;
  /**
   * `walk` reads a whole collection, and must not use the reserve of the rate budget. Default: `interactive`, a single
   * request that a person waits for.
   */
  purpose?: 'interactive' | 'walk' | undefined;
  /** Of a walk, once its first page shows it. */
  cost?: WalkCost | undefined;
}

/** What a walk takes, in requests. */
export interface WalkCost {
  pages: number;
  /** Those that were not read yet. */
  left: number;
  /** How long each request may be held back while the budget is low, so that the walk still ends in time. */
  pauseMs: number;
  /** It is of no use to begin if the requests that remain do not suffice for all pages. */
  needsAll?: boolean;
}

/** What a call of a tool leaves to its readings. */
export interface CallContext extends Call {
  /**
   * Reports the progress of a long reading; a host may ignore it.
   * @param place the page, and what the reading costs
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
