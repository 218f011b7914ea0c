import { describe, test, vi } from 'vitest';
import { contradiction, examineVariation } from '../support/compatibility/doctor.ts';
import { judgeVariation, problemsOf } from '../support/compatibility/judge.ts';
import { variations } from '../support/compatibility/variations.ts';

/**
 * Every variation of the service: an answer is that of the documented service, or first says that it is partial, or is an
 * error that could not be avoided, as docs/compatibility.md says. `doctor` reports a failure where a brief is wrong, and
 * no pass where one is partial.
 */

// Two use the pauses between attempts; more would slow each other down.
vi.setConfig({ maxConcurrency: 2 });

describe.concurrent('the service', () => {
  test.for(variations)('$name', async (variation, { expect }) => {
    const compared = await judgeVariation(variation);
    expect(problemsOf(variation, compared)).toBe('');
    for (const question of variation.quiet ?? [])
      expect(compared.get(question)?.result, 'take it off').toBe('quiet');

    const { exit, received, report, worst } = await examineVariation(variation);
    const all = JSON.stringify(report.checks, undefined, 1);
    expect(contradiction(worst, compared, variation), all).toBeUndefined();
    expect(exit, all).toBe(worst === 'fail' ? 1 : 0);
    expect(received).toBe(report.requests);
    expect(received).toBeLessThanOrEqual(40);
  });
});
