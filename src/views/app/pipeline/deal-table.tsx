/** The same deals as a table, in the order of any column. */
import type { OpenDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import { amountColumn, dayColumn, nameColumn, textColumn } from '../records/rows.tsx';
import { Badge } from '../shell/parts.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import { amountOf, type BoardSettings, isLate, isStalled } from './deals.ts';

interface Props {
  deals: readonly OpenDeal[];
  settings: BoardSettings;
  amountTitle: string;
  withProfit: boolean;
  selected: string | undefined;
  select(id: string): void;
}

export function DealTable({ deals, settings, amountTitle, withProfit, selected, select }: Props) {
  const profit = amountColumn('Profit', ({ profit }: OpenDeal) => profit);
  const columns: TableColumn<OpenDeal>[] = [
    nameColumn,
    textColumn('Company', 'company'),
    textColumn('Stage', 'stage'),
    textColumn('Owner', 'owner'),
    {
      ...dayColumn('Expected close', 'closes'),
      cell: (deal, { day }) => (
        <>
          {deal.closes ? day(deal.closes) : '–'}{' '}
          {isLate(deal, settings) && <Badge tone="danger">Overdue</Badge>}
        </>
      ),
    },
    {
      title: 'Days unchanged',
      kind: 'num',
      value: ({ idleDays }) => idleDays,
      cell: (deal, { number }) => (
        <>
          {isStalled(deal, settings) && <Badge tone="warning">Stalled</Badge>}{' '}
          {deal.idleDays === undefined ? '–' : number(deal.idleDays)}
        </>
      ),
    },
    {
      title: 'Probability',
      kind: 'num',
      value: ({ probability }) => probability,
      cell: ({ probability }, { percent }) =>
        probability === undefined ? '–' : percent(probability * 100),
    },
    amountColumn(amountTitle, (deal) => amountOf(deal, settings.measure)),
    ...(withProfit ? [{ ...profit, kind: 'num' as const }] : []),
  ];
  return (
    <section aria-labelledby="board" class="board-section">
      <h2 id="board">Opportunities</h2>
      <Table
        key={amountTitle}
        label="Opportunities"
        columns={columns}
        rows={deals}
        keyOf={({ id = '' }) => id}
        sortedBy={amountTitle}
        selected={selected}
        open={({ id }) => id !== undefined && select(id)}
      />
    </section>
  );
}
