import { describe, expect, test } from 'vitest';
import {
  type Coverage,
  completeCoverage,
  isProven,
  partialCoverage,
  stopReason,
  unprovenReason,
} from '../../src/reading/coverage.ts';
import { Pass, type RouteTraits } from '../../src/reading/pass.ts';
import { type End, readPages } from '../../src/reading/read-pages.ts';
import { ApiError } from '../../src/service/errors.ts';

/**
 * The next requests of a walk, and what it takes as proven, case by case. `walks.test.ts` tries thousands of
 * services to show that a part is never taken for the whole.
 */

type Row = { id: string; createdAt?: string; updatedAt?: string };

const paged: RouteTraits = { isTree: false, canPage: true, ignoresSize: false };
const day = 86_400_000;

const rows = (from: number, count: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `r${from + at}`,
    createdAt: new Date(Date.now() - day).toISOString(),
  }));

interface Answer {
  /** Absent if the page is refused. */
  rows: Row[] | undefined;
  total?: number;
  countIsLimit?: boolean;
}

interface PlannedPage {
  from: number;
  size: number;
  ifRefused: 'fail' | 'nothing';
}

/** Answers one request after the other, and then none. @returns the requests without an answer, or what was read */
async function follow(answers: Answer[], more: Partial<RouteTraits> = {}) {
  const pass = new Pass({ ...paged, ...more });
  const queue = [...answers];
  const next: PlannedPage[] = [];
  const reading = readPages((from, size, ifRefused = 'fail') => {
    const answer = queue.shift();
    if (!answer) {
      next.push({ from, size, ifRefused });
      return new Promise(() => {});
    }
    const { rows: records, ...counted } = answer;
    if (!records) return Promise.reject(new ApiError('refused', { host: 'h' }));
    return Promise.resolve(pass.add(from, { records, ...counted }));
  }, pass);
  const unanswered = new Promise<undefined>((resolve) => setImmediate(resolve, undefined));
  const end = await Promise.race([reading, unanswered]);
  return { pass, found: end ? coverageOf(pass, end) : next };
}

const coverageOf = (pass: Pass, end: End) =>
  isProven(pass, end)
    ? completeCoverage(pass.found.size)
    : partialCoverage(pass, pass.found.size, unprovenReason(pass, end));

/** Pages of a hundred records, after which one is answered with these. */
const tenThousand = (beyond: Row[] | undefined): Answer[] => [
  ...Array.from({ length: 100 }, (_, at) => ({
    rows: rows(100 * at, 100),
    total: 10_000,
    countIsLimit: true,
  })),
  { rows: beyond, total: 10_000, countIsLimit: true },
];
const first = { rows: rows(0, 100) };
const short = { rows: rows(0, 10) };
const added = { id: 'new', createdAt: new Date(Date.now() + 1_000).toISOString() };
const touched = { id: 'touched', updatedAt: added.createdAt };
const all = (read: number) => completeCoverage(read);
const part = (read: number, total: number, reason: string) => ({
  complete: false,
  ...{ read, total, reason },
});
const changing = 'records kept changing while they were read';
const mayBeMore = 'the service counts or gives no more than 10000, and there may be more';
const noOffset =
  'only the first page can be read, because no offset parameter works (the setting page-param names it)';

type Expected = Partial<PlannedPage>[] | Coverage;
test.each<[what: string, answers: Answer[], expected: Expected, route?: Partial<RouteTraits>]>([
  ['the first page', [], [{ from: 0, size: 100, ifRefused: 'fail' }]],
  ['nothing after an empty page', [{ rows: [] }], all(0)],
  ['nothing after all counted records', [{ rows: rows(0, 3), total: 3 }], all(3)],
  // Each page begins with the last record of the page before, which costs no further request.
  [
    'all other pages at once where the service reports a total',
    [{ ...first, total: 450 }],
    [{ from: 99 }, { from: 198 }, { from: 297 }, { from: 396 }],
  ],
  [
    'six pages at most',
    [{ ...first, total: 4_000 }],
    [100, 200, 300, 400, 500, 600].map((from) => ({ from })),
  ],
  ['adjacent pages without overlap', [{ ...first, total: 300 }], [{ from: 100 }, { from: 200 }]],
  ['an overlapping page, without a total', [first], [{ from: 99, ifRefused: 'nothing' }]],
  ['what is beyond the end', [first, { rows: rows(99, 1) }], [{ from: 100, ifRefused: 'nothing' }]],
  [
    'what a short page left out',
    [
      { ...first, total: 200 },
      { rows: rows(100, 40), total: 200 },
    ],
    [{ from: 139, size: 62 }],
  ],
  [
    'a larger page, where the offset is ignored',
    Array(3).fill({ ...first, total: 300 }),
    [{ from: 0, size: 300, ifRefused: 'nothing' }],
  ],
  [
    'a smaller page, where the offset is ignored and there is no total',
    [short, short, short],
    [{ from: 0, size: 5 }],
  ],
  ['the whole list, where the size is ignored too', [short, short, short, short], all(10)],
  ['a smaller page, where there is no offset', [short], [{ from: 0, size: 5 }], { canPage: false }],
  [
    'nothing where all records come whatever size is asked for',
    [{ rows: rows(0, 71) }],
    all(71),
    { ignoresSize: true },
  ],
  ['another page there, if it may be one', [first], [{ from: 99 }], { ignoresSize: true }],
  [
    'another page there, if more are counted',
    [{ rows: rows(0, 71), total: 90 }],
    [{ from: 70 }],
    { ignoresSize: true },
  ],
  ['nothing after a tree', [{ rows: rows(0, 5) }], all(5), { isTree: true }],
  ['as many as a service counts at most, after nothing', tenThousand([]), all(10_000)],
  [
    'as many as a service counts at most, and another',
    tenThousand(rows(10_000, 1)),
    part(10_001, 10_001, mayBeMore),
  ],
  [
    'as many as a service counts at most, and the last one again',
    tenThousand(rows(9_999, 1)),
    part(10_000, 10_000, mayBeMore),
  ],
  [
    'as many as a service counts at most, before a page that is refused',
    tenThousand(undefined),
    part(10_000, 10_000, mayBeMore),
  ],
  [
    'adjacent pages of a list that did not grow',
    [
      { ...first, total: 200 },
      { rows: rows(100, 100), total: 200 },
    ],
    all(200),
  ],
  [
    'adjacent pages of a list that grew between them',
    [
      { ...first, total: 200 },
      { rows: [added, ...rows(101, 99)], total: 200 },
    ],
    part(200, 200, changing),
  ],
  [
    'adjacent pages of a list without creation times that changed between them',
    [
      { ...first, total: 200 },
      { rows: [touched, ...rows(101, 99)], total: 200 },
    ],
    part(200, 200, changing),
  ],
  [
    'adjacent pages of a list whose total changed',
    [
      { ...first, total: 200 },
      { rows: rows(100, 100), total: 199 },
    ],
    part(200, 200, changing),
  ],
  ['the first page again', Array(8).fill({ ...short, total: 30 }), part(10, 30, noOffset)],
  [
    'fewer records than counted',
    [
      { ...first, total: 150 },
      { rows: rows(99, 31), total: 150 },
      { rows: [], total: 150 },
      { rows: [], total: 150 },
    ],
    part(130, 150, 'the service counts 150 but gave 130'),
  ],
])('%s', async (_, answers, expected, route) => {
  expect((await follow(answers, route)).found).toMatchObject(expected);
});

describe('an interrupted reading', () => {
  test('reports when the rest can be read', () => {
    const error = new ApiError('budget-spent', { host: 'h', seconds: 60 });
    const [, moment = ''] =
      /; the rest can be read from (\d{4}-.*Z) on$/.exec(stopReason(error)) ?? [];
    const seconds = (Date.parse(moment) - Date.now()) / 1000;
    expect(30 < seconds && seconds <= 60).toBe(true);
  });

  test('reports why, and how much was read', async () => {
    const { pass } = await follow([{ rows: rows(0, 100), total: 300 }]);
    const reason = stopReason(new ApiError('not-permitted', { host: 'h' }));
    expect(reason).toBe('the service stopped permitting it');
    const coverage = { complete: false, read: 100, total: 300, reason };
    expect(partialCoverage(pass, 100, reason)).toEqual(coverage);
  });
});
