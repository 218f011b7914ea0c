/**
 * Charts of a dozen bars each, as tables with a bar in every row. Tables print, scale, follow the host's colours and
 * are read by screen readers; a canvas does none of this.
 */
import type { OpenDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import { useFormats } from '../shell/format.ts';
import { shortened } from '../shell/shorten.ts';
import { amountIn, type Column, columnsOf, isMonth, isOverdue, type Measure } from './deals.ts';

interface ChartsProps {
  deals: readonly OpenDeal[];
  measure: Measure;
  /** The name of what the bars measure. */
  about: string;
  today: string;
  /** Of the bars; counts cover every currency. */
  currency: string;
}

/** The same columns as on the board, with the same counts. */
export function Charts({ deals, measure, about, today, currency }: ChartsProps) {
  const shared = { about: `${about}, ${currency}`, currency };
  const columns = (by: 'stage' | 'month') => columnsOf(deals, { by, measure, today });
  return (
    <div class="charts">
      <Chart id="by-stage" title="By stage" first="Stage" columns={columns('stage')} {...shared} />
      <Chart
        id="by-month"
        title="By closing month"
        first="Month"
        columns={columns('month')}
        {...shared}
      />
    </div>
  );
}

interface ChartProps {
  id: string;
  title: string;
  about: string;
  /** The title of the first column. */
  first: string;
  columns: readonly Column[];
  currency: string;
}

function Chart({ id, title, about, first, columns, currency }: ChartProps) {
  const maxAmount = Math.max(...columns.map(({ sum }) => amountIn(sum, currency)), 0);
  return (
    <section class="panel chart" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="about">{about}</p>
      <table>
        <thead class="hidden">
          <tr>
            <th scope="col">{first}</th>
            <th scope="col">Opportunities</th>
            <th scope="col">{about}</th>
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => (
            <ChartRow key={column.key} {...{ column, currency, maxAmount }} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  column: Column;
  currency: string;
  maxAmount: number;
}

/** Characters of a stage's name beside its bar; the tooltip has all of it. */
const maxName = 40;

function ChartRow({ column, currency, maxAmount }: RowProps) {
  const { money, month, number } = useFormats();
  const amount = column.sum[currency];
  const name = isMonth(column.name) ? month(column.name) : column.name;
  return (
    <tr>
      <th scope="row">
        <bdi title={name.length > maxName ? name : undefined}>{shortened(name, maxName)}</bdi>
      </th>
      <td class="num count">{number(column.count)}</td>
      <td class="track">
        <span class="bar-space" aria-hidden="true">
          <span
            class={isOverdue(column) ? 'bar danger' : 'bar'}
            style={{ width: `${shareOf(amountIn(column.sum, currency), maxAmount)}%` }}
          />
        </span>
        <span class="amount">{amount === undefined ? '–' : money(amount, currency)}</span>
      </td>
    </tr>
  );
}

/** Width of a bar in percent; amounts above 0 stay visible. */
const shareOf = (amount: number, maxAmount: number): number =>
  maxAmount <= 0 || amount <= 0 ? 0 : Math.max(1, (amount / maxAmount) * 100);
