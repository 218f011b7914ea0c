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

/**
 * Records that are hidden show only where they are counted. Without a count of the list, or with one that is the rows of
 * the page, a short list that hides its last records looks like a whole one.
 */
const hidesUncounted = ({ hidden, counts, envelope }: Partial<Switches>): boolean =>
  hidden === true && (counts === 'none' || counts === 'rows of the page' || envelope === 'array');

/** Whether a service that varies so is known not to be answered well. */
export const isKnown = (set: Partial<Switches>): boolean =>
  hidesUncounted(set) ||
  variations.some(({ name, set: part }) => known[name] !== undefined && includes(set, part));
