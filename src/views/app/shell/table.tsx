// biome-ignore-all lint/a11y/noRedundantRoles: CSS shows these tables as blocks on a phone, which removes their implicit roles
/** The one table of all views: sorted by any column, rows that open, and a block for each row on a phone. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Formats, useFormats } from './format.ts';
import { type Sortable, sortedRows, type TableOrder } from './sort.ts';

export interface TableColumn<Row> extends Sortable<Row> {
  /** `main` stands beside the first column on a phone: an amount or an outcome. */
  kind?: 'num' | 'main' | 'day' | 'text';
  cell(row: Row, formats: Formats): ComponentChildren;
}

interface Props<Row> {
  /** Names the table to screen readers. */
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** The title of the column that it is sorted by at first, in descending order; without it, rows stay as they are. */
  sortedBy?: string;
  /** Makes a button of the first column. */
  open?: ((row: Row) => void) | undefined;
  selected?: string | undefined;
}

const rowsPerPage = 100;

export function Table<Row>(props: Props<Row>) {
  const { label, columns, rows, keyOf, sortedBy, open, selected } = props;
  const { compare, number } = useFormats();
  const [order, setOrder] = useState<TableOrder | undefined>(
    sortedBy === undefined ? undefined : { title: sortedBy, direction: 'descending' },
  );
  const [max, setMax] = useState(rowsPerPage);
  const sorted = sortedRows(rows, columns, order, compare);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable */}
      <section class="scroll" tabIndex={0} aria-label={`${label}, table`}>
        <table class="table" role="table">
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <Heading key={column.title} {...{ column, order, setOrder }} />
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {sorted.slice(0, max).map((row) => (
              <tr key={keyOf(row)} role="row" class={keyOf(row) === selected ? 'selected' : ''}>
                {columns.map((column, at) => (
                  <Cell
                    key={column.title}
                    {...{ column, row }}
                    open={at === 0 ? open : undefined}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > max && (
        <button type="button" class="more" onClick={() => setMax(max + 4 * rowsPerPage)}>
          {`Show more (${number(rows.length - max)})`}
        </button>
      )}
    </>
  );
}

const classOf = <Row,>({ kind }: TableColumn<Row>): string =>
  kind === 'main' ? 'num main' : (kind ?? 'text');

interface CellProps<Row> {
  column: TableColumn<Row>;
  row: Row;
  open: ((row: Row) => void) | undefined;
}

function Cell<Row>({ column, row, open }: CellProps<Row>) {
  const text = column.cell(row, useFormats()) || '–';
  return (
    <td role="cell" class={classOf(column)} data-title={column.title}>
      {open ? (
        <button type="button" class="link" onClick={() => open(row)}>
          {text}
        </button>
      ) : (
        text
      )}
    </td>
  );
}

interface HeadingProps<Row> {
  column: TableColumn<Row>;
  order: TableOrder | undefined;
  setOrder(order: TableOrder): void;
}

function Heading<Row>({ column, order, setOrder }: HeadingProps<Row>) {
  const { title, kind, value } = column;
  const isSorted = order?.title === title;
  const isAscending = isSorted && order.direction === 'ascending';
  // The first click sorts numbers in descending order, texts and days in ascending order.
  const next = isSorted ? !isAscending : kind !== 'num' && kind !== 'main';
  return (
    <th
      role="columnheader"
      scope="col"
      class={classOf(column)}
      aria-sort={isSorted ? order.direction : undefined}
    >
      {value ? (
        <button
          type="button"
          class="sort"
          onClick={() => setOrder({ title, direction: next ? 'ascending' : 'descending' })}
        >
          {title}
          <span aria-hidden="true">{isSorted ? (isAscending ? ' ↑' : ' ↓') : ''}</span>
        </button>
      ) : (
        title
      )}
    </th>
  );
}

/** Amounts of several currencies, one below the other. */
export function Stacked({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return <>–</>;
  return (
    <>
      {lines.map((line) => (
        <bdi key={line} class="line">
          {line}
        </bdi>
      ))}
    </>
  );
}
