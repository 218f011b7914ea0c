import type { Call } from '../api/call.ts';

/** One call of a tool. */
export interface ToolCall {
  signal: AbortSignal;
  /** When it must have answered, in milliseconds since the epoch. */
  deadline: number;
  /** Tells a waiting person how far a long reading is; a host may ignore it. */
  progress(read: number, total: number | undefined, what: string): void;
}

/** The same call, for one thing that a person waits for. */
export const interactive = (call: ToolCall): Call => ({
  signal: call.signal,
  deadline: call.deadline,
  purpose: 'interactive',
});
