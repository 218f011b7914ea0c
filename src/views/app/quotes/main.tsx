/** Quotes over all customers: what waits, what runs out, and how often and how fast customers agree. */
import { useState } from 'preact/hooks';
import type { QuotesBrief } from '../../../briefs/quotes/quotes.ts';
import { countsByCurrency } from '../pipeline/deals.ts';
import type { QuoteAnswer } from '../quote/data.ts';
import { type Entry, type Open, type QuoteRow, stateName } from '../records/entries.ts';
import { RecordPanel } from '../records/panel.tsx';
import { opensQuoteIn, Pages, QuoteRows, type QuotesAnswer, quotePage } from '../records/rows.tsx';
import type { Arguments } from '../shell/bridge.ts';
import { mainCurrencyOf, useFormats } from '../shell/format.ts';
import { type Opener, usePanel } from '../shell/panel.tsx';
import {
  ActionButton,
  type AnswerText,
  Coverage,
  Failed,
  Figure,
  Head,
  Leading,
  Notes,
  OwnerChoice,
  Refresh,
  Section,
  Select,
} from '../shell/parts.tsx';
import { Scope } from '../shell/scope.tsx';
import { startView } from '../shell/start.tsx';
import { useAnswer, useReload, useSeen } from '../shell/use-reading.ts';
import type { Host, ViewProps } from '../shell/view.ts';

type QuotesData = QuotesBrief & AnswerText & QuotesAnswer;

/** What the view asks for: its figures, as many quotes as an answer has room for, and the owners of all. */
const whole = { by: 'owner', groups: 50, show: ['approval', 'days'], from: 0, size: 100 };

const orders = [
  ['value', 'Largest first'],
  ['age', 'Longest waiting first'],
  ['expiry', 'Next to expire first'],
] as const;

function QuotesView({ data: given, ...props }: ViewProps<QuotesData>) {
  const { args, host, reload } = props;
  // An assistant asks for a few rows, or for other figures.
  const isWhole = args.size === whole.size && given.by === whole.by && !args.from;
  const call = host.canRead && !isWhole ? { ...args, ...whole } : undefined;
  const read = useAnswer<QuotesData>(host, 'cpq_brief_quotes', call, [given]);
  const data = (call && read.answer) ?? given;
  const { number, totals } = useFormats();
  const panel = usePanel<Entry>(given);
  const { open } = panel;
  const { change: reread, problem } = useReload({ reload, data: given });
  const change = (changed: Arguments) => void reread({ ...whole, ...changed });
  const owners = useSeen(
    data.by === 'owner' ? data.groups.rows.flatMap(({ id, name }) => (id ? name : undefined)) : [],
    args.owner,
  );
  return (
    <main class="quotes">
      <Head
        title="Quotes"
        about={<Coverage coverage={data.coverage} />}
        actions={<Refresh host={host} reload={reload} />}
      >
        <Scope
          {...props}
          more={{
            acceptance: '',
            status: 'Status',
            deal_state: 'Deal',
            date_from: `${args.date ?? 'sent'} from`,
            date_to: `${args.date ?? 'sent'} until`,
            item: 'Lines with',
          }}
        />
      </Head>
      <Totals data={data} />
      <dl class="figures">
        {data.acceptance.map(({ acceptance, count, firstYearValue }) => (
          <Figure
            key={acceptance}
            label={stateName(acceptance)}
            values={[number(count), ...totals(firstYearValue)]}
            open={host.canRead ? () => change({ acceptance }) : undefined}
          />
        ))}
        {host.lists('cpq_check_sales_data') &&
          host.canRead &&
          checks.map((check) => (
            <Check key={check[0]} {...{ check, host, args, open }} answer={given} />
          ))}
      </dl>
      {host.canRead && (
        <search class="controls" aria-label="Filter">
          <Select<string>
            label="State"
            value={String(args.acceptance ?? '')}
            options={[['', 'All'], ...states]}
            choose={(it) => change({ acceptance: it || undefined })}
          />
          <OwnerChoice {...{ owners }} owner={args.owner} choose={(owner) => change({ owner })} />
          <Select
            label="Sort"
            value={orders.find(([order]) => order === args.sort)?.[0] ?? 'value'}
            options={orders}
            choose={(sort) => change({ sort })}
          />
        </search>
      )}
      <Failed reason={read.failed} retry={read.retry} {...problem} />
      <Section id="list" title="Quotes">
        <List key={JSON.stringify([data.coverage?.asOf, args])} {...{ data, args, host, panel }} />
      </Section>
      <Notes notes={given.notes} />
      <RecordPanel panel={panel} host={host} />
    </main>
  );
}

const states = ['draft', 'open to acceptance', 'past expiry', 'accepted', 'declined', 'other'].map(
  (state) => [state, stateName(state)] as const,
);

function Totals({ data: { total } }: { data: QuotesData }) {
  const { number, totals, percent } = useFormats();
  const { approvalRatePercent: rate, daysToApprove: days, approved = 0, declined = 0 } = total;
  const approval = rate !== undefined && {
    label: 'Approval rate',
    values: [percent(rate)],
    more: `${number(approved)} approved, ${number(declined)} declined`,
  };
  const speed = days && {
    label: 'Days to approval',
    values: [number(days.median)],
    more: `median of ${number(days.n)} quotes`,
  };
  return (
    <Leading
      figures={[
        { label: 'First-year value', values: totals(total.firstYearValue) },
        { label: 'Quotes', values: [number(total.count)] },
        ...(approval ? [approval] : []),
        ...(speed ? [speed] : []),
      ]}
    />
  );
}

interface ListProps {
  data: QuotesData;
  args: Arguments;
  host: Host;
  panel: Opener<Entry>;
}

function List({ data, args, host, panel }: ListProps) {
  const { entry, open } = panel;
  const stops = useStops(host);
  const selected = entry?.kind === 'quote' ? entry.id : undefined;
  return (
    <Pages
      host={host}
      tool="cpq_brief_quotes"
      call={(from) => ({ ...args, ...whole, groups: 0, from })}
      pageOf={quotePage}
      first={quotePage(data)}
      draw={(rows) => (
        <>
          {host.canRead && stops.unread(rows).length > 0 && (
            <ActionButton
              text="Read what must be fixed in drafts"
              busyText={stops.progress}
              run={() => stops.read(rows)}
            />
          )}
          <QuoteRows
            {...{ rows, selected }}
            today={data.today}
            stops={stops.known}
            open={host.canRead ? opensQuoteIn(open, rows) : undefined}
          />
        </>
      )}
    />
  );
}

/** Drafts of a reading: each is a call. */
const maxDrafts = 25;

/** What must be fixed before a draft goes out, which is read draft by draft. */
function useStops(host: Host) {
  const { number } = useFormats();
  const [known, setKnown] = useState<ReadonlyMap<string, number>>(new Map());
  const [progress, setProgress] = useState('Reading…');
  const unread = (rows: readonly QuoteRow[]): string[] =>
    rows.flatMap(({ id, status }) =>
      status === 'draft' && id !== undefined && !known.has(id) ? id : [],
    );
  const read = async (rows: readonly QuoteRow[]) => {
    const ids = unread(rows).slice(0, maxDrafts);
    const found = new Map(known);
    for (const id of ids) {
      setProgress(`Reading draft ${number(found.size - known.size + 1)} of ${number(ids.length)}…`);
      const call = { quote: id, lines: 0 };
      const { preflight } = await host.read<QuoteAnswer>('cpq_brief_quote', call);
      found.set(id, preflight.stops);
      setKnown(new Map(found));
    }
  };
  return { known, unread, read, progress };
}

const checks = [
  ['stale_quotes', 'Sent long ago, not answered'],
  ['expiring_quotes', 'Expiring soon'],
] as const;

interface CheckAnswer {
  total: number;
  valueAtStake?: Record<string, number>;
  definition?: string;
  /** Of the rows that have none of their own. */
  currency?: string;
  rows?: (QuoteRow & { valueAtStake?: number })[];
  next?: number;
}

interface CheckProps {
  check: (typeof checks)[number];
  host: Host;
  args: Arguments;
  /** That of the view's tool: when it is read again, so is the check. */
  answer: object;
  open: Open;
}

const pageOfCheck = ({ rows = [], currency, total, next }: CheckAnswer) => ({
  rows: rows.map(({ valueAtStake: firstYearValue, ...row }): QuoteRow => {
    const known = { ...row, currency: row.currency ?? currency };
    return { ...known, firstYearValue } as QuoteRow;
  }),
  total,
  next,
});

/** Filters that the checks do not have. */
const otherFilters = 'acceptance status deal_state currency date_from date_to item min_value'.split(
  ' ',
);

/** What a check of quotes finds; it follows the owner and the company. */
function Check({ check: [check, label], host, args, answer: shown, open }: CheckProps) {
  const { number, totals } = useFormats();
  const { owner, company } = args;
  const call = (from: number) => ({ check, owner, company, from, size: 100 });
  const { answer, failed } = useAnswer<CheckAnswer>(host, 'cpq_check_sales_data', call(0), [shown]);
  if (failed) return <Figure label={label} values={[]} more={failed} />;
  if (!answer) return null;
  const { total = 0, valueAtStake, definition } = answer;
  const first = pageOfCheck(answer);
  const show = () =>
    open({
      kind: 'rows',
      title: label,
      body: () => (
        <>
          <p class="about">{definition}</p>
          <Pages
            {...{ host, call, first }}
            tool="cpq_check_sales_data"
            pageOf={pageOfCheck}
            draw={(rows) => <QuoteRows {...{ label, rows }} open={opensQuoteIn(open, rows)} />}
          />
        </>
      ),
    });
  return (
    <Figure
      label={label}
      values={[number(total), ...totals(valueAtStake)]}
      tone={total > 0 ? 'warning' : undefined}
      more={
        otherFilters.some((name) => args[name] !== undefined) &&
        'of all states, days, currencies and items'
      }
      open={total > 0 ? show : undefined}
    />
  );
}

/** That of most of the quotes that are listed. */
const mainCurrencyOfQuotes = ({ quotes, total }: QuotesData): string | undefined =>
  mainCurrencyOf(countsByCurrency(quotes?.rows ?? [])) ?? mainCurrencyOf(total.firstYearValue);

startView<QuotesData, QuotesData>({
  name: 'quotes',
  tool: 'cpq_brief_quotes',
  waiting: 'Reading every quote; the first time this can take half a minute…',
  is: (data) => 'acceptance' in data && 'total' in data,
  prepare: (data) => data,
  mainCurrency: mainCurrencyOfQuotes,
  Component: QuotesView,
});
