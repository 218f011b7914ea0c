import { describe, expect, test, vi } from 'vitest';
import { known } from '../support/compatibility/known.ts';
import { deviationsIn, judgeVariation, reasons } from '../support/compatibility/matrix.ts';
import { variations } from '../support/compatibility/variations.ts';

/** Every fifth variation of the service; matrix.slow.test.ts has all of them. */
const selected = variations.filter((_, index) => index % 5 === 0);

vi.setConfig({ maxConcurrency: 2 });

describe.concurrent('the service', () => {
  test.for(selected)('$name', async (variation, { expect }) => {
    const cells = await judgeVariation(variation);
    expect(deviationsIn(cells), reasons(cells)).toEqual(known[variation.name] ?? {});
  });
});

test('only variations that there are have known deviations', () => {
  const names = variations.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(Object.keys(known)));
});
