/** The lists of records that several views have. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Deadlines, isLate, isStalled } from '../pipeline/deals.ts';
import type { Arguments, ReadTool } from '../shell/bridge.ts';
import { type Formats, unknownCurrency, useFormats } from '../shell/format.ts';
import { ActionButton, Badge, Failed } from '../shell/parts.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import {
  type DealRow,
  daysLeft,
  daysWaiting,
  type Open,
  opensIn,
  outcomeTones,
  type QuoteRow,
  quoteName,
  stateOf,
  stateTones,
} from './entries.ts';

interface Props<Row> {
  rows: readonly Row[];
  open?: ((row: Row, sorted: readonly Row[]) => void) | undefined;
  label?: string | undefined;
  selected?: string | undefined;
}

/** Of the amounts of a row the main one says where it is unknown. */
export const amountColumn = <Row extends { currency?: string | undefined }>(
  title: string,
  value: (row: Row) => number | undefined,
  kind: 'main' | 'num' = 'main',
): TableColumn<Row> => ({
  title,
  kind,
  value,
  cell: (row, { money }) =>
    (kind === 'main' || value(row) !== undefined) && amountText(value(row), row.currency, money),
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

const dayColumn = <Key extends string>(title: string, key: Key) => ({
  title,
  kind: 'day' as const,
  value: (row: { [K in Key]?: string | undefined }) => row[key],
  cell: (row: { [K in Key]?: string | undefined }, { day }: Formats) => row[key] && day(row[key]),
});

const numberColumn = <Row,>(
  title: string,
  value: (row: Row) => number | undefined,
  text: (value: number, formats: Formats) => string = (it, { number }) => number(it),
): TableColumn<Row> => ({
  title,
  kind: 'num',
  value,
  cell: (row, formats) => {
    const it = value(row);
    return it !== undefined && text(it, formats);
  },
});

export const nameColumn = {
  title: 'Opportunity',
  value: ({ name }: DealRow) => name,
  cell: ({ name, id }: DealRow) => <bdi>{name ?? id ?? 'Unnamed'}</bdi>,
};

/** The columns that any of the rows has. */
const withValues = <Row,>(columns: readonly TableColumn<Row>[], rows: readonly Row[]) =>
  columns.filter(
    ({ kind, value }) => kind === 'main' || rows.some((row) => value?.(row) !== undefined),
  );

const totalValue = { title: 'Total contract value', of: ({ value }: DealRow) => value };

interface DealProps extends Props<DealRow> {
  /** What the amounts are. */
  amount?: { title: string; of(deal: DealRow): number | undefined };
  /** By which overdue and stalled deals are marked. */
  deadlines?: Pick<Deadlines, 'today' | 'stalledAfter'>;
}

export function DealRows({ amount = totalValue, deadlines, label, ...props }: DealProps) {
  const columns: TableColumn<DealRow>[] = [
    nameColumn,
    textColumn('Company', 'company'),
    textColumn('Stage', 'stage'),
    textColumn('Owner', 'owner'),
    {
      title: 'Outcome',
      value: ({ outcome }) => outcome,
      cell: ({ outcome }) =>
        outcome && <Badge tone={outcomeTones[outcome]}>{outcome.replaceAll('_', ', ')}</Badge>,
    },
    {
      ...dayColumn('Expected close', 'closes'),
      cell: (deal, { day }) =>
        deal.closes && (
          <>
            {day(deal.closes)}{' '}
            {deadlines && isLate(deal, deadlines) && <Badge tone="danger">Overdue</Badge>}
          </>
        ),
    },
    dayColumn('Closed', 'closed'),
    numberColumn('Days to close', ({ daysToClose }) => daysToClose),
    {
      ...numberColumn('Days unchanged', ({ idleDays }) => idleDays),
      cell: (deal, { number }) =>
        deal.idleDays !== undefined && (
          <>
            {deadlines && isStalled(deal, deadlines) && <Badge tone="warning">Stalled</Badge>}{' '}
            {number(deal.idleDays)}
          </>
        ),
    },
    numberColumn(
      'Probability',
      ({ probability }) => probability,
      (it, { percent }) => percent(it * 100),
    ),
    amountColumn('Profit', ({ profit }) => profit, 'num'),
    amountColumn(amount.title, amount.of),
  ];
  return (
    <Table
      {...props}
      label={label ?? 'Opportunities'}
      columns={withValues(columns, props.rows)}
      keyOf={({ id, name = '' }) => id ?? name}
      sortedBy={amount.title}
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

const daysText = (days: number, { counted }: Formats): string =>
  days === 0 ? 'today' : days > 0 ? `in ${counted(days, 'day')}` : `${counted(-days, 'day')} ago`;

interface QuoteProps extends Props<QuoteRow> {
  /** Without it, quotes have the day of their expiry only. */
  today?: string | undefined;
  /** What must be fixed, by the id of the quote, as far as it was read. */
  stops?: ReadonlyMap<string, number> | undefined;
}

export function QuoteRows({ today, stops, label, ...props }: QuoteProps) {
  const columns: TableColumn<QuoteRow>[] = [
    { title: 'Quote', value: quoteName, cell: (row) => <bdi>{quoteName(row)}</bdi> },
    textColumn('Customer', 'company'),
    textColumn('Owner', 'owner'),
    {
      title: 'State',
      value: stateOf,
      cell: (row) => <Badge tone={stateTones[stateOf(row)]}>{stateOf(row)}</Badge>,
    },
    textColumn('Reason', 'reason'),
    numberColumn('Must fix', ({ id = '' }) => stops?.get(id)),
    dayColumn('Sent', 'sent'),
    ...(today === undefined
      ? [dayColumn('Valid until', 'expires')]
      : [
          numberColumn('Days waiting', (row: QuoteRow) => daysWaiting(row, today)),
          numberColumn('Expiry', (row: QuoteRow) => daysLeft(row, today), daysText),
        ]),
    ...(props.rows.some(({ firstYearValue }) => firstYearValue !== undefined)
      ? [amountColumn('First-year value', ({ firstYearValue }: QuoteRow) => firstYearValue)]
      : [
          amountColumn('Monthly', ({ monthly }: QuoteRow) => monthly, 'num'),
          amountColumn('Yearly', ({ yearly }: QuoteRow) => yearly, 'num'),
          // A quote without one-time items has no such amount, and not an unknown one.
          {
            ...amountColumn('One-time', ({ oneTime }: QuoteRow) => oneTime, 'num'),
            kind: 'main',
          } as const,
        ]),
  ];
  return (
    <Table
      {...props}
      label={label ?? 'Quotes'}
      columns={withValues(columns, props.rows)}
      keyOf={({ id, number = '' }) => id ?? number}
    />
  );
}

/** Opens a quote of a list, with the others before and after. */
export const opensQuoteIn = (open: Open, rows: readonly QuoteRow[]) => {
  return ({ id }: QuoteRow, sorted = rows): void => {
    const among = sorted.map((row) => ({ id: row.id, name: quoteName(row) }));
    const found = among.find((other) => other.id === id);
    if (found) opensIn(open, 'quote', among)(found);
  };
};

interface Page<Row> {
  rows: Row[];
  /** Unknown where only some rows of the pages are shown. */
  total: number | undefined;
  next?: number | undefined;
}

interface PagesProps<Answer, Row> {
  host: Host;
  tool: ReadTool;
  /** The arguments of the page that begins at this row. */
  call(from: number): Arguments;
  pageOf(answer: Answer): Page<Row>;
  /** What is known before anything is read. */
  first?: Page<Row> | undefined;
  draw(rows: Row[], first: Answer | undefined): ComponentChildren;
}

/** The rows that a tool lists, page by page as they are asked for. */
export function Pages<Answer extends object, Row>(props: PagesProps<Answer, Row>) {
  const { host, tool, call, pageOf, first, draw } = props;
  const { number } = useFormats();
  const [more, setMore] = useState<Page<Row>>();
  const { answer, failed, retry } = useAnswer<Answer>(host, tool, first ? undefined : call(0));
  if (failed) return <Failed reason={failed} retry={retry} />;
  const start = first ?? (answer && pageOf(answer));
  if (!start) return <p role="status">Reading…</p>;
  const rows = [...start.rows, ...(more?.rows ?? [])];
  const { total, next } = more ?? start;
  const readMore = async () => {
    const page = pageOf(await host.read<Answer>(tool, call(next ?? 0)));
    setMore({ ...page, rows: [...(more?.rows ?? []), ...page.rows] });
  };
  return (
    <>
      <p class="about" role="status">
        {total === undefined
          ? `${number(rows.length)} shown${next === undefined ? '' : '; there may be more'}.`
          : `${number(rows.length)} of ${number(total)} shown.`}
      </p>
      {rows.length > 0 && draw(rows, answer)}
      {host.canRead && next !== undefined && (
        <ActionButton text="Show more" busyText="Reading…" run={readMore} />
      )}
    </>
  );
}

interface DealAnswer {
  records?: DealRow[];
  page?: { total: number; next?: number };
}

interface ListProps {
  label?: string | undefined;
  host: Host;
  /** Of `cpq_brief_pipeline`. */
  args: Arguments;
  first?: DealAnswer;
  /** Only these of the deals. */
  keep?: ((deal: DealRow) => boolean) | undefined;
  open: Open;
}

/** The deals that a call lists. */
export function DealPages({ host, args, first = {}, keep, open, label }: ListProps) {
  const pageOf = ({ records = [], page }: DealAnswer): Page<DealRow> => {
    const rows = keep ? records.filter(keep) : records;
    return { rows, total: keep ? undefined : (page?.total ?? rows.length), next: page?.next };
  };
  const given = host.canRead ? undefined : pageOf(first);
  return (
    <Pages
      {...{ host, pageOf }}
      tool="cpq_pipeline_deals"
      call={(from) => ({ ...args, deals_from: from, rows: 500 })}
      first={given}
      draw={(rows) => (
        <DealRows
          {...{ rows, label }}
          open={host.canRead ? opensIn(open, 'opportunity', rows) : undefined}
        />
      )}
    />
  );
}

/** Won or lost; what else was closed counts in no win rate. */
export const isDecided = ({ outcome }: DealRow): boolean => outcome === 'won' || outcome === 'lost';

/** Opens the deals that a call lists. */
export const showPages = (
  open: Open,
  host: Host,
  label: string,
  args: Arguments,
  keep?: ListProps['keep'],
): void =>
  open({
    kind: 'rows',
    title: label,
    body: () => <DealPages {...{ host, args, label, keep, open }} />,
  });

/** The part of an answer of `cpq_brief_quotes` that lists quotes. */
export interface QuotesAnswer {
  today?: string;
  quotes?: Page<QuoteRow>;
}

export const quotePage = ({ quotes = { rows: [], total: 0 } }: QuotesAnswer) => quotes;

/** Opens the quotes that a call of `cpq_brief_quotes` lists. */
export const showQuotes = (open: Open, host: Host, title: string, args: Arguments): void =>
  open({
    kind: 'rows',
    title,
    body: () => (
      <Pages
        host={host}
        tool="cpq_brief_quotes"
        call={(from) => ({ ...args, groups: 0, size: 100, from })}
        pageOf={quotePage}
        draw={(rows, first) => (
          <QuoteRows {...{ rows }} today={first?.today} open={opensQuoteIn(open, rows)} />
        )}
      />
    ),
  });
