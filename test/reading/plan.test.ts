import { describe, expect, test } from 'vitest';
import { isProven, stoppedCoverage, unprovenCoverage } from '../../src/reading/coverage.ts';
import { Pass } from '../../src/reading/pass.ts';
import {
  afterAnswer,
  type Done,
  firstPlan,
  nextStep,
  type PlannedPage,
  type PlanStep,
  type ReadingPlan,
} from '../../src/reading/plan.ts';
import { profileOf, type RouteProfile } from '../../src/reading/profile.ts';
import { ApiError } from '../../src/service/errors.ts';

/**
 * The next request of a walk, and what it takes as proven, case by case. `walks.test.ts` tries thousands of
 * services to show that a part is never taken for the whole.
 */

interface Row {
  id: string;
  createdAt: string;
}

const paged = profileOf('company', { pageParam: 'from' });
const day = 86_400_000;

const rows = (from: number, count: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `r${from + at}`,
    createdAt: new Date(Date.now() - day).toISOString(),
  }));

interface Answer {
  rows: Row[];
  total?: number;
}

/** Answers one request after the other. @returns the collected rows and the next step */
function follow(answers: Answer[], profile: RouteProfile = paged) {
  const pass = new Pass<Row>(profile);
  let plan: ReadingPlan = firstPlan(profile);
  for (const { rows: records, total } of answers) {
    const step = nextStep(plan, pass, 0);
    if (!step.request) break;
    const page = total === undefined ? { records } : { records, total };
    plan = afterAnswer(step.plan, pass.add(step.request.from, page), pass);
  }
  return { pass, step: nextStep(plan, pass, 0) };
}

function ended(answers: Answer[], profile?: RouteProfile): { pass: Pass<Row>; end: Done } {
  const { pass, step } = follow(answers, profile);
  const { plan } = step;
  if (plan.mode !== 'done') throw new Error(`not done: ${plan.mode}`);
  return { pass, end: plan };
}

describe('the next requests', () => {
  test('are none while the first page is pending', () => {
    expect(nextStep(firstPlan(paged), new Pass(paged), 1).request).toBeUndefined();
  });

  test('are all other pages at once where the service reports a total', () => {
    const { pass, ...first } = follow([{ rows: rows(0, 100), total: 450 }]);
    const offsets: number[] = [];
    let step: PlanStep = first.step;
    while (step.request) {
      offsets.push(step.request.from);
      step = nextStep(step.plan, pass, offsets.length);
    }
    // Each page begins with the last record of the page before, which costs no further request.
    expect(offsets).toEqual([99, 198, 297, 396]);
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
      ],
      { from: 0, size: 300, ifRefused: 'nothing' },
    ],
    [
      'a smaller page, where the offset is ignored and there is no total',
      [{ rows: rows(0, 10) }, { rows: rows(0, 10) }, { rows: rows(0, 10) }],
      { from: 0, size: 5 },
    ],
  ])('%s', (_, answers, expected) => {
    const { step } = follow(answers);
    if (expected === undefined) expect(step).toMatchObject({ plan: { mode: 'done' } });
    else expect(step.request).toMatchObject(expected);
  });

  test('are a smaller page where there is no offset', () => {
    const profile = profileOf('company', { pageParam: undefined });
    const { step } = follow([{ rows: rows(0, 10) }], profile);
    expect(step.request).toMatchObject({ from: 0, size: 5 });
  });

  test('are none after an answer that is complete, as a tree is', () => {
    const tree = profileOf('category_tree', { pageParam: 'from' });
    const { step } = follow([{ rows: rows(0, 5) }], tree);
    expect(step.plan).toMatchObject({ mode: 'done', by: 'one-answer' });
  });
});

describe('complete collections', () => {
  test('have as many records as counted, all older than the reading', () => {
    expect(isProven(ended([{ rows: rows(0, 3), total: 3 }]), undefined)).toBe(true);
  });

  test('include a list that ignores the requested size', () => {
    const all = { rows: rows(0, 10) };
    expect(isProven(ended([all, all, all, all]), undefined)).toBe(true);
  });

  test('do not include a list that grew, until a second pass returns the same', () => {
    const added = { id: 'new', createdAt: new Date(Date.now() + 1_000).toISOString() };
    const answers = [{ rows: [...rows(0, 2), added], total: 3 }];
    const first = ended(answers);
    expect(isProven(first, undefined)).toBe(false);
    expect(isProven(ended(answers), first.pass)).toBe(true);
  });

  test('do not include a list whose total changed', () => {
    const pages = [
      { rows: rows(0, 100), total: 199 },
      { rows: rows(99, 100), total: 198 },
    ];
    const finished = ended(pages);
    expect(isProven(finished, undefined)).toBe(false);
    expect(unprovenCoverage(finished, 199)).toEqual({
      complete: false,
      read: 199,
      total: 199,
      reason: 'records kept changing while they were read',
    });
  });

  test('do not include a repeated first page', () => {
    const first = { rows: rows(0, 10), total: 30 };
    const finished = ended([first, first, first]);
    expect(isProven(finished, undefined)).toBe(false);
    expect(unprovenCoverage(finished, 10)).toMatchObject({ complete: false, read: 10, total: 30 });
    expect(unprovenCoverage(finished, 10).reason).toMatch(/only the first page can be read/);
  });

  test('never have fewer records than counted', () => {
    const pages = [
      { rows: rows(0, 100), total: 150 },
      { rows: rows(99, 31), total: 150 },
    ];
    const finished = ended([...pages, { rows: [], total: 150 }, { rows: [], total: 150 }]);
    expect(isProven(finished, undefined)).toBe(false);
    expect(unprovenCoverage(finished, 130).reason).toBe('the service counts 150 but gave 130');
  });
});

describe('an interrupted reading', () => {
  const { pass } = follow([{ rows: rows(0, 100), total: 300 }]);

  test('reports when the rest can be read', () => {
    const coverage = stoppedCoverage(
      pass,
      100,
      new ApiError('budget-spent', { host: 'h', seconds: 60 }),
    );
    expect(coverage).toMatchObject({ complete: false, read: 100, total: 300 });
    expect(coverage.reason).toMatch(/; the rest can be read from \d{4}-.*Z on$/);
    expect(coverage.resumesAt).toBeGreaterThan(Date.now());
  });

  test('reports why', () => {
    const coverage = stoppedCoverage(pass, 100, new ApiError('not-permitted', { host: 'h' }));
    expect(coverage.reason).toBe('the service stopped permitting it');
    expect(coverage.resumesAt).toBeUndefined();
  });
});
