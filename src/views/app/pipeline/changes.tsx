/** What changed, in the view of the pipeline, and its value day by day. */

import { useState } from 'preact/hooks';
import type { DayTotal } from '../../../history/changes-between.ts';
import {
  type ChangesAnswer,
  Comparison,
  comparedWords,
  Expected,
  Funnel,
  periods,
} from '../changes/comparison.tsx';
import type { Open } from '../records/entries.ts';
import type { Arguments } from '../shell/bridge.ts';
import { Line } from '../shell/chart.tsx';
import { useFormats } from '../shell/format.ts';
import { Failed, Notes, Select } from '../shell/parts.tsx';
import { scopeOf } from '../shell/scope.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';

interface Props {
  args: Arguments;
  host: Host;
  /** The answer of the view's tool. */
  answer: object;
  currency: string;
  /** Says that a search in the view does not narrow these figures. */
  isSearched: boolean;
  open: Open;
}

export function Changes({ args, host, currency, answer: shown, isSearched, open }: Props) {
  const formats = useFormats();
  const [since, setSince] = useState<(typeof periods)[number][0]>('7d');
  const call = { ...scopeOf(args), since, rows: 1 };
  const { answer, failed, retry } = useAnswer<ChangesAnswer>(host, 'cpq_pipeline_changes', call, [
    shown,
  ]);
  const compared = answer?.compared;
  return (
    <section class="panel changes" aria-labelledby="changes">
      <div class="head">
        <div>
          <h2 id="changes">What changed</h2>
          {compared && <p class="about">{comparedWords(compared, formats)}</p>}
          {args.rates !== undefined && <p class="about">Amounts of this part are not converted.</p>}
          {isSearched && <p class="about">Of all deals: the search does not narrow this part.</p>}
        </div>
        <Select label="Since" value={since} options={periods} choose={(it) => setSince(it)} />
      </div>
      <Failed reason={failed} retry={retry} />
      {!answer && !failed && <p role="status">Comparing with the history…</p>}
      {answer && !answer.pipeline && <p>{answer.summary}</p>}
      {answer?.pipeline && <Comparison {...{ answer, host, currency, open }} args={call} />}
      {answer?.stages && (
        <details>
          <summary>Conversion and days by stage</summary>
          <Funnel stages={answer.stages} />
        </details>
      )}
      {answer?.forecast && (
        <details>
          <summary>What was expected for last month</summary>
          <Expected forecast={answer.forecast} currency={currency} />
        </details>
      )}
      <Notes notes={answer?.notes} />
    </section>
  );
}

type TrendProps = Pick<Props, 'host' | 'args' | 'answer'> & { currency: string | undefined };

const period = '90d';
const maxDays = 30;
/** With fewer days a line is not meaningful. */
const minDays = 7;

/** Renders nothing if there is no history: the line is an addition to figures that are shown anyway. */
export function Trend({ host, args, answer, currency }: TrendProps) {
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
