/** The columns of the board as bars: by stage and by closing month, with the same counts. */
import type { OpenDeal } from '../../../briefs/pipeline/pipeline.ts';
import type { Open } from '../records/entries.ts';
import { showDeals } from '../records/rows.tsx';
import { type Bar, Bars } from '../shell/chart.tsx';
import { useFormats } from '../shell/format.ts';
import { Section } from '../shell/parts.tsx';
import { shareOf } from '../shell/shapes.ts';
import { amountIn, type ColumnsBy, columnsOf, isMonth, isOverdue, type Measure } from './deals.ts';

interface ChartsProps {
  deals: readonly OpenDeal[];
  measure: Measure;
  /** The name of what the bars measure. */
  about: string;
  today: string;
  /** Of the bars; counts cover every currency. */
  currency: string;
  open: Open;
}

const charts = [
  ['stage', 'By stage', 'Stage'],
  ['month', 'By closing month', 'Month'],
] as const;

export function Charts({ deals, measure, about, today, currency, open }: ChartsProps) {
  const { money, month } = useFormats();
  const barsBy = (by: ColumnsBy): Bar[] => {
    const columns = columnsOf(deals, { by, measure, today });
    const most = Math.max(...columns.map(({ sum }) => amountIn(sum, currency)), 0);
    return columns.map((column) => {
      const amount = column.sum[currency];
      const name = isMonth(column.name) ? month(column.name) : column.name;
      return {
        key: column.key,
        name,
        count: column.count,
        text: amount === undefined ? '–' : money(amount, currency),
        length: shareOf(amount ?? 0, most),
        tone: isOverdue(column) ? 'danger' : undefined,
        open: () => showDeals(open, name, column.deals),
      };
    });
  };
  return (
    <div class="charts">
      {charts.map(([by, title, first]) => (
        <Section key={by} id={`by-${by}`} title={title}>
          <Bars first={first} measure={`${about}, ${currency}`} bars={barsBy(by)} />
        </Section>
      ))}
    </div>
  );
}
