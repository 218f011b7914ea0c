import type { Deviations } from './matrix.ts';
import type { Switches } from './switches.ts';
import { variations } from './variations.ts';

/**
 * What this server answers wrong, fails at, or tells too quietly today: probes by variation and fault. A
 * cell that has become right has to be taken out.
 */

const searchedLists = [
  'list companies',
  'list contacts',
  'list opportunities',
  'list products',
  'list quotes',
] as const;
const otherLists = [
  'list quote templates',
  'list quote widgets',
  'list pricing books',
  'list categories',
  'list discount groups',
  'list contract items',
] as const;
const pipelines = [
  'pipeline',
  'pipeline of an owner',
  'pipeline of a company',
  'won and lost',
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
const records = ['record by id', 'record by external identifier'] as const;
const changes = [
  'upsert',
  'upsert by external id',
  'upsert of the company',
  'upsert of the stage',
] as const;

export const known: Readonly<Record<string, Deviations>> = {
  'flat ids': {
    wrong: [
      'list opportunities',
      'list products',
      'list quotes',
      'filter',
      'pipeline',
      'pipeline of an owner',
      'pipeline of a company',
      'brief of a company',
      'brief of a quote',
      'brief of a quote by number',
      'check stale_quotes',
      'upsert',
      'upsert by external id',
      'upsert of the company',
    ],
  },
  'flat ids and names': {
    wrong: [
      'list opportunities',
      'list products',
      'list quotes',
      'filter',
      'pipeline',
      'pipeline of an owner',
      'pipeline of a company',
      'brief of a company',
      'brief of a quote',
      'brief of a quote by number',
      'check stale_quotes',
      'upsert',
      'upsert by external id',
      'upsert of the company',
    ],
    unhelpful: ['upsert of the stage'],
  },
  'flat ids, filtered as flat': {
    wrong: [
      'list opportunities',
      'list products',
      'list quotes',
      'filter',
      'pipeline',
      'pipeline of an owner',
      'pipeline of a company',
      'brief of a company',
      'brief of a quote',
      'brief of a quote by number',
      'check stale_quotes',
      'upsert of the company',
    ],
    unhelpful: ['upsert of the stage'],
  },
  'names as references': {
    wrong: [
      'pipeline',
      'pipeline of an owner',
      'pipeline of a company',
      'brief of a company',
      'check stale_quotes',
      'upsert',
      'upsert by external id',
      'upsert of the company',
    ],
  },
  'bare ids as references': {
    wrong: [
      'pipeline',
      'pipeline of an owner',
      'pipeline of a company',
      'brief of a company',
      'brief of a quote',
      'brief of a quote by number',
      'check stale_quotes',
      'upsert',
      'upsert by external id',
      'upsert of the company',
    ],
  },
  'contacts nest their company': {
    wrong: ['list contacts'],
  },
  'counts the page': {
    wrong: [
      ...searchedLists,
      ...pipelines,
      'brief of a company',
      'check below_cost',
      'check stale_quotes',
      'find',
    ],
  },
  'counts the page, clamped to 50': {
    wrong: [
      ...searchedLists,
      ...pipelines,
      'brief of a company',
      'check below_cost',
      'check stale_quotes',
      'find',
    ],
  },
  'counts the page, short pages': {
    wrong: [
      ...searchedLists,
      ...pipelines,
      'brief of a company',
      'check below_cost',
      'check stale_quotes',
      'find',
    ],
  },
  'meta.total, clamped to 50': {
    wrong: [...searchedLists],
  },
  'totalCount, clamped to 25': {
    wrong: [...searchedLists],
  },
  'total.value, clamped to 50': {
    wrong: [...searchedLists],
  },
  'no count, clamped to 25': {
    wrong: [...searchedLists],
  },
  'bare arrays, clamped to 50': {
    wrong: [...searchedLists],
  },
  'counts to 10,000': {
    wrong: ['list products', 'check below_cost'],
  },
  '400 over 25': {
    unhelpful: [
      ...searchedLists,
      ...otherLists,
      'filter',
      'query',
      ...briefsAndChecks,
      'find',
      ...changes,
      'upsert of a new one',
    ],
  },
  '400 over 50': {
    unhelpful: [
      ...searchedLists,
      ...otherLists,
      'filter',
      'query',
      ...briefsAndChecks,
      'find',
      ...changes,
      'upsert of a new one',
    ],
  },
  '500 over 25': {
    unhelpful: [
      ...searchedLists,
      ...otherLists,
      'category tree',
      'filter',
      'query',
      'sort',
      ...briefsAndChecks,
      'find',
      ...records,
      ...changes,
      'upsert of a new one',
    ],
  },
  '500 over 50': {
    unhelpful: [
      ...searchedLists,
      ...otherLists,
      'category tree',
      'filter',
      'query',
      'sort',
      ...briefsAndChecks,
      'find',
      ...records,
      ...changes,
      'upsert of a new one',
    ],
  },
  'size on search routes only': {
    unhelpful: [
      ...otherLists,
      'category tree',
      'brief of a company',
      'brief of a quote',
      'brief of a quote by number',
    ],
  },
  'size is refused': {
    unhelpful: [
      ...searchedLists,
      ...otherLists,
      'category tree',
      'filter',
      'query',
      'sort',
      ...briefsAndChecks,
      'find',
      ...changes,
      'upsert of a new one',
    ],
  },
  'from is ignored': {
    wrong: [...searchedLists],
  },
  'from is ignored, size is clamped': {
    wrong: [...searchedLists],
    quiet: [...pipelines, 'brief of a company', 'check below_cost', 'check stale_quotes', 'find'],
  },
  'from counts pages': {
    wrong: [...searchedLists],
    unhelpful: ['upsert of the company', 'upsert of the stage', 'upsert of a new one'],
    quiet: [...pipelines, 'brief of a company', 'check below_cost', 'check stale_quotes', 'find'],
  },
  'from counts pages from 1': {
    wrong: [...searchedLists],
    unhelpful: ['upsert of the company', 'upsert of the stage', 'upsert of a new one'],
    quiet: [...pipelines, 'brief of a company', 'check below_cost', 'check stale_quotes', 'find'],
  },
  'from counts from 1': {
    wrong: [...searchedLists],
  },
  offset: {
    wrong: [...searchedLists],
  },
  'skip, from refused': {
    unhelpful: [
      ...searchedLists,
      'upsert of the company',
      'upsert of the stage',
      'upsert of a new one',
    ],
    quiet: [...pipelines, 'brief of a company', 'check below_cost', 'check stale_quotes', 'find'],
  },
  'page from 1': {
    wrong: [...searchedLists],
  },
  'hidden rows': {
    wrong: [...searchedLists, 'filter', 'query'],
    quiet: [...pipelines, 'brief of a company', 'check below_cost', 'check stale_quotes', 'find'],
  },
  'filters are ignored': {
    wrong: ['filter'],
  },
  'query is ignored': {
    wrong: ['query'],
  },
  'query is refused': {
    unhelpful: ['upsert by external id', 'upsert of a new one'],
  },
  'sort is ignored': {
    wrong: ['sort'],
  },
  'rows without items': {
    wrong: [
      'list quotes',
      'brief of a company',
      'brief of a quote by number',
      'check stale_quotes',
    ],
  },
  'deleted: true or false': {
    wrong: ['list opportunities', 'list quotes', 'brief of a company'],
  },
  '400 for a malformed id': {
    unhelpful: ['brief of a quote by number', 'record by external identifier'],
  },
  'integers, 400 for a malformed id': {
    unhelpful: ['brief of a quote by number', 'record by external identifier'],
  },
  'outcome untold': {
    wrong: ['won and lost'],
  },
  snake_case: {
    wrong: [
      'list companies',
      'list contacts',
      'list opportunities',
      'list quotes',
      'filter',
      'query',
      ...pipelines,
      'brief of a company',
      'check stale_quotes',
      'record by id',
      'upsert of a new one',
    ],
    unhelpful: [...changes],
  },
  _id: {
    wrong: [
      ...searchedLists,
      ...otherLists,
      'category tree',
      'filter',
      'query',
      'pipeline',
      'pipeline of an owner',
      'pipeline of a company',
      'brief of a company',
      'brief of a quote',
      'brief of a quote by number',
      'check stale_quotes',
      'find',
      ...records,
    ],
    unhelpful: [...changes, 'upsert of a new one'],
  },
  'epoch seconds': {
    wrong: [
      'list opportunities',
      'list quotes',
      'filter',
      ...pipelines,
      'check stale_quotes',
      ...changes,
    ],
  },
  'epoch milliseconds': {
    wrong: [
      'list opportunities',
      'list quotes',
      'filter',
      ...pipelines,
      'check stale_quotes',
      ...changes,
    ],
  },
  '200 with an error': {
    wrong: [
      ...searchedLists,
      ...otherLists,
      'filter',
      'query',
      'sort',
      ...pipelines,
      'brief of a company',
      'brief of a quote by number',
      'check below_cost',
      'check stale_quotes',
      'find',
    ],
    unhelpful: [
      'upsert by external id',
      'upsert of the company',
      'upsert of the stage',
      'upsert of a new one',
    ],
  },
  '200 with an error, once': {
    wrong: [...searchedLists, ...otherLists],
  },
  '403: account disabled': {
    quiet: ['find'],
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
  '45 requests left of 500': {
    unhelpful: [
      ...otherLists,
      'category tree',
      ...briefsAndChecks,
      'find',
      ...changes,
      'upsert of a new one',
    ],
  },
  'revenue computed': {
    quiet: ['upsert', 'upsert of the company', 'upsert of the stage'],
  },
};

const uncounted: readonly Partial<Switches>[] = [
  ...(['meta.total', 'totalCount', 'count', 'total.value', 'none'] as const).map((counts) => ({
    counts,
  })),
  { envelope: 'array' },
];
const clamped: readonly Partial<Switches>[] = ([25, 50] as const).map((rows) => ({
  maxSize: { rows, over: 'clamped' },
}));

/** Combinations of variations that are answered well by themselves only. */
const knownTogether: readonly Partial<Switches>[] = uncounted.flatMap((count) =>
  clamped.map((size) => ({ ...count, ...size })),
);

const includes = (set: Partial<Switches>, part: Partial<Switches>): boolean =>
  Object.entries(part).every(
    ([name, value]) => JSON.stringify(set[name as keyof Switches]) === JSON.stringify(value),
  );

/** Whether a service that varies so is known not to be answered well. */
export const isKnown = (set: Partial<Switches>): boolean =>
  [
    ...variations.filter(({ name }) => known[name] !== undefined).map((it) => it.set),
    ...knownTogether,
  ].some((part) => includes(set, part));
