/** Two quotes of a company, line by line. */
import { useState } from 'preact/hooks';
import type { QuoteRow } from '../records/entries.ts';
import { type Formats, useFormats } from '../shell/format.ts';
import { Badge, Failed, Select } from '../shell/parts.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import { type ComparedLine, comparedLines } from './compared-lines.ts';
import { type Costs, costsOf, type QuoteAnswer, type QuoteData } from './data.ts';

interface Props {
  data: QuoteData;
  host: Host;
  /** Absent while costs are hidden: then margins are not compared. */
  costs: Costs | undefined;
}

/** Chooses another quote of the company, and shows it beside this one. */
export function Compare({ data, host, costs }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { id = '' } = data.company ?? {};
  if (!host.canRead || id === '' || !host.lists('cpq_brief_quotes')) return null;
  return (
    <details class="panel internal" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Compare with another quote of the company</summary>
      {isOpen && <Choice {...{ data, host, costs }} company={id} />}
    </details>
  );
}

const mostQuotes = 100;

function Choice({ data, host, costs, company }: Props & { company: string }) {
  const [other, setOther] = useState('');
  const { answer, failed, retry } = useAnswer<{ quotes?: { rows: QuoteRow[]; total: number } }>(
    host,
    'cpq_brief_quotes',
    { company, size: mostQuotes },
  );
  if (failed) return <Failed reason={failed} retry={retry} />;
  if (!answer) return <p role="status">Reading the quotes of the company…</p>;
  const { quotes = { rows: [], total: 0 } } = answer;
  const others = quotes.rows.filter(({ id }) => id !== data.id);
  if (others.length === 0) return <p class="about">The company has no other quote.</p>;
  const options = others.flatMap(({ id, number, name, status }) =>
    id === undefined ? [] : [[id, [number, name, status].filter(Boolean).join(' · ')] as const],
  );
  return (
    <div class="stack">
      <Select<string>
        label="Other quote"
        value={other}
        options={[['', 'Choose one'], ...options]}
        choose={setOther}
      />
      {quotes.rows.length < quotes.total && (
        <p class="about">{`The ${quotes.rows.length} largest of ${quotes.total} quotes of the company.`}</p>
      )}
      {other !== '' && <Differences key={other} {...{ data, host, costs, other }} />}
    </div>
  );
}

const tones = {
  Added: 'good',
  Removed: 'danger',
  'Re-priced': 'warning',
  Changed: 'warning',
  Same: 'plain',
} as const;
const mostLines = 200;

function Differences({ data, host, costs, other }: Props & { other: string }) {
  const { exact } = useFormats();
  const call = { quote: other, lines: mostLines };
  const read = useAnswer<QuoteAnswer>(host, 'cpq_brief_quote', call);
  // This quote may show a part of its lines only.
  const whole = useAnswer<QuoteAnswer>(
    host,
    'cpq_brief_quote',
    { quote: data.id, lines: mostLines },
    [data],
  );
  const failed = read.failed ?? whole.failed;
  if (failed) return <Failed reason={failed} retry={read.retry ?? whole.retry} />;
  if (!read.answer || !whole.answer) return <p role="status">Reading both quotes…</p>;
  const [one, two] = [read.answer, whole.answer];
  const rows = comparedLines(one.lines.rows, two.lines.rows);
  const columns = columnsOf(one, two, costs !== undefined, exact);
  const worth = ({ firstYearValue, currency }: QuoteAnswer) =>
    firstYearValue === undefined ? 'unknown' : exact(firstYearValue, currency);
  const isCut = [one, two].some(({ lines }) => lines.shown < lines.total);
  return (
    <>
      <p>{`First-year value: ${worth(one)} in the other quote, ${worth(two)} in this one.`}</p>
      {isCut && <p class="about">Not all lines could be read: others may differ too.</p>}
      <Table label="Differences" columns={columns} rows={rows} keyOf={({ key }) => key} />
    </>
  );
}

function columnsOf(
  one: QuoteAnswer,
  two: QuoteAnswer,
  hasMargins: boolean,
  exact: Formats['exact'],
): TableColumn<ComparedLine>[] {
  const side = (
    title: string,
    at: 'before' | 'after',
    of: QuoteAnswer,
  ): TableColumn<ComparedLine> => ({
    title,
    kind: at === 'after' ? 'main' : 'num',
    value: (row) => row[at]?.total,
    cell: (row, { number, unit }) => {
      const line = row[at];
      if (!line) return '–';
      const price = line.price === undefined ? 'unknown' : unit(line.price, of.currency);
      const total = line.total === undefined ? '' : ` = ${exact(line.total, of.currency)}`;
      const quantity = line.quantity === undefined ? 'unknown' : number(line.quantity);
      return `${quantity} × ${price}${total}`;
    },
  });
  const margin = (
    title: string,
    at: 'before' | 'after',
    of: QuoteAnswer,
  ): TableColumn<ComparedLine> => {
    const { lines } = costsOf(of);
    return {
      title,
      kind: 'num',
      cell: (row, { share }) => {
        const percent = lines.get(row[at]?.line ?? -1)?.margin;
        return percent !== undefined && share(percent);
      },
    };
  };
  return [
    { title: 'Item', value: ({ name }) => name, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      title: 'Difference',
      value: ({ difference }) => difference,
      cell: ({ difference }) => <Badge tone={tones[difference]}>{difference}</Badge>,
    },
    side(one.number ?? 'Other', 'before', one),
    side(two.number ?? 'This quote', 'after', two),
    ...(hasMargins
      ? [margin('Other margin', 'before', one), margin('This margin', 'after', two)]
      : []),
  ];
}
