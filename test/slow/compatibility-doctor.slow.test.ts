import { describe, expect, test, vi } from 'vitest';
import {
  contradiction,
  type Examined,
  examineVariation,
  foretold,
} from '../support/compatibility/doctor.ts';
import { judgeVariation } from '../support/compatibility/matrix.ts';
import { probes } from '../support/compatibility/probes.ts';
import { variations } from '../support/compatibility/variations.ts';

/**
 * Compares `doctor` with the briefs: it reports a failure where a brief would be wrong, and no pass where one is
 * partial.
 */

vi.setConfig({ maxConcurrency: 2 });

const briefs = probes.filter(({ name }) => foretold.includes(name));

const failures = ({ report }: Examined) =>
  report.checks.filter(({ status }) => status === 'fail').map(({ id }) => id);

describe.concurrent('doctor before the service', () => {
  test.for(variations)('$name', async (variation, { expect }) => {
    const examined = await examineVariation(variation);
    const cells = await judgeVariation(variation, briefs);
    const all = JSON.stringify(examined.report.checks, undefined, 1);
    expect(contradiction(examined, cells), all).toBeUndefined();
    expect(examined.exit, all).toBe(failures(examined).length > 0 ? 1 : 0);
    expect(examined.received).toBe(examined.report.requests);
    expect(examined.received).toBeLessThanOrEqual(40);
  });
});

test('every brief of the matrix is foretold', () => {
  expect(briefs.map(({ name }) => name).sort()).toEqual(foretold.toSorted());
});
