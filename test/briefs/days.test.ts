import { expect, test } from 'vitest';
import { dayOf } from '../../src/figures/days.ts';
import fc from '../support/fast-check.ts';

test('a day is read from a date or a time, and from nothing that only looks like one', () => {
  expect(dayOf('2026-02-28')).toBe('2026-02-28');
  expect(dayOf('2024-02-29T23:59:59+02:00')).toBe('2024-02-29');
  expect(dayOf('2026-01-01 08:00')).toBe('2026-01-01');
  for (const text of ['2026-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '2026-01-011'])
    expect(dayOf(text)).toBeUndefined();
  for (const text of [undefined, '', '2026', '26-01-01', 'abcd-01-01', '2026-0a-01', '2026/01/01'])
    expect(dayOf(text)).toBeUndefined();
  for (const text of ['2026/01-01', '2026-01/01', '2026-0:-01', '2026-01-0:'])
    expect(dayOf(text)).toBeUndefined();
});

test('every month has its days', () => {
  for (const year of ['2023', '2024'])
    for (let month = 1; month <= 12; month++)
      for (let day = 28; day <= 32; day++) {
        const text = `${year}-${String(month).padStart(2, '0')}-${day}`;
        expect(dayOf(text), text).toBe(dayByPattern(text));
      }
});

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
