/** The total contract value day by day, where a history of enough days is kept. */
import type { DayTotal } from '../../../history/pipeline-changes.ts';
import type { Arguments } from '../shell/bridge.ts';
import { useFormats } from '../shell/format.ts';
import type { Host } from '../shell/start.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import { scopeOf } from './scope.tsx';
import { pointsOf } from './trend-line.ts';

interface Props {
  host: Host;
  args: Arguments;
  /** The answer of the view's tool. */
  answer: object;
  currency: string | undefined;
}

const period = '90d';
const maxDays = 30;
/** With fewer days a line is not meaningful. */
const minDays = 7;

/** Renders nothing if there is no history. */
export function Trend({ host, args, answer, currency }: Props) {
  const { day, money } = useFormats();
  const days = useDays(host, args, answer);
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last || currency === undefined || days.length < minDays) return null;
  const amountOf = ({ value }: DayTotal): number => value?.[currency] ?? 0;
  const title = `Total contract value, ${currency}, ${day(first.day)} to ${day(last.day)}`;
  const ends = [first, last].map((one) => ({
    at: day(one.day),
    amount: money(amountOf(one), currency),
  }));
  return (
    <figure class="trend">
      <svg viewBox="0 0 100 32" preserveAspectRatio="none" aria-hidden="true">
        <polyline points={pointsOf(days.map(amountOf), { width: 100, height: 32 })} />
      </svg>
      <figcaption>
        {ends.map(({ at, amount }) => (
          <span key={at} aria-hidden="true">
            {at}
            <strong>{amount}</strong>
          </span>
        ))}
        <div class="hidden">
          <table>
            <caption>{title}</caption>
            <tbody>
              {days.map((one) => (
                <tr key={one.day}>
                  <th scope="row">{day(one.day)}</th>
                  <td>{money(amountOf(one), currency)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </figcaption>
    </figure>
  );
}

/** Without days where they cannot be read: the line is an addition to figures that are shown anyway. */
function useDays(host: Host, args: Arguments, answer: object): readonly DayTotal[] {
  const tool = 'cpq_pipeline_changes';
  const call = { ...scopeOf(args), since: period, by: 'day', rows: maxDays };
  const isAvailable = host.canRead && host.lists(tool);
  const read = useAnswer<{ days?: { rows: DayTotal[] } }>(
    host,
    tool,
    isAvailable ? call : undefined,
    [answer],
  );
  return read.answer?.days?.rows ?? [];
}
