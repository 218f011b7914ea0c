/** The total contract value day by day, where a history of enough days is kept. */
import type { DayTotal } from '../../../history/pipeline-changes.ts';
import type { Arguments } from '../shell/bridge.ts';
import { Line } from '../shell/chart.tsx';
import { useFormats } from '../shell/format.ts';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import { scopeOf } from './scope.tsx';

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

/** Renders nothing if there is no history: the line is an addition to figures that are shown anyway. */
export function Trend({ host, args, answer, currency }: Props) {
  const { day } = useFormats();
  const tool = 'cpq_pipeline_changes';
  const call = { ...scopeOf(args), since: period, by: 'day', rows: maxDays };
  const isAvailable = host.canRead && host.lists(tool);
  const read = useAnswer<{ days?: { rows: DayTotal[] } }>(
    host,
    tool,
    isAvailable ? call : undefined,
    [answer],
  );
  const days = read.answer?.days?.rows ?? [];
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last || currency === undefined || days.length < minDays) return null;
  return (
    <Line
      title={`Total contract value, ${currency}, ${day(first.day)} to ${day(last.day)}`}
      currency={currency}
      points={days.map(({ day: at, value }) => ({ day: at, amount: value?.[currency] ?? 0 }))}
    />
  );
}
