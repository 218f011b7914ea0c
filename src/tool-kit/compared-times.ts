import type { StatePair } from '../tenant/history/compare.ts';

const timeOf = ({ takenAt }: { takenAt: Date }): string => `${takenAt.toISOString().slice(0, 19)}Z`;

/** The times of the two states of a comparison, as answers show them. */
export function compared<T>({ opening, closing, isLive }: StatePair<T>) {
  const to = timeOf(closing);
  return { from: timeOf(opening), to: isLive ? `${to} (now)` : to };
}
