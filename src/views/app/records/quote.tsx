/** One quote in the panel: what it is worth, what is wrong with it, and its lines. Costs are in none of them. */
import type { ComponentChildren } from 'preact';
import { type PublicLine, type QuoteAnswer, type QuoteData, withoutCosts } from '../quote/data.ts';
import { FindingList } from '../quote/findings.tsx';
import { type Formats, useFormats } from '../shell/format.ts';
import { Failed, OpenLink, Pairs } from '../shell/parts.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import type { Open } from './entries.ts';
import { CompanyLink } from './people.tsx';

interface Props {
  id: string;
  host: Host;
  open: Open;
}

export function QuoteDetails({ id, host, open }: Props) {
  const formats = useFormats();
  const call = { quote: id };
  const { answer, failed, retry } = useAnswer<QuoteAnswer>(host, 'cpq_brief_quote', call);
  if (failed) return <Failed reason={failed} retry={retry} />;
  if (!answer) return <p role="status">Reading the quote…</p>;
  if (!answer.lines) return <p>{answer.summary}</p>;
  const quote = withoutCosts(answer);
  const { lines, preflight, currency } = quote;
  return (
    <>
      <Pairs pairs={pairsOf(quote, formats, open)} />
      <h3>
        {preflight.stops > 0
          ? `Must fix: ${formats.number(preflight.stops)}`
          : 'Nothing must be fixed'}
      </h3>
      <FindingList namesLines findings={preflight.rows} />
      <Table
        label="Lines"
        rows={lines.rows}
        keyOf={({ line }) => String(line)}
        columns={columnsIn(currency)}
      />
      {lines.shown < lines.total && (
        <p class="about">{`${lines.shown} of ${lines.total} lines; the totals cover all of them.`}</p>
      )}
      <OpenLink host={host} link={quote.link} />
    </>
  );
}

function pairsOf(quote: QuoteData, formats: Formats, open: Open): [string, ComponentChildren][] {
  const { company, totals, currency, created, sent, expires } = quote;
  const { exact, day } = formats;
  const amount = (it: number | undefined) => (it === undefined ? undefined : exact(it, currency));
  return [
    ['Number', quote.number],
    ['Status', [quote.status, quote.acceptance].filter(Boolean).join(', ')],
    ['Company', company && <CompanyLink {...company} open={open} />],
    ['First-year value', amount(quote.firstYearValue)],
    ['One-time', amount(totals.oneTime)],
    ['Monthly', amount(totals.monthly)],
    ['Yearly', amount(totals.yearly)],
    ['Owner', quote.owner?.name],
    ['Created', created && day(created)],
    ['Sent', sent && day(sent)],
    ['Valid until', expires && day(expires)],
  ];
}

const columnsIn = (currency: string): TableColumn<PublicLine>[] => [
  { title: 'Item', cell: ({ name, mpn }) => <bdi>{name ?? mpn ?? 'Unnamed item'}</bdi> },
  {
    title: 'Quantity',
    kind: 'num',
    cell: ({ quantity }, { number }) => (quantity === undefined ? 'unknown' : number(quantity)),
  },
  {
    title: 'Total',
    kind: 'main',
    cell: ({ total, term }, { exact }) =>
      total === undefined ? 'unknown' : `${exact(total, currency)} ${term}`,
  },
];
