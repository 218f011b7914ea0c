/** A forecast against a target that the person types: nothing of it is kept. */
import { useState } from 'preact/hooks';
import type { ClosedPipeline } from '../pipeline/data.ts';
import { amountIn } from '../pipeline/deals.ts';
import { useDeals } from '../pipeline/use-deals.ts';
import type { Open } from '../records/entries.ts';
import { showDeals, showPages } from '../records/rows.tsx';
import type { Arguments } from '../shell/bridge.ts';
import { useFormats } from '../shell/format.ts';
import { Failed, Figure, Select } from '../shell/parts.tsx';
import { scopeOf } from '../shell/scope.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import { type ChangesAnswer, Expected } from './comparison.tsx';
import { forecastOf, periodOf } from './forecast-figures.ts';

interface Props {
  /** Of the view's tool. */
  answer: object;
  args: Arguments;
  host: Host;
  today: string;
  currency: string;
  open: Open;
}

const spans = [
  ['month', 'This month'],
  ['quarter', 'This quarter'],
] as const;

export function Forecast(props: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="panel" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Forecast against a target</summary>
      {isOpen && <ForecastForm {...props} />}
    </details>
  );
}

function ForecastForm(props: Props) {
  const { today, currency } = props;
  const [span, setSpan] = useState<(typeof spans)[number][0]>('quarter');
  const [target, setTarget] = useState('');
  const { day, money, number, parse } = useFormats();
  const { from, to } = periodOf(today, span);
  const amount = parse(target);
  const understood =
    amount === undefined
      ? `Not understood: a number such as ${number(1_234_567)} is.`
      : `Target: ${money(amount, currency)}.`;
  return (
    <div class="stack">
      <div class="controls">
        <Select label="Period" options={spans} value={span} choose={(it) => setSpan(it)} />
        <label class="field">
          <span>{`Target, ${currency}`}</span>
          <input
            inputMode="decimal"
            value={target}
            onInput={({ currentTarget }) => setTarget(currentTarget.value)}
          />
        </label>
        <p class="about" role="status">
          {target.trim() !== '' && understood}
        </p>
        <p class="about">
          {`${day(from)} to ${day(to)}, deals in ${currency} only. Committed: a probability of 75 % or more; the rest counts by its probability. Overdue deals are in neither.`}
        </p>
      </div>
      <ForecastFigures {...props} period={{ from, to }} target={amount || undefined} />
    </div>
  );
}

interface FiguresProps extends Props {
  period: { from: string; to: string };
  target: number | undefined;
}

function ForecastFigures(props: FiguresProps) {
  const { answer: shown, args, host, today, currency, open, period, target } = props;
  const { money, number, counted } = useFormats();
  const { stage: _stage, close_from: _from, close_to: _to, ...filters } = scopeOf(args);
  // A target is in one currency, and so is what it is compared with.
  const scope = { ...filters, ...(currency !== '' && { currency }) };
  const wonArgs = { ...scope, outcome: 'won', period_from: period.from, period_to: today };
  const { answer, failed, retry } = useAnswer<ClosedPipeline>(
    host,
    'cpq_brief_pipeline',
    { ...wonArgs, sections: ['closed'] },
    [shown],
  );
  const loaded = useDeals(host, scope, shown);
  if (failed) return <Failed reason={failed} retry={retry} />;
  if (loaded.failed) return <Failed reason={loaded.failed} retry={loaded.retry} />;
  const { deals, total = 0, settled } = loaded;
  if (!answer || !settled)
    return (
      <p role="status">{`Reading the open deals: ${number(deals.length)} of ${number(total)}…`}</p>
    );
  const due = deals.filter(
    ({ closes = '', currency: own }) => closes >= today && closes <= period.to && own === currency,
  );
  const { won } = answer.closed;
  const wonValue = amountIn(won.value ?? {}, currency);
  const options = { won: wonValue, target, currency };
  const { committed, rest, commit, weightedRest, gap, coverage } = forecastOf(due, options);
  const figure = (label: string, amount: number, count: number, show: () => void) => (
    <Figure
      label={label}
      values={[money(amount, currency)]}
      more={counted(count, 'deal')}
      open={count > 0 ? show : undefined}
    />
  );
  const times = coverage && number(Math.round(coverage * 10) / 10);
  return (
    <>
      {deals.length < total && (
        <p class="coverage partial">
          {`Only ${number(deals.length)} of ${number(total)} open deals were read: the committed and the rest are more.`}
        </p>
      )}
      <dl class="figures">
        {figure('Won', wonValue, won.count, () =>
          showPages(open, host, 'Won in the period', wonArgs),
        )}
        {figure('Committed', commit, committed.length, () =>
          showDeals(open, 'Committed', committed),
        )}
        {figure('The rest, weighted', weightedRest, rest.length, () =>
          showDeals(open, 'The rest', rest),
        )}
        {gap !== undefined && (
          <Figure
            label={gap > 0 ? 'Missing to the target' : 'Above the target'}
            values={[money(Math.abs(gap), currency)]}
            tone={gap > 0 ? 'danger' : 'good'}
            more={times && `open deals cover what is not won ${times} times`}
          />
        )}
      </dl>
      <LastMonth {...{ answer: shown, host, args: scope, currency }} />
    </>
  );
}

/** What was expected for last month, and what came. */
function LastMonth({ answer: shown, host, args, currency }: Omit<Props, 'today' | 'open'>) {
  const { day } = useFormats();
  const isListed = host.lists('cpq_pipeline_changes');
  const call = isListed ? { ...args, since: 'last_month', rows: 0 } : undefined;
  const read = useAnswer<ChangesAnswer>(host, 'cpq_pipeline_changes', call, [shown]);
  const forecast = read.answer?.forecast;
  if (!forecast) return <Failed reason={read.failed} retry={read.retry} />;
  return (
    <section>
      <h3>{`Expected on ${day(forecast.from)} to close by ${day(forecast.until)}`}</h3>
      <Expected {...{ forecast, currency }} />
    </section>
  );
}
