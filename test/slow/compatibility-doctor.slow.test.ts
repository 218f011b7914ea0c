import { describe, test, vi } from 'vitest';
import { contradiction, type Examined, examineVariation } from '../support/compatibility/doctor.ts';
import { judgeBriefs } from '../support/compatibility/judge.ts';
import { variations } from '../support/compatibility/variations.ts';

/**
 * Compares `doctor` with the briefs: it reports a failure where a brief would be wrong, and no pass where one is
 * partial.
 */

vi.setConfig({ maxConcurrency: 2 });

const failures = ({ report }: Examined) =>
  report.checks.filter(({ status }) => status === 'fail').map(({ id }) => id);

describe.concurrent('doctor before the service', () => {
  test.for(variations)('$name', async (variation, { expect }) => {
    const examined = await examineVariation(variation);
    const compared = await judgeBriefs(variation);
    const all = JSON.stringify(examined.report.checks, undefined, 1);
    expect(contradiction(examined, compared, variation), all).toBeUndefined();
    expect(examined.exit, all).toBe(failures(examined).length > 0 ? 1 : 0);
    expect(examined.received).toBe(examined.report.requests);
    expect(examined.received).toBeLessThanOrEqual(40);
  });
});
