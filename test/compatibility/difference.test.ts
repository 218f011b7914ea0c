import { describe, expect, test, vi } from 'vitest';
import { compare, inLines, questions, verdictOf } from '../support/compatibility/difference.ts';
import { judgeReplies } from '../support/compatibility/judge.ts';
import { blackouts } from '../support/compatibility/known-open.ts';
import { fieldVariations, wireVariations } from '../support/compatibility/wire.ts';
import type { Answer } from '../support/hosts.ts';

/** Every fortieth; `compatibility-difference.slow.test.ts` has all of them, pairs, and fields at random. */
const selected = wireVariations.filter((_, index) => index % 40 === 7);

vi.setConfig({ maxConcurrency: 2 });

describe.concurrent('the answers to all questions are the same, or say what is missing', () => {
  test.for(selected)('$group: $name', async (variation, { expect }) => {
    const compared = await judgeReplies(variation);
    const expected = blackouts.has(variation.name) ? ['blackout'] : ['right', 'honest'];
    expect(expected, inLines(compared)).toContain(verdictOf(compared, variation.mayFail));
  });
});

test('the variations that cannot be answered exist, and are few', () => {
  const names = [...wireVariations, ...fieldVariations].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining([...blackouts]));
  expect(blackouts.size).toBeLessThanOrEqual(5);
  expect(wireVariations.length).toBeGreaterThanOrEqual(250);
});

describe('the judge', () => {
  const [question] = questions;
  const answer = (text: string, data: object) => ({ text, data, isError: false }) as Answer;
  const usual = answer('Only "Acme". 3 deals.', { open: { count: 3, monthly: 20 } });

  test.each([
    ['Only "Acme". 3 deals.', { open: { count: 3, monthly: 20 } }, 'right'],
    ['Only "Acme". 2 deals.', { open: { count: 2, monthly: 20 } }, 'wrong'],
    ['At least 2 deals of "Acme".', { open: { count: 2 } }, 'honest'],
    ['3 deals. The monthly revenue is unknown.', { open: { count: 3 } }, 'quiet'],
    ['3 deals, monthly revenue unknown.', { open: { count: 3 } }, 'honest'],
  ] as const)('of "%s" says %j: %s', (text, data, result) => {
    expect(question && compare(question, usual, answer(text, data)).result).toBe(result);
  });
});
