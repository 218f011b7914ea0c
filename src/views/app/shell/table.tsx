// biome-ignore-all lint/a11y/noRedundantRoles: CSS shows these tables as blocks on a phone, which removes their implicit roles
/** The one table of all views: sorted by any column, rows that open, and a block for each row where it is too wide. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Formats, useFormats } from './format.ts';
import { type Sortable, sortedRows, type TableOrder } from './sort.ts';
import { useNarrow } from './use-narrow.ts';

export interface TableColumn<Row> extends Sortable<Row> {
  /** `main` stands beside the first column of a block: an amount; `row-name` names the row. */
  kind?: 'num' | 'main' | 'day' | 'text' | 'row-name';
  /** Such as `internal`, for what is in no copy for a customer. */
  class?: string;
  cell(row: Row, formats: Formats): ComponentChildren;
}

interface Props<Row> {
  /** Names the table to screen readers; a caption to all. */
  label: string;
  caption?: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** The title of the column that it is sorted by at first, in descending order; without it, rows stay as they are. */
  sortedBy?: string;
  /** Makes a button of the first column. */
  open?: ((row: Row, sorted: readonly Row[]) => void) | undefined;
  selected?: string | undefined;
  attributesOf?(row: Row): { class: string; [data: `data-${string}`]: unknown };
  footer?: ComponentChildren;
  /** All rows at once: a copy for a customer has no further page. */
  isWhole?: boolean;
}

const rowsPerPage = 200;

export function Table<Row>(props: Props<Row>) {
  const { label, columns, rows, keyOf, sortedBy, open, selected, attributesOf, footer, caption } =
    props;
  const { compare, number } = useFormats();
  const [order, setOrder] = useState<TableOrder | undefined>(
    sortedBy === undefined ? undefined : { title: sortedBy, direction: 'descending' },
  );
  const [max, setMax] = useState(props.isWhole ? Number.POSITIVE_INFINITY : rowsPerPage);
  const sorted = sortedRows(rows, columns, order, compare);
  const { region, isStacked } = useStacked(rows);
  return (
    <>
      <div ref={region} class="scroll">
        <table class={isStacked ? 'table stacked' : 'table'} role="table" aria-label={label}>
          {caption && <caption>{caption}</caption>}
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <Heading key={column.title} {...{ column, order, setOrder }} />
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {sorted.slice(0, max).map((row) => (
              <tr
                key={keyOf(row)}
                role="row"
                class={keyOf(row) === selected ? 'selected' : ''}
                {...attributesOf?.(row)}
              >
                {columns.map((column, at) => (
                  <Cell
                    key={column.title}
                    {...{ column, row }}
                    open={at === 0 && open ? () => open(row, sorted) : undefined}
                  />
                ))}
              </tr>
            ))}
          </tbody>
          {footer}
        </table>
      </div>
      {rows.length > max && (
        <button type="button" class="more" onClick={() => setMax(max + 2 * rowsPerPage)}>
          {`Show more (${number(rows.length - max)})`}
        </button>
      )}
    </>
  );
}

/** On a phone, and wherever the table is wider than its place, its rows are blocks. */
function useStacked(rows: readonly unknown[]) {
  const region = useRef<HTMLDivElement>(null);
  const isNarrow = useNarrow();
  const [width, setWidth] = useState({ needed: 0, given: 0 });
  const isStacked = isNarrow || width.given < width.needed;
  useLayoutEffect(() => {
    const { current: it } = region;
    if (!it) return;
    const measure = () =>
      setWidth(({ needed }) => ({
        needed: isStacked ? needed : Math.max(0, it.scrollWidth - 1),
        given: it.clientWidth,
      }));
    const observer = new ResizeObserver(measure);
    observer.observe(it);
    return () => observer.disconnect();
  }, [rows, isStacked]);
  return { region, isStacked };
}

const classOf = <Row,>({ kind, class: more }: TableColumn<Row>): string =>
  `${kind === 'main' ? 'num main' : (kind ?? 'text')}${more ? ` ${more}` : ''}`;

interface CellProps<Row> {
  column: TableColumn<Row>;
  row: Row;
  open: (() => void) | undefined;
}

function Cell<Row>({ column, row, open }: CellProps<Row>) {
  const text = column.cell(row, useFormats()) || '–';
  const className = `${classOf(column)}${text === '–' ? ' none' : ''}`;
  const content = open ? (
    <button type="button" class="link" onClick={open}>
      {text}
    </button>
  ) : (
    text
  );
  return column.kind === 'row-name' ? (
    <th role="rowheader" scope="row" class={className}>
      {content}
    </th>
  ) : (
    <td role="cell" class={className} data-title={column.title}>
      {content}
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
