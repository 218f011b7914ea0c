import type { StatePair } from '../history/compare.ts';
import { toIsoSeconds } from './answers.ts';

/** When the two compared states were taken. */
export function comparedTimes<T>({ opening, closing, isLive }: StatePair<T>) {
  const to = toIsoSeconds(closing.takenAt);
  return { from: toIsoSeconds(opening.takenAt), to: isLive ? `${to} (now)` : to };
}
