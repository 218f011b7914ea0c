import type { Deviations } from './matrix.ts';
import type { Switches } from './switches.ts';
import { variations } from './variations.ts';

/**
 * Known deviations: what this server answers wrong, cannot answer, or does not say clearly; probes by variation and
 * fault. An entry must be removed once it is fixed.
 */

export const known: Readonly<Record<string, Deviations>> = {};

const includes = (set: Partial<Switches>, part: Partial<Switches>): boolean =>
  Object.entries(part).every(
    ([name, value]) => JSON.stringify(set[name as keyof Switches]) === JSON.stringify(value),
  );

/**
 * Hidden records are noticed only if they are counted. Without a count of the list, a short list that hides its
 * last records looks complete.
 */
const hidesUncounted = ({ hidden, counts, envelope }: Partial<Switches>): boolean =>
  hidden === true && (counts === 'none' || counts === 'rows of the page' || envelope === 'array');

/** Whether a service with these variations is a known deviation. */
export const isKnown = (set: Partial<Switches>): boolean =>
  hidesUncounted(set) ||
  variations.some(({ name, set: part }) => known[name] !== undefined && includes(set, part));
