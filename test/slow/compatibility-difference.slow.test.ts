import { describe, expect, test, vi } from 'vitest';
import { inLines, verdictOf } from '../support/compatibility/difference.ts';
import { judgeReplies } from '../support/compatibility/judge.ts';
import { blackouts } from '../support/compatibility/known-open.ts';
import {
  fieldVariations,
  pairOf,
  type WireVariation,
  wireVariations,
} from '../support/compatibility/wire.ts';
import fc from '../support/fast-check.ts';

/**
 * Each variation of the replies, pairs of them, and any field renamed, reshaped or removed: every question has the answer of
 * the documented service, or one whose first sentence says what is missing.
 */

vi.setConfig({ maxConcurrency: 2 });

const isAnswered = ({ name }: WireVariation): boolean => !blackouts.has(name);

async function expectHonest(variation: WireVariation): Promise<void> {
  const compared = await judgeReplies(variation);
  const verdict = verdictOf(compared, variation.mayFail);
  expect(['right', 'honest'], `${variation.name}\n${inLines(compared)}`).toContain(verdict);
}

describe.concurrent('the answers to all questions are the same, or say what is missing', () => {
  test.for(wireVariations.filter(isAnswered))('$group: $name', expectHonest);
});

test.for(wireVariations.filter(({ name }) => blackouts.has(name)))(
  '$group: $name fails',
  async (variation) => {
    const compared = await judgeReplies(variation);
    expect(verdictOf(compared, variation.mayFail), inLines(compared)).toBe('blackout');
  },
);

/** Of different groups: two envelopes exclude each other. */
const pairs = fc
  .tuple(
    fc.constantFrom(...wireVariations.filter(isAnswered)),
    fc.constantFrom(...wireVariations.filter(isAnswered)),
  )
  .filter(([one, other]) => one.group !== other.group)
  .map(([one, other]) => pairOf(one, other));

test('pairs at random', () =>
  fc.assert(fc.asyncProperty(pairs, expectHonest), { numRuns: 40, endOnFailure: true }));

test('any field renamed, reshaped or removed', () =>
  fc.assert(
    fc.asyncProperty(fc.constantFrom(...fieldVariations.filter(isAnswered)), expectHonest),
    {
      numRuns: 60,
      endOnFailure: true,
    },
  ));
