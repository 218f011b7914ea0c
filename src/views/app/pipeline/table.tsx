/** The same deals as a table, in the order of any column. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { OpenDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import { type Formats, useFormats } from '../shell/format.ts';
import { amountText, Marks } from './card.tsx';
import { type BoardSettings, sortedRows, type TableColumn, type TableOrder } from './deals.ts';

interface Props {
  deals: readonly OpenDeal[];
  settings: BoardSettings;
  amountTitle: string;
  withProfit: boolean;
  selected: string | undefined;
  select(id: string): void;
}

interface ColumnOfTable {
  key: TableColumn;
  title: string;
  isNumber?: boolean;
  cell(deal: OpenDeal, formats: Formats): ComponentChildren;
}

const rowsPerPage = 50;

export function DealTable(props: Props) {
  const { deals, settings } = props;
  const formats = useFormats();
  const [order, setOrder] = useState<TableOrder>({ column: 'amount', direction: 'descending' });
  const [rows, setRows] = useState(rowsPerPage);
  const columns = columnsOfTable(props);
  const sorted = sortedRows(deals, order, settings.measure, formats.compare);
  const remaining = sorted.length - rows;
  return (
    <section aria-labelledby="board" class="board-section">
      <h2 id="board">Opportunities</h2>
      {/* Scrolls sideways on narrow pages, so it has to be reachable by keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable */}
      <section class="scroll" tabIndex={0} aria-label="Opportunities, table">
        <table class="deals">
          <thead>
            <tr>
              {columns.map((column) => (
                <SortHeader key={column.key} {...{ column, order, setOrder }} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, rows).map((deal) => (
              <tr key={deal.id} class={deal.id === props.selected ? 'selected' : ''}>
                {columns.map(({ key, isNumber, cell }) => (
                  <td key={key} class={isNumber ? 'num' : key === 'closes' ? 'day-cell' : ''}>
                    {cell(deal, formats)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {remaining > 0 && (
        <button type="button" class="more" onClick={() => setRows(rows + 4 * rowsPerPage)}>
          {`Show more (${formats.number(remaining)})`}
        </button>
      )}
    </section>
  );
}

interface HeaderProps {
  column: ColumnOfTable;
  order: TableOrder;
  setOrder(order: TableOrder): void;
}

function SortHeader({ column: { key, title, isNumber }, order, setOrder }: HeaderProps) {
  const isSorted = order.column === key;
  const isAscending = isSorted && order.direction === 'ascending';
  // The first click sorts numbers in descending order, texts in ascending order.
  const next = isSorted ? !isAscending : !isNumber;
  return (
    <th
      scope="col"
      class={isNumber ? 'num' : ''}
      aria-sort={isSorted ? order.direction : undefined}
    >
      <button
        type="button"
        class="sort"
        onClick={() => setOrder({ column: key, direction: next ? 'ascending' : 'descending' })}
      >
        {title}
        <span aria-hidden="true">{isSorted ? (isAscending ? ' ↑' : ' ↓') : ''}</span>
      </button>
    </th>
  );
}

function columnsOfTable({ settings, amountTitle, withProfit, select }: Props): ColumnOfTable[] {
  const text = (key: 'company' | 'stage' | 'owner', title: string): ColumnOfTable => ({
    key,
    title,
    cell: (deal) => <bdi>{deal[key]}</bdi>,
  });
  const profit: ColumnOfTable = {
    key: 'profit',
    title: 'Profit',
    isNumber: true,
    cell: ({ profit, currency = '' }, { money }) =>
      profit === undefined ? '–' : money(profit, currency),
  };
  return [
    {
      key: 'name',
      title: 'Opportunity',
      cell: (deal) => <NameCell {...{ deal, settings, select }} />,
    },
    text('company', 'Company'),
    text('stage', 'Stage'),
    text('owner', 'Owner'),
    {
      key: 'closes',
      title: 'Expected close',
      cell: ({ closes }, { day }) => (closes === undefined ? '–' : day(closes)),
    },
    {
      key: 'idleDays',
      title: 'Days unchanged',
      isNumber: true,
      cell: ({ idleDays }, { number }) => (idleDays === undefined ? '–' : number(idleDays)),
    },
    {
      key: 'probability',
      title: 'Probability',
      isNumber: true,
      cell: ({ probability }, { percent }) =>
        probability === undefined ? '–' : percent(probability * 100),
    },
    {
      key: 'amount',
      title: amountTitle,
      isNumber: true,
      cell: (deal, formats) => <strong>{amountText(deal, settings, formats)}</strong>,
    },
    ...(withProfit ? [profit] : []),
  ];
}

function NameCell({
  deal,
  settings,
  select,
}: Pick<Props, 'settings' | 'select'> & { deal: OpenDeal }) {
  const { id, name } = deal;
  return (
    <>
      <button
        type="button"
        class="link"
        data-id={id}
        onClick={() => id !== undefined && select(id)}
      >
        <bdi>{name ?? id ?? 'Unnamed'}</bdi>
      </button>
      <Marks deal={deal} settings={settings} />
    </>
  );
}
