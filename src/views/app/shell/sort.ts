import type { Formats } from './format.ts';

/** A column that rows can be sorted by. */
export interface Sortable<Row> {
  title: string;
  /** Unknown values come last in both directions. */
  value?(row: Row): string | number | undefined;
}

export interface TableOrder {
  title: string;
  direction: 'ascending' | 'descending';
}

/** The rows in the order of a column; rows without a value there come last in both directions. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  order: TableOrder | undefined,
  compareText: Formats['compare'],
): readonly Row[] {
  const cellOf = columns.find(({ title }) => title === order?.title)?.value;
  if (!order || !cellOf) return rows;
  const sign = order.direction === 'ascending' ? 1 : -1;
  return rows.toSorted((one, other) => {
    const [a, b] = [cellOf(one), cellOf(other)];
    if (a === undefined || b === undefined)
      return Number(a === undefined) - Number(b === undefined);
    const difference =
      typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b));
    return sign * difference;
  });
}
