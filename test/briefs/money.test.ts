import { describe, expect, test } from 'vitest';
import {
  CurrencySums,
  currenciesOf,
  currencyOfRecord,
  decimal,
  lessPercent,
  margin,
  perUnit,
  rounded,
  roundedPercent,
  zero,
} from '../../src/figures/money.ts';
import { overYear, termKey, termOf } from '../../src/figures/terms.ts';

const of = (value: number) => decimal(value) ?? zero;

describe('margin', () => {
  test('is taken from the price', () => {
    // A profit of 25 is a fifth of the price.
    expect(margin(of(125), of(100))?.toNumber()).toBe(20);
  });

  test('is negative below cost', () => {
    expect(margin(of(80), of(100))?.toNumber()).toBe(-25);
  });

  test('is unknown without a price or a cost, and where it would divide by 0', () => {
    expect(margin(undefined, of(1))).toBeUndefined();
    expect(margin(of(1), undefined)).toBeUndefined();
    expect(margin(of(0), of(1))).toBeUndefined();
    expect(margin(of(-1), of(198.23))).toBeUndefined();
    expect(margin(of(10), of(0))?.toNumber()).toBe(100);
    expect(margin(of(0.5), of(0.2))?.toNumber()).toBe(60);
  });
});

describe('decimals', () => {
  test('adds cents that binary floats cannot', () => {
    expect(of(0.1).plus(of(0.2)).eq(0.3)).toBe(true);
    const sums = new CurrencySums();
    for (let at = 0; at < 1000; at++) sums.add('EUR', of(0.1));
    expect(sums.of('EUR')?.eq(100)).toBe(true);
  });

  test('treats a missing number as unknown', () => {
    expect(decimal(undefined)).toBeUndefined();
    expect(decimal(Number.NaN)).toBeUndefined();
    expect(decimal(Number.POSITIVE_INFINITY)).toBeUndefined();
    expect(decimal(0)?.toNumber()).toBe(0);
  });

  test('rounds half away from zero, at the end', () => {
    expect(rounded(of(1.005))).toBe(1.01);
    expect(rounded(of(-1.005))).toBe(-1.01);
    expect(rounded(of(2.344999))).toBe(2.34);
    expect(roundedPercent(of(33.35))).toBe(33.4);
    expect(perUnit(of(0.00375))).toBe(0.0038);
  });

  test('writes no number that JSON cannot represent', () => {
    for (const zero of [-0, -0.001]) expect(Object.is(rounded(of(zero)), 0)).toBe(true);
    expect(rounded(of(1e300).times(1e300))).toBe(Number.MAX_VALUE);
    expect(rounded(of(-1e300).times(1e300))).toBe(-Number.MAX_VALUE);
  });

  test('subtracts a discount in percent', () => {
    expect(lessPercent(of(19.99), of(15)).toNumber()).toBe(16.9915);
    expect(lessPercent(of(80), of(100)).toNumber()).toBe(0);
    expect(lessPercent(of(80), of(-10)).toNumber()).toBe(88);
  });
});

describe('terms', () => {
  test.each([
    [undefined, 'one-time'],
    ['', 'one-time'],
    ['  ', 'one-time'],
    ['one-time', 'one-time'],
    ['One Time', 'one-time'],
    ['ONETIME', 'one-time'],
    ['once', 'one-time'],
    ['month', 'monthly'],
    ['Months', 'monthly'],
    ['monthly', 'monthly'],
    ['MO', 'monthly'],
    ['per month', 'monthly'],
    ['/month', 'monthly'],
    ['year', 'yearly'],
    ['Yearly', 'yearly'],
    ['annual', 'yearly'],
    ['annually', 'yearly'],
    ['per year', 'yearly'],
    ['yr', 'yearly'],
    ['quarter', 'other'],
    ['3 months', 'other'],
    ['constructor', 'other'],
  ])('reads %j as %s', (text, term) => {
    expect(termOf(text)).toBe(term);
  });

  test('keeps the text of an unknown term', () => {
    expect(termKey({ term: ' Per_Quarter ' })).toBe('quarter');
  });

  test('are compared over a year, where their length is known', () => {
    const years = ['one-time', 'monthly', 'yearly', 'quarter'].map((term) =>
      overYear(of(5), term)?.toNumber(),
    );
    expect(years).toEqual([5, 60, 5, undefined]);
  });
});

describe('currencies', () => {
  const currencyOf = currenciesOf([
    { id: 'de', currency: ' eur ' },
    { id: 'us', currency: 'USD' },
    { id: 'blank', currency: '' },
    { id: 'words', currency: 'Euro' },
    { currency: 'CHF' },
  ]);

  test("uses the record's own, then its company's, then none", () => {
    expect(currencyOfRecord({ currency: 'gbp', company: { id: 'de' } }, currencyOf)).toBe('GBP');
    expect(currencyOfRecord({ company: { id: 'de', currency: 'SEK' } }, currencyOf)).toBe('SEK');
    expect(currencyOfRecord({ company: { id: 'de' } }, currencyOf)).toBe('EUR');
    expect(currencyOfRecord({ company: { id: 'blank' } }, currencyOf)).toBe('unknown currency');
    expect(currencyOfRecord({ company: { id: 'words' } }, currencyOf)).toBe('unknown currency');
    expect(currencyOfRecord({ company: { name: 'No id' } }, currencyOf)).toBe('unknown currency');
    expect(currencyOfRecord({}, currencyOf)).toBe('unknown currency');
  });

  test('keeps sums separate, and leaves out unknown values', () => {
    const sums = new CurrencySums();
    expect(sums.toAmounts()).toBeUndefined();
    sums.add('USD', of(5));
    sums.add('EUR', of(7));
    sums.add('EUR', undefined);
    sums.add('CHF', undefined);
    expect(sums.toAmounts()).toEqual({ EUR: 7, USD: 5 });
    expect(Object.keys(sums.toAmounts() ?? {})).toEqual(['EUR', 'USD']);
  });

  test('ranks by the largest sum of any one currency', () => {
    const sums = new CurrencySums();
    expect(sums.largest).toBe(0);
    sums.add('EUR', of(0.5));
    sums.add('CHF', of(0.2));
    expect(sums.largest).toBe(0.5);
  });

  test('shows a known 0', () => {
    const sums = new CurrencySums();
    sums.add('EUR', of(0));
    expect(sums.toAmounts()).toEqual({ EUR: 0 });
  });
});
