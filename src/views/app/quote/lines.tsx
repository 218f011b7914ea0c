// biome-ignore-all lint/a11y/noRedundantRoles: CSS shows these tables as blocks, which removes their implicit roles
import { type Formats, useFormats } from '../shell/format.ts';
import type { Costs, QuoteData } from './data.ts';
import { FindingList } from './findings.tsx';
import {
  type Adjustment,
  type ShownLine,
  type TermSection,
  termSections,
} from './numbered-lines.ts';

interface Props {
  data: QuoteData;
  /** Absent while costs are hidden. */
  costs: Costs | undefined;
}

const titles: Record<string, string> = {
  'one-time': 'One-time',
  monthly: 'Monthly',
  yearly: 'Yearly',
};
export const titleOfTerm = (term: string): string => titles[term] ?? `Per ${term}`;

/** One table of lines per term, so that amounts of different terms do not look like one sum. */
export function Lines({ data, costs }: Props) {
  const { lines } = data;
  const hasDiscounts = lines.rows.some(({ discount }) => discount !== undefined);
  return (
    <>
      {termSections(data).map((section) => (
        <Term key={section.term} {...{ section, data, costs, hasDiscounts }} />
      ))}
      {lines.shown < lines.total && (
        <p class="about">{`${lines.shown} of ${lines.total} lines shown; the totals cover all of them.`}</p>
      )}
    </>
  );
}

interface TermProps extends Props {
  section: TermSection;
  hasDiscounts: boolean;
}

function Term({ section, data, costs, hasDiscounts }: TermProps) {
  const { term, lines, adjustments, total } = section;
  const id = `term-${term.replace(/\W/g, '-')}`;
  const columns = [
    ...['Item', 'Quantity', 'Price'],
    ...(hasDiscounts ? ['Discount'] : []),
    'Total',
    ...(costs ? ['Cost', 'Margin'] : []),
  ];
  return (
    <section class="panel lines" aria-labelledby={id}>
      <h2 id={id}>
        <bdi>{titleOfTerm(term)}</bdi>
      </h2>
      {/* Shown as blocks on narrow screens; the explicit roles keep it a table for screen readers. */}
      <table role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((title) => (
              <th key={title} role="columnheader" scope="col" class={classOfColumn(title)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {lines.map((line) => (
            <Line key={line.shownAt} {...{ line, data, costs, hasDiscounts }} />
          ))}
        </tbody>
        <tfoot role="rowgroup">
          {adjustments.map((it) => (
            <SumRow
              key={it.kind}
              kind="adjustment"
              title={nameOf(it, data, useFormats())}
              amount={it.amount}
              {...{ data, columns }}
            />
          ))}
          <SumRow
            kind="total"
            title={`Total ${titleOfTerm(term).toLowerCase()}`}
            amount={total}
            {...{ data, columns }}
          />
        </tfoot>
      </table>
    </section>
  );
}

const costColumns: readonly string[] = ['Cost', 'Margin'];
/** Costs are left out of the customer's print, and of nothing else. */
const classOfColumn = (title: string): string =>
  title === 'Item' ? '' : costColumns.includes(title) ? 'num internal' : 'num';

function nameOf(
  { kind }: Adjustment,
  { discount, lines }: QuoteData,
  { number, percent }: Formats,
): string {
  if (kind === 'omitted') return `${number(lines.total - lines.shown)} more lines of the quote`;
  if (kind === 'rounding') return 'Rounding';
  return discount?.percent === undefined ? 'Discount' : `Discount ${percent(discount.percent)}`;
}

interface SumRowProps {
  kind: 'adjustment' | 'total';
  title: string;
  amount: number | undefined;
  data: QuoteData;
  columns: readonly string[];
}

function SumRow({ kind, title, amount, data, columns }: SumRowProps) {
  const { exact } = useFormats();
  const before = columns.indexOf('Total');
  const after = columns.length - before - 1;
  return (
    <tr role="row" class={kind}>
      <th role="rowheader" scope="row" colSpan={before}>
        {title}
      </th>
      <td role="cell" class="num sum">
        {amount === undefined ? '' : exact(amount, data.currency)}
      </td>
      {after > 0 && <td role="cell" class="internal" colSpan={after} />}
    </tr>
  );
}

interface LineProps extends Props {
  line: ShownLine;
  hasDiscounts: boolean;
}

function Line({ line, data, costs, hasDiscounts }: LineProps) {
  const findings = (costs?.findings ?? data.preflight.rows).filter(
    (finding) => finding.line === line.line && !line.isSetup,
  );
  const cells = cellsOf(line, costs, data.currency, useFormats());
  return (
    <tr
      role="row"
      data-line={line.isSetup ? undefined : line.line}
      class={findings.some(({ severity }) => severity === 'stop') ? 'stop' : ''}
    >
      <td role="cell" class="item">
        <Item line={line} />
        {findings.length > 0 && (
          <div class="internal">
            <FindingList findings={findings} />
            {line.line !== line.shownAt && (
              <span class="more">{`Line ${line.line} of the quote as it was entered`}</span>
            )}
          </div>
        )}
      </td>
      {cells
        .filter(({ title }) => title !== 'Discount' || hasDiscounts)
        .map(({ title, text, isBad }) => (
          <td
            key={title}
            role="cell"
            data-title={title}
            class={`${classOfColumn(title)}${isBad ? ' bad' : ''}`}
          >
            {text ?? <Unknown blank={line.isSetup || title === 'Discount'} />}
          </td>
        ))}
    </tr>
  );
}

interface Cell {
  title: string;
  text: string | undefined;
  isBad?: boolean;
}

function cellsOf(
  line: ShownLine,
  costs: Costs | undefined,
  currency: string,
  { exact, unit, share, number }: Formats,
): Cell[] {
  const { quantity, price, discount, total } = line;
  const cells: Cell[] = [
    { title: 'Quantity', text: quantity === undefined ? undefined : number(quantity) },
    { title: 'Price', text: price === undefined ? undefined : unit(price, currency) },
    { title: 'Discount', text: discount === undefined ? undefined : share(discount) },
    { title: 'Total', text: total === undefined ? undefined : exact(total, currency) },
  ];
  if (!costs) return cells;
  const own = costs.lines.get(line.line);
  const cost = line.isSetup ? own?.setupCost : own?.cost;
  const margin = line.isSetup ? undefined : own?.margin;
  return [
    ...cells,
    { title: 'Cost', text: cost === undefined ? undefined : unit(cost, currency) },
    {
      title: 'Margin',
      text: margin === undefined ? undefined : share(margin),
      isBad: (margin ?? 0) < 0,
    },
  ];
}

/** A missing discount shows a dash, a missing price "unknown". */
function Unknown({ blank }: { blank: boolean }) {
  if (blank) return <span aria-hidden="true">–</span>;
  return <span class="unknown">unknown</span>;
}

function Item({ line: { shownAt, name, mpn } }: { line: ShownLine }) {
  const { number } = useFormats();
  return (
    <div class="numbered">
      <span class="position">{number(shownAt)}</span>
      <span class="name" dir="auto">
        {name ?? mpn ?? 'Unnamed item'}
      </span>
      {name && mpn && <span class="more">{mpn}</span>}
    </div>
  );
}
