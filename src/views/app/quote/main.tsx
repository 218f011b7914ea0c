import './style.css';
import { type Formats, useFormats } from '../shell/format.ts';
import {
  ActionButton,
  Ask,
  Badge,
  Coverage,
  Head,
  Leading,
  Notes,
  OpenLink,
  questionAbout,
  Refresh,
  Switch,
  statusTones,
} from '../shell/parts.tsx';
import { PrintButtons } from '../shell/print.tsx';
import { profitSwitch } from '../shell/profit.ts';
import { startView, type ViewProps } from '../shell/start.tsx';
import { type Costs, type QuoteAnswer, type QuoteData, withoutCosts } from './data.ts';
import { aboutQuote, FindingList } from './findings.tsx';
import { Lines, titleOfTerm } from './lines.tsx';
import { useCosts } from './use-costs.ts';

const everyLine = 200;

function QuoteView({ data, args, host, reload }: ViewProps<QuoteData>) {
  const { costs, failed, setShown, isShown } = useCosts(host, data, args);
  const { lines } = data;
  return (
    <main class="quote">
      <p class="internal print-only">Internal copy: not for the customer.</p>
      <Heading data={data} />
      <Totals data={data} />
      <div class="controls">
        {host.canRead && <Switch text={profitSwitch} on={isShown} set={setShown} />}
        {host.canRead && lines.shown < lines.total && (
          <ActionButton
            text={`Show all ${lines.total} lines`}
            busyText="Reading…"
            run={() => reload({ lines: everyLine })}
          />
        )}
        <Refresh host={host} reload={reload} />
        {data.id && <Ask host={host} text="Ask about this quote" question={() => question(data)} />}
        <OpenLink host={host} link={data.link} />
        <PrintButtons />
      </div>
      {failed && (
        <p role="alert" class="failed">
          {failed}
        </p>
      )}
      {costs && <Margins costs={costs} currency={data.currency} />}
      <Preflight data={data} costs={costs} />
      <Lines data={data} costs={costs} />
      <Terms data={data} />
      <div class="internal stack">
        <Notes notes={data.notes} />
        <Coverage coverage={data.coverage} />
      </div>
    </main>
  );
}

function Preflight({ data, costs }: { data: QuoteData; costs: Costs | undefined }) {
  const { preflight } = data;
  const findings = costs?.findings ?? preflight.rows;
  return (
    <section class="internal panel" aria-labelledby="preflight">
      <h2 id="preflight">
        {canGoOut(data) ? 'Before it goes out' : 'Check of the quote'}
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

const question = (data: QuoteData): string =>
  questionAbout(
    'quote',
    data,
    canGoOut(data)
      ? 'is it ready to go out, and what must be fixed first?'
      : 'what should I know about it?',
    'cpq_brief_quote',
  );

function Heading({ data }: { data: QuoteData }) {
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
              <Badge tone={statusTones[status.toLowerCase()]}>{status}</Badge>
            </span>
          )}
        </>
      }
    >
      <Facts data={data} />
    </Head>
  );
}

function Facts({ data }: { data: QuoteData }) {
  const { day } = useFormats();
  const { number, company, contact, owner, created, expires, expiresInDays = 0 } = data;
  const late = (canGoOut(data) || data.acceptance === 'past expiry') && expiresInDays < 0;
  const facts: [label: string, text: string | undefined, tone?: string | undefined][] = [
    ['Number', number],
    ['Company', company?.name],
    ['Contact', contact?.name],
    ['Owner', owner?.name],
    ['Created', created && day(created)],
    [late ? 'Expired' : 'Valid until', expires && day(expires), late ? 'late' : undefined],
  ];
  return (
    <dl class="facts">
      {facts.map(([label, text, tone]) =>
        text ? (
          <div key={label} class={tone}>
            <dt>{label}</dt>
            <dd dir="auto">{text}</dd>
          </div>
        ) : null,
      )}
    </dl>
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
  return <Leading figures={firstYearValue === undefined ? figures : [first, ...figures]} />;
}

function Margins({ costs, currency }: { costs: Costs; currency: string }) {
  const { exact, percent } = useFormats();
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
            {costs.terms.map(({ term, price, cost, profit, margin, withoutPriceOrCost }) => (
              <tr key={term}>
                <th scope="row">
                  {titleOfTerm(term)}
                  {withoutPriceOrCost && ` (${withoutPriceOrCost} without price or cost)`}
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
    <section class={isInternal ? 'panel internal' : 'panel'} aria-labelledby="terms">
      <h2 id="terms">Terms</h2>
      <dl class="pairs">
        {pairs.map(([name, text]) => (
          <div key={name} class={name === 'Opportunity' ? 'pair internal' : 'pair'}>
            <dt>{name}</dt>
            <dd dir="auto">{text}</dd>
          </div>
        ))}
      </dl>
    </section>
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
  Component: QuoteView,
});
