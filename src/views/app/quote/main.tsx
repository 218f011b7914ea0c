import './style.css';
import { useState } from 'preact/hooks';
import { type Formats, useFormats } from '../shell/format.ts';
import {
  ActionButton,
  Ask,
  Badge,
  Coverage,
  Figure,
  Head,
  Notes,
  Refresh,
  Switch,
} from '../shell/parts.tsx';
import { startView, type ViewProps } from '../shell/start.tsx';
import type { QuoteData } from './data.ts';
import { aboutQuote, FindingList } from './findings.tsx';
import { Lines } from './lines.tsx';

const everyLine = 200;

function QuoteView({ data, host, reload }: ViewProps<QuoteData>) {
  const [margins, setMargins] = useState(false);
  const { lines, preflight } = data;
  return (
    <main class="quote">
      <Heading data={data} />
      <dl class="figures">
        <Totals data={data} />
      </dl>
      <div class="controls">
        <Switch text="Show costs and margins" on={margins} set={setMargins} />
        {host.canRead && lines.shown < lines.total && (
          <ActionButton
            text={`Show all ${lines.total} lines`}
            busyText="Reading…"
            run={() => reload({ lines: everyLine })}
          />
        )}
        <Refresh host={host} reload={reload} />
        {data.id && <Ask host={host} text="Ask about this quote" question={() => question(data)} />}
      </div>
      {margins && <Margins data={data} />}
      <section class="internal panel" aria-labelledby="preflight">
        <h2 id="preflight">
          {canGoOut(data) ? 'Before it goes out' : 'Check of the quote'}
          <Findings stops={preflight.stops} checks={preflight.checks} />
        </h2>
        <FindingList findings={preflight.rows.filter(aboutQuote)} margins={margins} />
        <p class="about">{describeScope(preflight)}</p>
        {preflight.shown < preflight.total && (
          <p class="about">{`${preflight.shown} of ${preflight.total} findings shown.`}</p>
        )}
      </section>
      <Lines data={data} margins={margins} />
      <Terms data={data} />
      <Notes notes={data.notes} />
      <Coverage coverage={data.coverage} />
    </main>
  );
}

function describeScope({ checked, notChecked = [] }: QuoteData['preflight']): string {
  const all = `Checked: ${checked.join('; ')}.`;
  return notChecked.length === 0 ? all : `${all} Not checked: ${notChecked.join('; ')}.`;
}

/** A deleted quote does not go out, and an answered one has. */
const canGoOut = ({ standing }: QuoteData): boolean =>
  !['approved', 'declined', 'deleted'].includes(standing);

/**
 * Names the quote by id only: its title comes from records and must not act as the person's instruction.
 */
function question(data: QuoteData): string {
  const id = data.id?.replace(/[^\w-]/g, '').slice(0, 64);
  const asked = canGoOut(data)
    ? 'is it ready to go out, and what must be fixed first?'
    : 'what should I know about it?';
  return `About the quote with the id ${id}: ${asked} Read it with cpq_brief_quote.`;
}

const tones: Record<string, 'good' | 'danger' | 'plain'> = {
  approved: 'good',
  declined: 'danger',
  expired: 'danger',
};

function Heading({ data }: { data: QuoteData }) {
  const { day } = useFormats();
  const { number, name, status, company, contact, owner, created, expires, expiresInDays } = data;
  const { deleted } = data;
  const who = [company?.name, contact?.name].filter(Boolean).join(' · ');
  const late = canGoOut(data) && expiresInDays !== undefined && expiresInDays < 0;
  return (
    <Head title={name ?? `Quote ${number ?? ''}`} about={<bdi>{who}</bdi>}>
      <p class="facts">
        {deleted && <Badge tone="danger">{describeDeletion(deleted, day)}</Badge>}
        {number && <Badge>{number}</Badge>}
        {status && <Badge tone={tones[status.toLowerCase()]}>{status}</Badge>}
        {created && <span>Created {day(created)}</span>}
        {expires && (
          <span class={late ? 'late' : ''}>
            {late ? 'Expired' : 'Valid until'} {day(expires)}
          </span>
        )}
        {owner?.name && <bdi>{owner.name}</bdi>}
      </p>
    </Head>
  );
}

const describeDeletion = (deleted: string | true, day: Formats['day']): string =>
  deleted === true ? 'Deleted' : `Deleted ${day(deleted)}`;

function Totals({ data }: { data: QuoteData }) {
  const { exact } = useFormats();
  const { totals, currency, firstYearValue } = data;
  const { oneTime, monthly, yearly, otherTerms = {} } = totals;
  const named: [string, number | undefined][] = [
    ['One-time', oneTime],
    ['Monthly', monthly],
    ['Yearly', yearly],
    ...Object.entries(otherTerms).map(([term, amount]): [string, number] => [
      `Per ${term}`,
      amount,
    ]),
  ];
  return (
    <>
      {named.map(([label, amount]) =>
        amount === undefined ? null : (
          <Figure key={label} label={label} value={exact(amount, currency)} />
        ),
      )}
      {firstYearValue !== undefined && (
        <Figure label="First year" value={exact(firstYearValue, currency)} />
      )}
    </>
  );
}

function Margins({ data }: { data: QuoteData }) {
  const { exact, percent } = useFormats();
  const { terms, currency } = data;
  return (
    <section class="internal panel" aria-labelledby="margins">
      <h2 id="margins">Margin</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              {['Term', 'Price', 'Cost', 'Profit', 'Margin'].map((title, at) => (
                <th key={title} scope="col" class={at > 0 ? 'num' : ''}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {terms.map(({ term, price, cost, profit, margin, unjudged }) => (
              <tr key={term}>
                <th scope="row">
                  {term}
                  {unjudged && ` (${unjudged} without price or cost)`}
                </th>
                {[price, cost, profit].map((amount, at) => (
                  <td key={['price', 'cost', 'profit'][at]} class="num">
                    {amount === undefined ? '–' : exact(amount, currency)}
                  </td>
                ))}
                <td class={margin !== undefined && margin < 0 ? 'num bad' : 'num'}>
                  {margin === undefined ? '–' : percent(margin)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Findings({ stops, checks }: { stops: number; checks: number }) {
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
  return (
    <section class="panel" aria-labelledby="terms">
      <h2 id="terms">Terms</h2>
      <dl class="pairs">
        {pairs.map(([name, text]) => (
          <>
            <dt>{name}</dt>
            <dd dir="auto">{text}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

function termPairs(data: QuoteData, { day, exact, percent }: Formats): [string, string][] {
  const { contract, paymentTerm, discount, opportunity, currency, setup } = data;
  const from = contract?.from ? day(contract.from) : '';
  const to = contract?.to ? day(contract.to) : '';
  const taken = discount?.percent === undefined ? discount?.amount : undefined;
  const pairs: [string, string | undefined][] = [
    ['Payment', paymentTerm],
    [
      'Contract',
      [contract?.duration, from || to ? `${from} – ${to}` : ''].filter(Boolean).join(', '),
    ],
    [
      'Discount',
      discount?.percent === undefined ? undefined : `${percent(discount.percent)} on every term`,
    ],
    ['Discount', taken === undefined ? undefined : `${exact(taken, currency)}, once`],
    [
      'Setup',
      setup?.price === undefined
        ? undefined
        : `${exact(setup.price, currency)}, in the one-time total`,
    ],
    ['Opportunity', [opportunity?.name, opportunity?.stage].filter(Boolean).join(' · ')],
  ];
  return pairs.filter((pair): pair is [string, string] => Boolean(pair[1]));
}

startView<QuoteData>({
  name: 'quote',
  tool: 'cpq_brief_quote',
  about: 'quote',
  is: (data) => 'totals' in data && 'lines' in data,
  Component: QuoteView,
});
