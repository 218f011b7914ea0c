import { Big } from 'big.js';
import { describe, expect, test } from 'vitest';
import { Decimal } from '../../src/figures/decimal.ts';
import fc from '../support/fast-check.ts';

/** Amounts as services send them, and numbers at and beyond what is exact as an integer. */
const number = fc.oneof(
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((cents) => cents / 100),
  fc.integer({ min: -1_000, max: 1_000 }),
  fc.constantFrom(0, -0, 0.1, 1.005, -1.005, 0.5, 999_999.995, 100, 1e15, 2 ** 53, -(2 ** 53) + 1),
  fc.constantFrom(0.1 + 0.2, 1 / 3, 1e-7, 1.23e-10, 1e21, 9_007_199_254_740.99, 5e-324, 1e300),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e18, max: 1e18 }),
);

const operations = ['plus', 'minus', 'times', 'div', 'round', 'abs'] as const;
type Step = readonly [operation: (typeof operations)[number], operand: number, places: number];
const step = fc.tuple(fc.constantFrom(...operations), number, fc.nat({ max: 6 }));

Big.DP = 20;
Big.RM = Big.roundHalfUp;

const applied = <D extends Decimal | Big>(
  value: D,
  [operation, operand, places]: Step,
  of: (value: number) => D,
): D => {
  // Both types have these methods, but TypeScript cannot call a method of either.
  const it = value as unknown as Decimal;
  const other = of(operand) as unknown as Decimal;
  const result = {
    plus: () => it.plus(other),
    minus: () => it.minus(other),
    times: () => it.times(other),
    div: () => (operand === 0 ? it : it.div(other)),
    round: () => it.round(places),
    abs: () => it.abs(),
  }[operation]();
  return result as unknown as D;
};

describe('a decimal', () => {
  test('is what the library computes, after any operations', () => {
    fc.assert(
      fc.property(number, fc.array(step, { maxLength: 6 }), number, (start, steps, last) => {
        let [ours, theirs] = [Decimal.of(start), new Big(start)];
        for (const each of steps) {
          ours = applied(ours, each, Decimal.of);
          theirs = applied(theirs, each, (value) => new Big(value));
          expect(ours.toNumber() + 0).toBe(theirs.toNumber() + 0);
          expect(ours.cmp(last)).toBe(theirs.cmp(last));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('is exact beyond the integers that a number holds', () => {
    const large = Decimal.of(2 ** 53 - 1);
    expect(large.plus(2).minus(large).toNumber()).toBe(2);
    expect(large.times(large).minus(large.times(large).minus(1)).toNumber()).toBe(1);
    expect(large.plus(0.01).minus(large).toNumber()).toBe(0.01);
    expect(large.plus(0.01).gt(large)).toBe(true);
    const micro = Decimal.of(0.000001);
    const smallest = micro.times(micro).times(micro).times(0.01);
    expect(smallest.toNumber()).toBe(1e-20);
    expect(smallest.div(3).toNumber()).toBe(0);
  });

  test('is divided by numbers that look like a hundred', () => {
    const ten = Decimal.of(5.5).plus(4.5);
    const one = Decimal.of(0.25).plus(0.75);
    expect([ten, one, 100].map((by) => Decimal.of(7).div(by).toNumber())).toEqual([0.7, 7, 0.07]);
    expect(Decimal.of(202).div(101).toNumber()).toBe(2);
  });

  test('compares with numbers and decimals', () => {
    const one = Decimal.of(1.1);
    expect([one.eq(1.1), one.lt(1.1), one.gt(1), one.lt(Decimal.of(1.11))]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
});
