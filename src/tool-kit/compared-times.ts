import type { StatePair } from '../tenant/history/compare.ts';
import { toSecond } from './answers.ts';

/** When the two compared states were taken. */
export function comparedTimes<T>({ opening, closing, isLive }: StatePair<T>) {
  const to = toSecond(closing.takenAt);
  return { from: toSecond(opening.takenAt), to: isLive ? `${to} (now)` : to };
}
