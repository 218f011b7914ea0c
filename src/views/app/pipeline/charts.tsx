/**
 * Two charts of a dozen bars each, as tables with a bar in every row. Tables print, scale, follow the host's
 * colours and are read by screen readers; a canvas does none of this.
 */
import { useFormats } from '../shell/format.ts';
import type { Bar } from './deals.ts';

interface ChartProps {
  id: string;
  title: string;
  /** The name of what the bars measure. */
  about: string;
  first: string;
  bars: readonly Bar[];
  currency: string;
  nameOf?(bar: Bar): string;
}

export function Chart({ id, title, about, first, bars, currency, nameOf }: ChartProps) {
  const { money, number } = useFormats();
  const maxAmount = Math.max(...bars.map(({ amount }) => amount), 0);
  return (
    <section class="panel chart" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="about">{about}</p>
      <table>
        <thead class="hidden">
          <tr>
            <th scope="col">{first}</th>
            <th scope="col">Opportunities</th>
            <th scope="col">Revenue</th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.key}>
              <th scope="row">
                <bdi>{nameOf ? nameOf(bar) : bar.name}</bdi>
              </th>
              <td class="num count">{number(bar.count)}</td>
              <td class="track">
                <span
                  class={bar.tone ? `bar ${bar.tone}` : 'bar'}
                  style={{ width: `${share(bar.amount, maxAmount)}%` }}
                />
                <span class="amount">{money(bar.amount, currency)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Width of a bar in percent; amounts above 0 stay visible. */
function share(amount: number, maxAmount: number): number {
  if (maxAmount <= 0 || amount <= 0) return 0;
  return Math.max(1, (amount / maxAmount) * 60);
}
