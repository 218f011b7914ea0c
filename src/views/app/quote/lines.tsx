// biome-ignore-all lint/a11y/noRedundantRoles: CSS shows these tables as blocks, which removes their implicit roles
import type { PreflightFinding } from '../../../briefs/preflight-finding.ts';
import type { QuoteLine } from '../../../briefs/quote.ts';
import type { QuoteTotals } from '../../../briefs/quote-totals.ts';
import { useFormats } from '../shell/format.ts';
import type { QuoteData } from './data.ts';
import { FindingList } from './findings.tsx';

interface Props {
  data: QuoteData;
  margins: boolean;
}

const titles: Record<string, string> = {
  'one-time': 'One-time',
  monthly: 'Monthly',
  yearly: 'Yearly',
};

/** One table of lines per term, so that amounts of different terms do not look like one sum. */
export function Lines({ data, margins }: Props) {
  const { lines, terms } = data;
  const found = new Set([...terms.map(({ term }) => term), ...lines.rows.map(({ term }) => term)]);
  return (
    <>
      {[...found].map((term) => {
        const rows = lines.rows.filter((row) => row.term === term);
        return (
          rows.length > 0 && (
            <Term key={term} term={term} rows={rows} data={data} margins={margins} />
          )
        );
      })}
      {lines.shown < lines.total && (
        <p class="about">{`${lines.shown} of ${lines.total} lines shown; the totals cover all of them.`}</p>
      )}
    </>
  );
}

interface TermProps extends Props {
  term: string;
  rows: readonly QuoteLine[];
}

function Term({ term, rows, data, margins }: TermProps) {
  const { exact } = useFormats();
  const total = totalOf(data.totals, term);
  const id = `term-${term.replace(/\W/g, '-')}`;
  const titlesOf = ['Item', 'Quantity', 'Price', 'Discount', 'Total'];
  const columns = margins ? [...titlesOf, 'Cost', 'Margin'] : titlesOf;
  return (
    <section class="panel lines" aria-labelledby={id}>
      <h2 id={id}>
        <bdi>{titles[term] ?? `Per ${term}`}</bdi>
        {total !== undefined && <span class="sum">{exact(total, data.currency)}</span>}
      </h2>
      {/* Shown as blocks on narrow screens; the explicit roles keep it a table for screen readers. */}
      <table role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((title, at) => (
              <th key={title} role="columnheader" scope="col" class={at > 0 ? 'num' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <Line
              key={row.line}
              row={row}
              currency={data.currency}
              margins={margins}
              findings={data.preflight.rows.filter(({ line }) => line === row.line)}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function totalOf(totals: QuoteTotals, term: string): number | undefined {
  if (term === 'one-time') return totals.oneTime;
  if (term === 'monthly' || term === 'yearly') return totals[term];
  return totals.otherTerms?.[term];
}

interface LineProps {
  row: QuoteLine;
  currency: string;
  margins: boolean;
  findings: readonly PreflightFinding[];
}

function Line({ row, currency, margins, findings }: LineProps) {
  const { exact, unit, percent, number } = useFormats();
  const { quantity, price, discount, total, cost, margin } = row;
  const cells: [title: string, text: string | undefined][] = [
    ['Quantity', quantity === undefined ? undefined : number(quantity)],
    ['Price', price === undefined ? undefined : unit(price, currency)],
    ['Discount', discount === undefined ? undefined : percent(discount)],
    ['Total', total === undefined ? undefined : exact(total, currency)],
  ];
  if (margins) {
    cells.push(['Cost', cost === undefined ? undefined : unit(cost, currency)]);
    cells.push(['Margin', margin === undefined ? undefined : percent(margin)]);
  }
  return (
    <tr role="row" class={findings.some(({ severity }) => severity === 'stop') ? 'stop' : ''}>
      <td role="cell" class="item">
        <Item row={row} currency={currency} />
        <div class="internal">
          <FindingList findings={findings} margins={margins} />
        </div>
      </td>
      {cells.map(([title, text]) => (
        <td
          key={title}
          role="cell"
          data-title={title}
          class={title === 'Margin' && (margin ?? 0) < 0 ? 'num bad' : 'num'}
        >
          {text ?? <Unknown blank={title === 'Discount'} />}
        </td>
      ))}
    </tr>
  );
}

/** A missing discount shows a dash, a missing price "unknown". */
function Unknown({ blank }: { blank: boolean }) {
  if (blank) return <span aria-hidden="true">–</span>;
  return <span class="unknown">unknown</span>;
}

function Item({ row, currency }: { row: QuoteLine; currency: string }) {
  const { exact } = useFormats();
  const { line, name, mpn, setupPrice } = row;
  const more = [mpn, setupPrice && `plus ${exact(setupPrice, currency)} setup, once`];
  return (
    <>
      <span class="position">{line}</span>
      <span class="name" dir="auto">
        {name ?? mpn ?? 'Unnamed item'}
      </span>
      <span class="more">{more.filter(Boolean).join(' · ')}</span>
    </>
  );
}
