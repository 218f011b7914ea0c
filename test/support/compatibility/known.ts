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

/**
 * Variations that are answered well alone, but not yet in every combination: what one hides, another is needed
 * to find out.
 */
export const aloneOnly: readonly string[] = [
  'flat ids',
  'flat ids and names',
  'flat ids, filtered as flat',
  'names as references',
  'bare ids as references',
  'contacts nest their company',
  'counts the page',
  'counts the page, clamped to 50',
  'counts the page, short pages',
  'meta.total, clamped to 50',
  'totalCount, clamped to 25',
  'total.value, clamped to 50',
  'no count, clamped to 25',
  'bare arrays, clamped to 50',
  'counts to 10,000',
  '400 over 25',
  '400 over 50',
  '500 over 25',
  '500 over 50',
  'size on search routes only',
  'size is refused',
  'from is ignored',
  'from is ignored, size is clamped',
  'from counts pages',
  'from counts pages from 1',
  'from counts from 1',
  'offset',
  'skip, from refused',
  'page from 1',
  'hidden rows',
  'filters are ignored',
  'query is ignored',
  'query is refused',
  'sort is ignored',
  'deleted: true or false',
  '400 for a malformed id',
  'integers, 400 for a malformed id',
  'snake_case',
  '_id',
  'epoch seconds',
  'epoch milliseconds',
  '200 with an error',
  '200 with an error, once',
  '403: account disabled',
  '45 requests left of 500',
  'revenue computed',
  'maxSize',
];
