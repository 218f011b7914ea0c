/** The lists of records that several views have. */
import { useState } from 'preact/hooks';
import type { Arguments, ReadTool } from '../shell/bridge.ts';
import { type Formats, unknownCurrency, useFormats } from '../shell/format.ts';
import { ActionButton, Failed } from '../shell/parts.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import { type DealRow, type Open, opensIn, type QuoteRow } from './entries.ts';

interface Props<Row> {
  rows: readonly Row[];
  open(row: Row): void;
  label?: string | undefined;
}

export const amountColumn = <Row extends { currency?: string | undefined }>(
  title: string,
  value: (row: Row) => number | undefined,
): TableColumn<Row> => ({
  title,
  kind: 'main',
  value,
  cell: (row, { money }) => amountText(value(row), row.currency, money),
});

/** An amount that is not known is not zero. */
export const amountText = (
  amount: number | undefined,
  currency: string | undefined,
  money: Formats['money'],
): string => (amount === undefined ? 'Unknown' : money(amount, currency ?? unknownCurrency));

export const textColumn = <Key extends string>(title: string, key: Key) => ({
  title,
  value: (row: { [K in Key]?: string | undefined }) => row[key],
  cell: (row: { [K in Key]?: string | undefined }) => row[key] && <bdi>{row[key]}</bdi>,
});

export const dayColumn = <Key extends string>(title: string, key: Key) => ({
  title,
  kind: 'day' as const,
  value: (row: { [K in Key]?: string | undefined }) => row[key],
  cell: (row: { [K in Key]?: string | undefined }, { day }: Formats) => row[key] && day(row[key]),
});

export const nameColumn = {
  title: 'Opportunity',
  value: ({ name }: DealRow) => name,
  cell: ({ name, id }: DealRow) => <bdi>{name ?? id ?? 'Unnamed'}</bdi>,
};

/** The columns that any of the rows has. */
const withValues = <Row,>(columns: readonly TableColumn<Row>[], rows: readonly Row[]) =>
  columns.filter(({ value }) => rows.some((row) => value?.(row) !== undefined));

export function DealRows({ rows, open, label = 'Opportunities' }: Props<DealRow>) {
  const columns: TableColumn<DealRow>[] = [
    nameColumn,
    textColumn('Company', 'company'),
    textColumn('Stage', 'stage'),
    textColumn('Owner', 'owner'),
    textColumn('Outcome', 'outcome'),
    dayColumn('Expected close', 'closes'),
    dayColumn('Closed', 'closed'),
    {
      title: 'Days to close',
      kind: 'num',
      value: ({ daysToClose }) => daysToClose,
      cell: ({ daysToClose }, { number }) => daysToClose !== undefined && number(daysToClose),
    },
    amountColumn('Total contract value', ({ value }) => value),
  ];
  return (
    <Table
      {...{ label, rows, open }}
      columns={withValues(columns, rows)}
      keyOf={({ id, name = '' }) => id ?? name}
      sortedBy="Total contract value"
    />
  );
}

/** Opens a list of deals, which open themselves. */
export const showDeals = (open: Open, label: string, rows: readonly DealRow[]): void =>
  open({
    kind: 'rows',
    title: label,
    body: () => <DealRows {...{ rows, label }} open={opensIn(open, 'opportunity', rows)} />,
  });

/** Opens the deals that a call of `cpq_brief_pipeline` lists. */
export const showPages = (open: Open, host: Host, label: string, args: Arguments): void =>
  open({
    kind: 'rows',
    title: label,
    body: () => (
      <DealPages {...{ host, args, label }} open={(rows) => opensIn(open, 'opportunity', rows)} />
    ),
  });

export function QuoteRows({ rows, open, label = 'Quotes' }: Props<QuoteRow>) {
  const columns: TableColumn<QuoteRow>[] = [
    {
      title: 'Quote',
      value: ({ number, name }) => number ?? name,
      cell: ({ number, name, id }) => (
        <bdi>{[number, name].filter(Boolean).join(' · ') || (id ?? 'Unnamed')}</bdi>
      ),
    },
    textColumn('Customer', 'company'),
    textColumn('Owner', 'owner'),
    textColumn('Status', 'status'),
    dayColumn('Sent', 'sent'),
    amountColumn('One-time', ({ oneTime }) => oneTime),
    amountColumn('Monthly', ({ monthly }) => monthly),
    amountColumn('Yearly', ({ yearly }) => yearly),
    dayColumn('Valid until', 'expires'),
  ];
  return (
    <Table
      {...{ label, rows, open }}
      columns={withValues(columns, rows)}
      keyOf={({ id, number = '' }) => id ?? number}
    />
  );
}

interface Page {
  records: DealRow[];
  page: { total: number; next?: number };
}

interface ListProps {
  label?: string | undefined;
  host: Host;
  /** Of `cpq_brief_pipeline`; asks for a list of deals. */
  args: Arguments;
  first?: Partial<Page>;
  open(rows: readonly DealRow[]): (row: DealRow) => void;
}

/** The deals that a call lists, page by page as they are asked for. */
export function DealPages({ host, args, first, open, label }: ListProps) {
  const { number } = useFormats();
  const [more, setMore] = useState<Page>();
  const tool: ReadTool = 'cpq_brief_pipeline';
  const call = (from: number) => ({ ...args, deals_from: from, rows: 100 });
  const { answer, failed, retry } = useAnswer<Page>(
    host,
    tool,
    first?.records ? undefined : call(0),
    [JSON.stringify(args)],
  );
  const start = first?.records ? first : answer;
  if (failed) return <Failed reason={failed} retry={retry} />;
  if (!start?.records) return <p role="status">Reading the opportunities…</p>;
  const rows = [...start.records, ...(more?.records ?? [])];
  const { total = rows.length, next } = (more ?? start).page ?? {};
  if (total === 0) return <p class="empty">No opportunity was closed in this period.</p>;
  const readMore = async () => {
    const page = await host.read<Page>(tool, call(next ?? 0));
    setMore({ ...page, records: [...(more?.records ?? []), ...page.records] });
  };
  return (
    <>
      <p class="about" role="status">{`${number(rows.length)} of ${number(total)} shown.`}</p>
      {rows.length > 0 && <DealRows {...{ rows, label }} open={open(rows)} />}
      {host.canRead && next !== undefined && (
        <ActionButton text="Show more" busyText="Reading…" run={readMore} />
      )}
    </>
  );
}
