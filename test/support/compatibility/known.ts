import type { Deviations } from './matrix.ts';
import type { Switches } from './switches.ts';
import { variations } from './variations.ts';

/**
 * What this server answers wrong, fails at, or tells too quietly today: probes by variation and fault. A
 * cell that has become right has to be taken out.
 */

const otherLists = [
  'list quote templates',
  'list quote widgets',
  'list pricing books',
  'list categories',
  'list discount groups',
  'list contract items',
] as const;
const briefsAndChecks = [
  'pipeline',
  'pipeline of an owner',
  'pipeline of a company',
  'won and lost',
  'brief of a company',
  'brief of a quote',
  'brief of a quote by number',
  'check below_cost',
  'check stale_quotes',
] as const;
const changes = [
  'upsert',
  'upsert by external id',
  'upsert of the company',
  'upsert of the stage',
] as const;

export const known: Readonly<Record<string, Deviations>> = {
  'rows without items': {
    wrong: [
      'list quotes',
      'brief of a company',
      'brief of a quote by number',
      'check stale_quotes',
    ],
  },
  'outcome untold': {
    wrong: ['won and lost'],
  },
  '45 requests left of 60': {
    unhelpful: [
      ...otherLists,
      'category tree',
      ...briefsAndChecks,
      'find',
      ...changes,
      'upsert of a new one',
    ],
  },
};

const includes = (set: Partial<Switches>, part: Partial<Switches>): boolean =>
  Object.entries(part).every(
    ([name, value]) => JSON.stringify(set[name as keyof Switches]) === JSON.stringify(value),
  );

/** Whether a service that varies so is known not to be answered well. */
export const isKnown = (set: Partial<Switches>): boolean =>
  variations.some(({ name, set: part }) => known[name] !== undefined && includes(set, part));
