// biome-ignore-all lint/a11y/noRedundantRoles: CSS shows these tables as blocks, which removes their implicit roles
/** The lines of a quote: one table per term, so that amounts of different terms do not look like one sum. */
import { type Formats, ownOf, useFormats } from '../shell/format.ts';
import { Table, type TableColumn } from '../shell/table.tsx';
import type { Costs, Finding, QuoteData } from './data.ts';
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
export const titleOfTerm = (term: string): string => ownOf(titles, term) ?? `Per ${term}`;

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
  const formats = useFormats();
  const { term, lines, adjustments, total } = section;
  const id = `term-${term.replace(/\W/g, '-')}`;
  const title = titleOfTerm(term);
  const findings = costs?.findings ?? data.preflight.rows;
  const findingsOf = ({ line, isSetup }: ShownLine) =>
    findings.filter((finding) => finding.line === line && !isSetup);
  const columns = [
    itemColumn(findingsOf),
    ...amountColumns(data.currency, hasDiscounts),
    ...(costs ? costColumns(costs, data.currency) : []),
  ];
  const sum = (kind: string, name: string, amount: number | undefined) => (
    <tr key={kind} role="row" class={kind}>
      <th role="rowheader" scope="row" colSpan={columns.length - (costs ? 3 : 1)}>
        {name}
      </th>
      <td role="cell" class="num sum">
        {amount === undefined ? '' : formats.exact(amount, data.currency)}
      </td>
      {costs && <td role="cell" class="internal" colSpan={2} />}
    </tr>
  );
  return (
    <section class="panel lines" aria-labelledby={id}>
      <h2 id={id}>
        <bdi>{title}</bdi>
      </h2>
      <Table
        isWhole
        label={title}
        columns={columns}
        rows={lines}
        keyOf={({ shownAt }) => String(shownAt)}
        attributesOf={(line) => ({
          'data-line': line.isSetup ? undefined : line.line,
          class: findingsOf(line).some(({ severity }) => severity === 'stop') ? 'stop' : '',
        })}
        footer={
          <tfoot role="rowgroup">
            {adjustments.map((it) => sum('adjustment', nameOf(it, data, formats), it.amount))}
            {sum('total', `Total ${title.toLowerCase()}`, total)}
          </tfoot>
        }
      />
    </section>
  );
}

function nameOf(
  { kind }: Adjustment,
  { discount, lines }: QuoteData,
  { number, percent }: Formats,
): string {
  if (kind === 'omitted') return `${number(lines.total - lines.shown)} more lines of the quote`;
  if (kind === 'rounding') return 'Rounding';
  return discount?.percent === undefined ? 'Discount' : `Discount ${percent(discount.percent)}`;
}

type Column = TableColumn<ShownLine>;

const itemColumn = (findingsOf: (line: ShownLine) => Finding[]): Column => ({
  title: 'Item',
  cell: (line, { number }) => {
    const { shownAt, name, mpn } = line;
    const findings = findingsOf(line);
    return (
      <div class="numbered">
        <span class="position">{number(shownAt)}</span>
        <span class="name" dir="auto">
          {name ?? mpn ?? 'Unnamed item'}
        </span>
        {name && mpn && <span class="more">{mpn}</span>}
        {findings.length > 0 && (
          <div class="internal more">
            <FindingList findings={findings} />
            {line.line !== shownAt && `Line ${line.line} of the quote as it was entered`}
          </div>
        )}
      </div>
    );
  },
});

/** What has no price says so, because it is in no total. */
const unknown = <span class="unknown">unknown</span>;

const amountColumns = (currency: string, hasDiscounts: boolean): Column[] => [
  {
    title: 'Quantity',
    kind: 'num',
    cell: ({ quantity }, { number }) => (quantity === undefined ? unknown : number(quantity)),
  },
  {
    title: 'Price',
    kind: 'num',
    cell: ({ price }, { unit }) => (price === undefined ? unknown : unit(price, currency)),
  },
  ...(hasDiscounts
    ? [
        {
          title: 'Discount',
          kind: 'num',
          cell: ({ discount }, { share }) => discount !== undefined && share(discount),
        } satisfies Column,
      ]
    : []),
  {
    title: 'Total',
    kind: 'main',
    cell: ({ total }, { exact }) => (total === undefined ? unknown : exact(total, currency)),
  },
];

/** Costs are left out of the customer's copy. */
const costColumns = ({ lines }: Costs, currency: string): Column[] => [
  {
    title: 'Cost',
    kind: 'num',
    class: 'internal',
    cell: ({ line, isSetup }, { unit }) => {
      const own = lines.get(line);
      const cost = isSetup ? own?.setupCost : own?.cost;
      return cost !== undefined ? unit(cost, currency) : !isSetup && unknown;
    },
  },
  {
    title: 'Margin',
    kind: 'num',
    class: 'internal',
    cell: ({ line, isSetup }, { share }) => {
      const margin = lines.get(line)?.margin;
      if (isSetup || margin === undefined) return !isSetup && unknown;
      return <span class={margin < 0 ? 'bad' : ''}>{share(margin)}</span>;
    },
  },
];
