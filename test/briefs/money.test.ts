import { describe, expect, test } from 'vitest';
import {
  currencyOfRecord,
  decimal,
  formatAmount,
  margin,
  perUnit,
  rounded,
  roundedPercent,
  zero,
} from '../../src/figures/money.ts';
import { overYear, termKey, termOf } from '../../src/figures/terms.ts';

const of = (value: number) => decimal(value) ?? zero;

describe('margin', () => {
  test('is unknown without a price or a cost, and where it would divide by 0', () => {
    expect(margin(undefined, of(1))).toBeUndefined();
    expect(margin(of(1), undefined)).toBeUndefined();
    expect(margin(of(0), of(1))).toBeUndefined();
    expect(margin(of(-1), of(198.23))).toBeUndefined();
    expect(margin(of(10), of(0))).toBe(100);
    expect(margin(of(0.5), of(0.2))).toBe(60);
  });
});

describe('the currency of a record', () => {
  const companies = new Map([['c', 'EUR']]);
  test.each<[unknown, string]>([
    [undefined, 'EUR'],
    ['', 'EUR'],
    [' usd ', 'USD'],
    [{ code: 'USD' }, 'USD'],
    ['$', 'unknown currency'],
    ['US Dollar', 'unknown currency'],
    [{}, 'EUR'],
    [{ code: null }, 'EUR'],
    [' ', 'EUR'],
  ])('%j is %s, with a company of euros', (currency, expected) => {
    expect(currencyOfRecord({ company: { id: 'c' }, currency }, companies)).toBe(expected);
  });
});

describe('decimals', () => {
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
    expect(perUnit(of(0.00375))).toBe(0.00375);
    expect(perUnit(of(1.00375))).toBe(1.0038);
    expect(perUnit(of(-0.000123456))).toBe(-0.0001235);
    expect(perUnit(of(-1234.56789))).toBe(-1234.5679);
    expect(perUnit(of(0.0123456))).toBe(0.0123);
  });
});

test.each([
  [0.0000002, '0.0000002 USD'],
  [-0.0000166667, '-0.00001667 USD'],
  [0.0123456, '0.012346 USD'],
  [1234.5, '1,234.50 USD'],
  [0, '0 USD'],
])('%d as text', (amount, text) => {
  expect(formatAmount(amount, 'USD')).toBe(text);
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
    [' - ', 'other'],
    ['/', 'other'],
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
