import { describe, expect, test } from 'vitest';
import {
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

type Row = { id: string; createdAt: string };

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

interface Followed {
  pass: Pass;
  /** The requests that were not answered. */
  next: PlannedPage[];
  /** Absent if requests were not answered. */
  end: End | undefined;
}

/** Answers one request after the other, and then none. */
async function follow(answers: Answer[], route: RouteTraits = paged): Promise<Followed> {
  const pass = new Pass(route);
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
  return { pass, next, end: await Promise.race([reading, unanswered]) };
}

async function ended(answers: Answer[], route?: RouteTraits): Promise<{ pass: Pass; end: End }> {
  const { pass, end, next } = await follow(answers, route);
  if (!end) throw new Error(`not done: ${JSON.stringify(next)}`);
  return { pass, end };
}

describe('the next requests', () => {
  test('are none while the first page is pending', async () => {
    expect((await follow([])).next).toHaveLength(1);
  });

  test('are all other pages at once where the service reports a total', async () => {
    const { next } = await follow([{ rows: rows(0, 100), total: 450 }]);
    // Each page begins with the last record of the page before, which costs no further request.
    expect(next.map(({ from }) => from)).toEqual([99, 198, 297, 396]);
  });

  test('are six pages at most', async () => {
    expect((await follow([{ rows: rows(0, 100), total: 4_000 }])).next).toHaveLength(6);
  });

  test.each<[what: string, answers: Answer[], next: Partial<PlannedPage> | undefined]>([
    ['the first page', [], { from: 0, size: 100, ifRefused: 'fail' }],
    ['nothing after an empty page', [{ rows: [] }], undefined],
    ['nothing after all counted records', [{ rows: rows(0, 3), total: 3 }], undefined],
    ['adjacent pages without overlap', [{ rows: rows(0, 100), total: 300 }], { from: 100 }],
    [
      'an overlapping page, where there is no total',
      [{ rows: rows(0, 100) }],
      { from: 99, ifRefused: 'nothing' },
    ],
    [
      'what is beyond the end',
      [{ rows: rows(0, 100) }, { rows: rows(99, 1) }],
      { from: 100, ifRefused: 'nothing' },
    ],
    [
      'what a short page left out',
      [
        { rows: rows(0, 100), total: 200 },
        { rows: rows(100, 40), total: 200 },
      ],
      { from: 139, size: 62 },
    ],
    [
      'a larger page, where the offset is ignored',
      [
        { rows: rows(0, 100), total: 300 },
        { rows: rows(0, 100), total: 300 },
        { rows: rows(0, 100), total: 300 },
      ],
      { from: 0, size: 300, ifRefused: 'nothing' },
    ],
    [
      'a smaller page, where the offset is ignored and there is no total',
      [{ rows: rows(0, 10) }, { rows: rows(0, 10) }, { rows: rows(0, 10) }],
      { from: 0, size: 5 },
    ],
  ])('%s', async (_, answers, expected) => {
    const { next, end } = await follow(answers);
    if (expected === undefined) expect(end).toBeDefined();
    else expect(next).toContainEqual(expect.objectContaining(expected));
  });

  test('are a smaller page where there is no offset', async () => {
    const { next } = await follow([{ rows: rows(0, 10) }], { ...paged, canPage: false });
    expect(next).toMatchObject([{ from: 0, size: 5 }]);
  });

  test('are none where all records are known to come whatever size is asked for, unless it may be a page', async () => {
    const route = { ...paged, ignoresSize: true };
    const whole = await follow([{ rows: rows(0, 71) }], route);
    expect(whole.end && isProven(whole.pass, whole.end)).toBe(true);
    const page = await follow([{ rows: rows(0, 100) }], route);
    expect(page.next).toHaveLength(1);
    const counted = await follow([{ rows: rows(0, 71), total: 90 }], route);
    expect(counted.next.length).toBeGreaterThan(0);
  });

  test('are none after an answer that is complete, as a tree is', async () => {
    const { end, pass } = await follow([{ rows: rows(0, 5) }], { ...paged, isTree: true });
    expect(end && isProven(pass, end)).toBe(true);
  });
});

describe('complete collections', () => {
  test('have as many records as counted, all older than the reading', async () => {
    const { pass, end } = await ended([{ rows: rows(0, 3), total: 3 }]);
    expect(isProven(pass, end)).toBe(true);
  });

  test.each([
    ['nothing follows', [], true],
    ['another follows', rows(10_000, 1), false],
    ['the last one comes again', rows(9_999, 1), false],
    ['a further page is refused', undefined, false],
  ])('may be as many as a service counts at most, if %s', async (_, beyond, expected) => {
    const pages = Array.from({ length: 100 }, (_, at) => rows(100 * at, 100));
    const answers = [...pages, beyond].map((page) => ({
      rows: page,
      total: 10_000,
      countIsLimit: true,
    }));
    const { pass, end } = await ended(answers);
    expect(isProven(pass, end)).toBe(expected);
  });

  test('include a list that ignores the requested size', async () => {
    const all = { rows: rows(0, 10) };
    const { pass, end } = await ended([all, all, all, all]);
    expect(isProven(pass, end)).toBe(true);
  });

  test('do not include a list that grew between pages without a common record', async () => {
    const added = { id: 'new', createdAt: new Date(Date.now() + 1_000).toISOString() };
    const pages = (last: Row[]) => [
      { rows: rows(0, 100), total: 200 },
      { rows: last, total: 200 },
    ];
    const grown = await ended(pages([added, ...rows(101, 99)]));
    expect(isProven(grown.pass, grown.end)).toBe(false);
    const still = await ended(pages(rows(100, 100)));
    expect(isProven(still.pass, still.end)).toBe(true);
  });

  test('do not include a list whose total changed', async () => {
    const pages = [
      { rows: rows(0, 100), total: 200 },
      { rows: rows(100, 100), total: 199 },
    ];
    const { pass, end } = await ended(pages);
    expect(isProven(pass, end)).toBe(false);
    expect(partialCoverage(pass, 200, unprovenReason(pass, end))).toEqual({
      complete: false,
      read: 200,
      total: 200,
      reason: 'records kept changing while they were read',
    });
  });

  test('do not include a repeated first page', async () => {
    const first = { rows: rows(0, 10), total: 30 };
    const { pass, end } = await ended(Array(8).fill(first));
    expect(isProven(pass, end)).toBe(false);
    const coverage = partialCoverage(pass, 10, unprovenReason(pass, end));
    expect(coverage).toMatchObject({ complete: false, read: 10, total: 30 });
    expect(coverage.reason).toMatch(/only the first page can be read/);
  });

  test('never have fewer records than counted', async () => {
    const pages = [
      { rows: rows(0, 100), total: 150 },
      { rows: rows(99, 31), total: 150 },
    ];
    const none = { rows: [], total: 150 };
    const { pass, end } = await ended([...pages, none, none]);
    expect(isProven(pass, end)).toBe(false);
    expect(unprovenReason(pass, end)).toBe('the service counts 150 but gave 130');
  });
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
