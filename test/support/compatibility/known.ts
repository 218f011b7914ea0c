import type { Deviations } from './matrix.ts';
import type { Switches } from './switches.ts';
import { variations } from './variations.ts';

/**
 * What this server answers wrong, fails at, or tells too quietly today: probes by variation and fault. A
 * cell that has become right has to be taken out.
 */

export const known: Readonly<Record<string, Deviations>> = {};

const includes = (set: Partial<Switches>, part: Partial<Switches>): boolean =>
  Object.entries(part).every(
    ([name, value]) => JSON.stringify(set[name as keyof Switches]) === JSON.stringify(value),
  );

/** Whether a service that varies so is known not to be answered well. */
export const isKnown = (set: Partial<Switches>): boolean =>
  variations.some(({ name, set: part }) => known[name] !== undefined && includes(set, part));
