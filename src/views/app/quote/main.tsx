import './style.css';
import type { ComponentProps } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { CompanyBrief } from '../../../briefs/company/company.ts';
import { stateName, stateTones } from '../records/entries.ts';

import { type Formats, useFormats } from '../shell/format.ts';
import {
  ActionButton,
  Ask,
  Badge,
  Coverage,
  Failed,
  Head,
  Leading,
  Notes,
  OpenLink,
  Pairs,
  Refresh,
  Section,
  Switch,
} from '../shell/parts.tsx';
import { PrintButtons } from '../shell/print.tsx';
import { profitSwitch } from '../shell/profit.ts';
import { startView } from '../shell/start.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { ViewProps } from '../shell/view.ts';
import { Compare } from './compare.tsx';
import { type Costs, costsOf, type QuoteAnswer, type QuoteData, withoutCosts } from './data.ts';
import { aboutQuote, FindingList } from './findings.tsx';
import { Lines, titleOfTerm } from './lines.tsx';

const everyLine = 200;

/** Costs, an address and a question belong to one quote. */
const KeyedQuoteView = (props: ViewProps<QuoteData>) => (
  <QuoteView key={props.data.id} {...props} />
);

function QuoteView({ data, args, host, reload }: ViewProps<QuoteData>) {
  const { lines, company } = data;
  // Costs are read when they are turned on, and dropped when they are turned off.
  const [isShown, setShown] = useState(false);
  const call = { ...args, quote: data.id ?? args.quote, lines: lines.shown };
  const read = useAnswer<QuoteAnswer>(host, 'cpq_brief_quote', isShown ? call : undefined, [data]);
  // Those of before are by the numbers of the lines of before.
  const costs = read.answer && read.inputs?.includes(data) ? costsOf(read.answer) : undefined;
  const [address, setAddress] = useState('');
  const latest = useRef(lines);
  latest.current = lines;
  // A customer's copy has every line, and the customer's address.
  const prepare = async () => {
    if (!host.canRead) return;
    if (lines.shown < lines.total) await reload({ lines: everyLine });
    const { id = '' } = company ?? {};
    const call = { company: id, rows: 1 };
    const isReadable = id !== '' && host.lists('cpq_brief_company');
    const read = isReadable
      ? await host.read<Partial<CompanyBrief>>('cpq_brief_company', call)
      : undefined;
    setAddress(read?.company?.address ?? '');
  };
  const lacks = () => latest.current.total - latest.current.shown;
  const waiting = useRef(false);
  waiting.current = isShown && !costs && read.failed === undefined;
  const waits = () => waiting.current;
  return (
    <main class="quote">
      <p class="internal print-only">Internal copy: not for the customer.</p>
      {canGoOut(data) && data.preflight.stops > 0 && (
        <p class="print-only draft">Draft: not released, and not an offer.</p>
      )}
      {lines.shown < lines.total && (
        <p class="print-only draft">{`Not whole: lines ${lines.shown + 1} to ${lines.total} are missing.`}</p>
      )}
      <Heading data={data} address={address} />
      <Totals data={data} />
      <div class="controls">
        {host.canRead && <Switch text={profitSwitch} on={isShown} set={setShown} />}
        <Actions {...{ data, args, host, reload, prepare, lacks, waits }} />
      </div>
      <Failed reason={read.failed} retry={read.retry} />
      {costs && <Margins costs={costs} currency={data.currency} />}
      <Preflight data={data} costs={costs} />
      <Lines data={data} costs={costs} />
      <Terms data={data} />
      <Compare {...{ data, host, costs }} />
      <p class="print-only sign">Place and date, name, signature</p>
      <div class="internal stack">
        <Notes notes={data.notes} />
        <Coverage coverage={data.coverage} />
      </div>
    </main>
  );
}

type ActionsProps = ViewProps<QuoteData> &
  Pick<ComponentProps<typeof PrintButtons>, 'prepare' | 'lacks' | 'waits'>;

function Actions({ data, args, host, reload, ...copy }: ActionsProps) {
  const { id, lines, preflight, link, number = 'quote' } = data;
  const isOpen = canGoOut(data);
  const question = isOpen
    ? 'Is this quote ready to go out, and what must be fixed first?'
    : 'What should I know about this quote?';
  const about = { what: 'quote', id, tool: 'cpq_brief_quote' } as const;
  return (
    <>
      {host.canRead && lines.shown < lines.total && args.lines !== everyLine && (
        <ActionButton
          text="Show more lines"
          busyText="Reading…"
          run={() => reload({ lines: everyLine })}
        />
      )}
      <Refresh host={host} reload={reload} />
      {id && <Ask text="Ask about this quote" {...{ host, question, about }} />}
      <OpenLink host={host} link={link} />
      <PrintButtons {...{ host, ...copy }} name={number} stops={isOpen ? preflight.stops : 0} />
    </>
  );
}

function Preflight({ data, costs }: { data: QuoteData; costs: Costs | undefined }) {
  const { preflight } = data;
  const findings = costs?.findings ?? preflight.rows;
  return (
    <section class="internal panel" aria-labelledby="preflight">
      <h2 id="preflight">
        {canGoOut(data) ? 'Before it goes out' : 'What was found in this quote'}
        <FindingCounts stops={preflight.stops} checks={preflight.checks} />
      </h2>
      <FindingList findings={findings.filter(aboutQuote)} />
      {preflight.notChecked && (
        <p class="about">{`Not checked: ${preflight.notChecked.join('; ')}.`}</p>
      )}
      {preflight.shown < preflight.total && (
        <p class="about">{`${preflight.shown} of ${preflight.total} findings shown.`}</p>
      )}
    </section>
  );
}

/** A deleted quote does not go out, and an answered one has. */
const canGoOut = ({ statusCategory }: QuoteData): boolean =>
  !['sent', 'approved', 'declined', 'deleted'].includes(statusCategory);

function Heading({ data, address }: { data: QuoteData; address: string }) {
  const { day } = useFormats();
  const { name, number, status, deleted } = data;
  return (
    <Head
      title={name ?? `Quote ${number ?? ''}`}
      badges={
        <>
          {deleted && <Badge tone="danger">{describeDeletion(deleted, day)}</Badge>}
          {status && (
            <span class="internal">
              <Badge tone={stateTones[stateName(status)]}>{stateName(status)}</Badge>
            </span>
          )}
        </>
      }
    >
      <Facts data={data} address={address} />
    </Head>
  );
}

function Facts({ data, address }: { data: QuoteData; address: string }) {
  const { day } = useFormats();
  const { number, company, contact, owner, created, expires, expiresInDays = 0 } = data;
  const late = (canGoOut(data) || data.acceptance === 'past expiry') && expiresInDays < 0;
  return (
    <Pairs
      kind="facts"
      pairs={[
        ['Number', number],
        ['Company', company?.name],
        ['Address', address],
        ['Contact', contact?.name],
        ['Seller', owner?.name],
        ['Created', created && day(created)],
        [late ? 'Expired' : 'Valid until', expires && day(expires), late ? 'late' : ''],
      ]}
    />
  );
}

const describeDeletion = (deleted: string | true, day: Formats['day']): string =>
  deleted === true ? 'Deleted' : `Deleted ${day(deleted)}`;

/** The value of the first year, and what it is made of. */
function Totals({ data }: { data: QuoteData }) {
  const { exact } = useFormats();
  const { totals, currency, firstYearValue } = data;
  const { oneTime, monthly, yearly, otherTerms = {} } = totals;
  const amounts: [string, number | undefined][] = [
    ['one-time', oneTime],
    ['monthly', monthly],
    ['yearly', yearly],
    ...Object.entries(otherTerms),
  ];
  const figures = amounts.flatMap(([term, amount]) =>
    amount === undefined ? [] : [{ label: titleOfTerm(term), values: [exact(amount, currency)] }],
  );
  const first = { label: 'First-year value', values: [exact(firstYearValue ?? 0, currency)] };
  // What the first year makes together is the seller's figure, not the customer's.
  return (
    <>
      <div class="internal">
        <Leading figures={firstYearValue === undefined ? figures : [first, ...figures]} />
      </div>
      <div class="print-only customer">
        <Leading figures={figures} />
      </div>
    </>
  );
}

function Margins({ costs, currency }: { costs: Costs; currency: string }) {
  type Row = Costs['terms'][number];
  const amount = (title: string, of: (row: Row) => number | undefined): TableColumn<Row> => ({
    title,
    kind: 'num',
    cell: (row, { exact }) => of(row) !== undefined && exact(of(row) ?? 0, currency),
  });
  return (
    <Section id="margins" title="Margin" kind="internal">
      <Table
        label="Margins"
        rows={costs.terms}
        keyOf={({ term }) => term}
        columns={[
          {
            title: 'Term',
            cell: ({ term, withoutPriceOrCost }) =>
              `${titleOfTerm(term)}${withoutPriceOrCost ? ` (${withoutPriceOrCost} without price or cost)` : ''}`,
          },
          amount('Price', ({ price }) => price),
          amount('Cost', ({ cost }) => cost),
          amount('Profit', ({ profit }) => profit),
          {
            title: 'Margin',
            kind: 'main',
            cell: ({ margin }, { share }) =>
              margin !== undefined && <span class={margin < 0 ? 'bad' : ''}>{share(margin)}</span>,
          },
        ]}
      />
    </Section>
  );
}

function FindingCounts({ stops, checks }: { stops: number; checks: number }) {
  if (stops + checks === 0) return <Badge tone="good">Nothing found</Badge>;
  return (
    <>
      {stops > 0 && <Badge tone="danger">{`Must fix: ${stops}`}</Badge>}
      {checks > 0 && <Badge tone="warning">{`Review: ${checks}`}</Badge>}
    </>
  );
}

function Terms({ data }: { data: QuoteData }) {
  const pairs = termPairs(data, useFormats());
  if (pairs.length === 0) return null;
  const isInternal = pairs.every(([name]) => name === 'Opportunity');
  return (
    <Section id="terms" title="Terms" kind={isInternal ? 'internal' : undefined}>
      <Pairs
        pairs={pairs.map(([name, text]) => [name, text, name === 'Opportunity' ? 'internal' : ''])}
      />
    </Section>
  );
}

function termPairs(data: QuoteData, { day, exact, percent }: Formats): [string, string][] {
  const { contract, paymentTerm, discount, opportunity, currency } = data;
  const from = contract?.from ? day(contract.from) : '';
  const to = contract?.to ? day(contract.to) : '';
  const discounts = [
    discount?.percent !== undefined && `${percent(discount.percent)} on every term`,
    discount?.amount !== undefined && `${exact(discount.amount, currency)}, once`,
  ];
  const pairs: [string, string | undefined][] = [
    ['Payment', paymentTerm],
    [
      'Contract',
      [contract?.duration, from || to ? `${from} – ${to}` : ''].filter(Boolean).join(', '),
    ],
    ['Discount', discounts.filter(Boolean).join('; ')],
    ['Opportunity', [opportunity?.name, opportunity?.stage].filter(Boolean).join(' · ')],
  ];
  return pairs.filter((pair): pair is [string, string] => Boolean(pair[1]));
}

startView<QuoteData, QuoteAnswer>({
  name: 'quote',
  tool: 'cpq_brief_quote',
  about: 'quote',
  is: (data) => 'totals' in data && 'lines' in data,
  prepare: withoutCosts,
  mainCurrency: ({ currency }) => currency,
  Component: KeyedQuoteView,
});
