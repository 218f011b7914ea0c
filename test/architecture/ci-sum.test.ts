import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runScript } from '../support/run-script.ts';
import { newFolder } from '../support/shared.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Report {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: object[];
}

/** A report as vitest writes it, as far as the sum reads it. */
const reportOf = (report: Partial<Report>): Report => ({
  success: true,
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
  ...report,
});

const failing = reportOf({
  success: false,
  numPassedTests: 3,
  numFailedTests: 1,
  testResults: [
    {
      name: join(root, 'test/api/a.test.ts'),
      status: 'failed',
      message: '',
      assertionResults: [
        { ancestorTitles: [], title: 'passes', status: 'passed', failureMessages: [] },
        {
          ancestorTitles: ['a group', 'a case'],
          title: 'fails',
          status: 'failed',
          failureMessages: [
            '\u001b[31mAssertionError: expected 1 to be 2\u001b[39m\n\n- 2\n+ 1\n    at /somewhere/a.test.ts:2:67',
          ],
        },
      ],
    },
    {
      name: join(root, 'test/api/b.test.ts'),
      status: 'failed',
      message: 'Cannot find module',
      assertionResults: [],
    },
  ],
});

async function sumOf(reports: Readonly<Record<string, Report>>, ...steps: string[]) {
  const folder = newFolder();
  for (const [name, report] of Object.entries(reports))
    await writeFile(join(folder, `${name}.json`), JSON.stringify(report));
  const { status, stdout } = await runScript('.ci/sum.mjs', folder, ...steps);
  return { status, lines: stdout.trimEnd().split('\n') };
}

test('the sum of CI is a line alone where all passed', async () => {
  const quick = reportOf({ numPassedTests: 5, numPendingTests: 1, numTodoTests: 1 });
  const slow = reportOf({ numPassedTests: 2 });
  expect(await sumOf({ quick, slow })).toEqual({
    status: 0,
    lines: ['7 passed, 0 failed, 2 skipped'],
  });
});

test('each failure is named before the sum, with the first lines of its message', async () => {
  const unhandled = reportOf({ success: false, numPassedTests: 1 });
  expect(await sumOf({ quick: failing, slow: unhandled }, 'lint')).toEqual({
    status: 1,
    lines: [
      'failed (quick): test/api/a.test.ts > a group > a case > fails',
      '  AssertionError: expected 1 to be 2',
      '  - 2',
      '  + 1',
      'failed (quick): test/api/b.test.ts, outside of its tests',
      '  Cannot find module',
      'failed (slow): an error outside of all tests',
      '4 passed, 3 failed, 0 skipped',
    ],
  });
});

test.each([
  [3, 0, '6 passed, 0 failed, 0 skipped'],
  [4, 1, '6 passed, 1 failed, 0 skipped'],
])(
  '%i that passed only when repeated are named and counted, and more than three fail',
  async (repeated, status, last) => {
    const [a] = failing.testResults as { name: string; assertionResults: object[] }[];
    const assertionResults = Array.from({ length: repeated }, () => ({
      ...a?.assertionResults[1],
      status: 'passed',
    }));
    const testResults = [{ ...a, status: 'passed', assertionResults }];
    const sum = await sumOf({ quick: reportOf({ numPassedTests: 6, testResults }) });
    expect(sum.status).toBe(status);
    expect(sum.lines.slice(0, 4)).toEqual([
      'repeated (quick): test/api/a.test.ts > a group > a case > fails',
      '  AssertionError: expected 1 to be 2',
      '  - 2',
      '  + 1',
    ]);
    expect(sum.lines.slice(-2)).toEqual([
      `Passed only when repeated: ${repeated}, at most 3`,
      last,
    ]);
  },
);
