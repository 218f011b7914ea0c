/** Quotes over all customers: what waits, what runs out, and how often and how fast customers agree. */
import { useState } from 'preact/hooks';
import type { QuotesBrief } from '../../../briefs/quotes/quotes.ts';
import { type Entry, opensIn, type QuoteRow } from '../records/entries.ts';
import { RecordPanel } from '../records/panel.tsx';
import { amountColumn, dayColumn, QuoteRows, textColumn } from '../records/rows.tsx';
import type { Arguments } from '../shell/bridge.ts';
import { mainCurrencyOf, useFormats } from '../shell/format.ts';
import { usePanel } from '../shell/panel.tsx';
import {
  ActionButton,
  type AnswerText,
  Badge,
  Coverage,
  Failed,
  Figure,
  Head,
  Leading,
  Notes,
  OwnerChoice,
  Refresh,
  Section,
  Segments,
} from '../shell/parts.tsx';
import { startView } from '../shell/start.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import { useAnswer, useReload, useSeen } from '../shell/use-reading.ts';
import type { Host, ViewProps } from '../shell/view.ts';
import { approvalRate, daysLeft, daysToApproval, daysWaiting } from './figures.ts';

interface Rows {
  rows: QuoteRow[];
  shown: number;
  total: number;
  next?: number;
}

type QuotesData = QuotesBrief & AnswerText & { quotes?: Rows };

const states = [
  ['', 'All'],
  ['draft', 'Draft'],
  ['open to acceptance', 'Open'],
  ['past expiry', 'Expired'],
  ['accepted', 'Approved'],
  ['declined', 'Declined'],
] as const;

const stateNames: ReadonlyMap<string, string> = new Map(states);

/** Quotes of a reading. */
const perCall = 100;

function QuotesView({ data: given, ...others }: ViewProps<QuotesData>) {
  const { args, host, reload } = others;
  // An assistant asks for a few rows; the view shows more of them.
  const { shown = 0, total = 0 } = given.quotes ?? {};
  const isShort = host.canRead && args.size !== perCall && shown < Math.min(total, perCall);
  const call = { ...args, from: 0, size: perCall };
  const read = useAnswer<QuotesData>(host, 'cpq_brief_quotes', isShort ? call : undefined, [given]);
  const data = isShort ? (read.answer ?? given) : given;
  const props = { ...others, data };
  const panel = usePanel<Entry>();
  const { change: reread, problem } = useReload({ reload });
  const change = (changed: Arguments) => void reread({ size: perCall, from: 0, ...changed });
  return (
    <main class="quotes">
      <Head
        title="Quotes"
        about={<Coverage coverage={data.coverage} />}
        actions={<Refresh host={host} reload={reload} />}
      />
      <Figures data={data} show={(acceptance) => change({ acceptance })} host={host} />
      {host.canRead && <Filters {...props} change={(it) => change(it)} />}
      {problem && <Failed {...problem} />}
      <List
        key={JSON.stringify([args, data.coverage?.asOf, data.quotes?.shown])}
        {...props}
        panel={panel}
      />
      {host.lists('cpq_check_sales_data') && host.canRead && (
        <dl class="figures">
          {checks.map(([check, label]) => (
            <Check key={check} {...{ check, label, host, args }} open={panel.open} />
          ))}
        </dl>
      )}
      <Notes notes={given.notes} />
      <RecordPanel panel={panel} host={host} />
    </main>
  );
}

interface FiguresProps {
  data: QuotesData;
  host: Host;
  show(acceptance: string): void;
}

function Figures({ data, host, show }: FiguresProps) {
  const { number, totals, percent } = useFormats();
  const rate = approvalRate(data);
  const days = daysToApproval(data.quotes?.rows ?? []);
  const { total } = data;
  return (
    <>
      <Leading
        figures={[
          { label: 'First-year value', values: totals(total.firstYearValue) },
          { label: 'Quotes', values: [number(total.count)] },
          {
            label: 'Approved of those answered',
            values: rate === undefined ? [] : [percent(rate)],
          },
          {
            label: 'Days to approval',
            values: days === undefined ? [] : [number(days)],
            more: 'median of the quotes listed here',
          },
        ]}
      />
      <dl class="figures">
        {data.acceptance.map(({ acceptance, count, firstYearValue }) => (
          <Figure
            key={acceptance}
            label={stateNames.get(acceptance) ?? acceptance}
            values={[number(count), ...totals(firstYearValue)]}
            open={host.canRead && stateNames.has(acceptance) ? () => show(acceptance) : undefined}
          />
        ))}
      </dl>
    </>
  );
}

function Filters({
  data,
  args,
  change,
}: ViewProps<QuotesData> & { change(args: Arguments): void }) {
  const owners = useSeen(
    (data.quotes?.rows ?? []).map(({ owner }) => owner),
    args.owner,
  );
  const state = stateNames.has(String(args.acceptance ?? '')) ? String(args.acceptance ?? '') : '';
  return (
    <search class="controls" aria-label="Filter">
      <Segments<string>
        label="State"
        options={states}
        value={state}
        choose={(it) => change({ acceptance: it || undefined })}
      />
      <OwnerChoice owners={owners} owner={args.owner} choose={(owner) => change({ owner })} />
    </search>
  );
}

interface ListProps extends ViewProps<QuotesData> {
  panel: ReturnType<typeof usePanel<Entry>>;
}

function List({ data, args, host, panel }: ListProps) {
  const { number } = useFormats();
  const [more, setMore] = useState<Rows>();
  const first = data.quotes;
  const rows = [...(first?.rows ?? []), ...(more?.rows ?? [])];
  const { next } = more ?? first ?? {};
  const readMore = async () => {
    const call = { ...args, from: next, size: perCall };
    const { quotes } = await host.read<{ quotes: Rows }>('cpq_brief_quotes', call);
    setMore({ ...quotes, rows: [...(more?.rows ?? []), ...quotes.rows] });
  };
  const selected = panel.entry?.kind === 'quote' ? panel.entry.id : undefined;
  return (
    <Section id="list" title="The largest first">
      <p class="about" role="status">
        {`${number(rows.length)} of ${number(data.total.count)} quotes shown.`}
      </p>
      <Table
        label="Quotes"
        columns={columnsFor(data.today)}
        rows={rows}
        keyOf={({ id, number: it = '' }) => id ?? it}
        selected={selected}
        open={
          host.canRead
            ? (row) => opensIn(panel.open, 'quote', rows.map(named))(named(row))
            : undefined
        }
      />
      {host.canRead && next !== undefined && (
        <ActionButton text="Read more" busyText="Reading…" run={readMore} />
      )}
    </Section>
  );
}

const named = ({ id, number, name }: QuoteRow) => ({
  id,
  name: [number, name].filter(Boolean).join(' · ') || undefined,
});

const daysColumn = (
  title: string,
  value: (row: QuoteRow) => number | undefined,
): TableColumn<QuoteRow> => ({
  title,
  kind: 'num',
  value,
  cell: (row, { number }) => {
    const days = value(row);
    return days === undefined ? '–' : number(days);
  },
});

const columnsFor = (today: string): TableColumn<QuoteRow>[] => [
  {
    title: 'Quote',
    value: ({ number, name }) => number ?? name,
    cell: (row) => <bdi>{named(row).name ?? row.id}</bdi>,
  },
  textColumn('Customer', 'company'),
  textColumn('Owner', 'owner'),
  {
    title: 'State',
    value: ({ acceptance, status }) => acceptance ?? status,
    cell: ({ acceptance, status = '' }) => {
      const state = acceptance ?? status;
      const tone = state === 'accepted' ? 'good' : state === 'past expiry' ? 'danger' : 'plain';
      return <Badge tone={tone}>{stateNames.get(state) ?? state}</Badge>;
    },
  },
  dayColumn('Sent', 'sent'),
  daysColumn('Days waiting', (row) => daysWaiting(row, today)),
  daysColumn('Days to expiry', (row) => daysLeft(row, today)),
  amountColumn('First-year value', ({ firstYearValue }) => firstYearValue),
];

const checks = [
  ['stale_quotes', 'Sent long ago, not answered'],
  ['expiring_quotes', 'Expiring soon'],
] as const;

interface CheckProps {
  check: string;
  label: string;
  host: Host;
  args: Arguments;
  open(entry: Entry): void;
}

interface CheckAnswer {
  total: number;
  valueAtStake?: Record<string, number>;
  definition?: string;
  rows: QuoteRow[];
}

/** What a check of quotes finds, with its quotes. */
function Check({ check, label, host, args, open }: CheckProps) {
  const { number, totals } = useFormats();
  const { owner, company } = args;
  const call = { check, owner, company, size: perCall };
  const { answer } = useAnswer<CheckAnswer>(host, 'cpq_check_sales_data', call, [owner, company]);
  if (!answer) return null;
  const { total = 0, valueAtStake, definition, rows = [] } = answer;
  const show = () =>
    open({
      kind: 'rows',
      title: label,
      body: () => (
        <>
          <p class="about">{definition}</p>
          <QuoteRows
            {...{ label, rows }}
            open={(row) => opensIn(open, 'quote', rows.map(named))(named(row))}
          />
        </>
      ),
    });
  return (
    <Figure
      label={label}
      values={[number(total), ...totals(valueAtStake)]}
      tone={total > 0 ? 'warning' : undefined}
      open={total > 0 ? show : undefined}
    />
  );
}

startView<QuotesData, QuotesData>({
  name: 'quotes',
  tool: 'cpq_brief_quotes',
  waiting: 'Reading every quote; the first time this can take half a minute…',
  is: (data) => 'acceptance' in data && 'total' in data,
  prepare: (data) => data,
  mainCurrency: ({ total }) => mainCurrencyOf(total.firstYearValue),
  Component: QuotesView,
});
