import { Big } from 'big.js';
import type { Cell, SqlRow } from './sql.ts';

// Enough digits that a quotient is rounded only once, at the end.
Big.DP = 40;

/** The number in a cell; undefined if there is none, or it cannot be read. */
export function known(cell: Cell | undefined): Big | undefined {
  const text = String(cell ?? '').trim();
  return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? new Big(text) : undefined;
}

export const numberIn = (row: SqlRow, column: string): Big | undefined => known(row[column]);

/** Some columns of numbers. */
export const numbersIn = <Column extends string>(row: SqlRow, columns: readonly Column[]) =>
  Object.fromEntries(columns.map((column) => [column, numberIn(row, column)])) as Record<
    Column,
    Big | undefined
  >;

export const rounded = (value: Big, places = 2): number =>
  Number(value.round(places, Big.roundHalfUp).toString());

export const roundedOr = (value: Big | undefined, places = 2): number | undefined =>
  value && rounded(value, places);

/** The sum of the known values; undefined if none is known. */
export function sumOf(values: readonly (Big | undefined)[]): Big | undefined {
  const all = values.filter((value) => value !== undefined);
  return all.length === 0 ? undefined : all.reduce((sum, value) => sum.plus(value), new Big(0));
}

/** A rounded sum for each currency; undefined if nothing is known. */
export function sumsBy<T extends { currency: string }>(
  rows: readonly T[],
  amount: (row: T) => Big | undefined,
): Record<string, number> | undefined {
  return roundedAll(bigSumsBy(rows, amount));
}

export function roundedAll(sums: ReadonlyMap<string, Big>): Record<string, number> | undefined {
  const entries = [...sums].map(([currency, sum]) => [currency, rounded(sum)]);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** What percentage of each sum the parts are, to one decimal. */
export function percentages(parts: ReadonlyMap<string, Big>, wholes: ReadonlyMap<string, Big>) {
  const entries = [...wholes]
    .filter(([, whole]) => whole.gt(0))
    .map(([it, whole]) => [it, rounded((parts.get(it) ?? new Big(0)).times(100).div(whole), 1)]);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

export function bigSumsBy<T extends { currency: string }>(
  rows: readonly T[],
  amount: (row: T) => Big | undefined,
): Map<string, Big> {
  const sums = new Map<string, Big>();
  for (const row of rows) {
    const value = amount(row);
    if (value) sums.set(row.currency, (sums.get(row.currency) ?? new Big(0)).plus(value));
  }
  return sums;
}

/** (price − cost) / price in percent, to one decimal. */
export function marginOf(price: Big | undefined, cost: Big | undefined): number | undefined {
  if (!price || !cost || price.lte(0)) return undefined;
  return rounded(price.minus(cost).div(price).times(100), 1);
}
