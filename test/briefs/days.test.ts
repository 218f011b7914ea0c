import { expect, test } from 'vitest';
import { dayOf } from '../../src/figures/days.ts';
import fc from '../support/fast-check.ts';

/** Another way to read it: by a pattern, and by the calendar of the language. */
function dayByPattern(text: string): string | undefined {
  const [day] = /^\d{4}-\d{2}-\d{2}(?!\d)/.exec(text) ?? [];
  const date = day === undefined ? undefined : new Date(`${day}T00:00:00Z`);
  const isDay = date && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day ?? '');
  return isDay ? day : undefined;
}

test('any text is read as by a pattern and a calendar', () => {
  const digits = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123a-'), minLength: length - 1, maxLength: length });
  const almost = fc
    .tuple(digits(4), digits(2), digits(2), fc.constantFrom('', 'T00:00', '0', ' '))
    .map(([year, month, day, rest]) => `${year}-${month}-${day}${rest}`);
  const real = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  fc.assert(
    fc.property(fc.oneof(almost, real, fc.string()), (text) => {
      expect(dayOf(text)).toBe(dayByPattern(text));
    }),
    { numRuns: 500 },
  );
});
