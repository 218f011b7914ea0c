import type { CurrencyOf } from '../figures/money.ts';
import { fieldOf } from '../values.ts';

/** Names and currencies from other records, as far as they are known. */
export interface Known {
  currencyOf: Pick<CurrencyOf, 'get'>;
  nameOf(kind: 'category' | 'company' | 'person', id: string | undefined): string | undefined;
}

export const nothingKnown: Known = { currencyOf: new Map(), nameOf: () => undefined };

export interface Column<R> {
  value(record: R, known: Known): unknown;
  /** What filters compare, where it is not what is shown. */
  compared?(record: R, known: Known): unknown;
  /** What is sorted by, where it is not what filters compare. */
  ordered?(record: R): unknown;
  /** What a filter may name instead, such as the part number of a product. */
  alternatives?(record: R): readonly (string | undefined)[];
  /** The field by which the service filters for equal texts; without it the filter is applied here. */
  filter?: string;
  /** The field by which the service sorts; without it the order is made here. */
  sort?: string;
  /** The collections without which the value may be unknown. */
  needs?: readonly ('company' | 'opportunity' | 'product')[];
  /** Only deleted records have a value. */
  isMark?: true;
  /** Not in the concise form; for `fields`, filters and sort only. */
  hidden?: true;
}

export type Columns<R> = Readonly<Record<string, Column<R>>>;

function reader(path: string): (record: unknown) => unknown {
  const [field = '', inner] = path.split('.');
  return (record) => {
    const value = fieldOf(record, field);
    return inner === undefined ? value : fieldOf(value, inner);
  };
}

/** A text that the service filters and sorts by. */
export const text = (path: string): Column<unknown> => ({
  value: reader(path),
  filter: path,
  sort: path,
});
export const number = (path: string): Column<unknown> => ({ value: reader(path), sort: path });
/** The day of a time; sorted by the time itself. Services store times in several forms, so filters are applied here. */
export function date(path: string): Column<unknown> {
  const read = reader(path);
  return { value: (record) => dayOfTime(read(record)), ordered: read, sort: path };
}
export const hidden = (column: Column<unknown>): Column<unknown> => ({ ...column, hidden: true });

/** The day of a timestamp, as written; anything that is not a date is returned unchanged. */
export const dayOfTime = (time: unknown): unknown =>
  typeof time === 'string' && /^\d{4}-\d{2}-\d{2}/.test(time) ? time.slice(0, 10) : time;

/** The id of a reference, shown where it has no name. */
export function referenceId(field: string): Column<unknown> {
  const read = reader(field);
  const id = reader(`${field}.id`);
  return {
    value: (record) => (fieldOf(read(record), 'name') === undefined ? id(record) : undefined),
    compared: id,
    filter: `${field}.id`,
  };
}
