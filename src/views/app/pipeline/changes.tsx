/** What changed: a waterfall from the opening to the closing value, and the deals that moved. */
import { useState } from 'preact/hooks';
import type { LimitedList } from '../../../figures/naming.ts';
import type { MoveRow } from '../../../history/movements.ts';
import type { ChangeRow, Move, Movement } from '../../../history/pipeline-changes.ts';
import type { Arguments } from '../shell/bridge.ts';
import { useFormats } from '../shell/format.ts';
import { type AnswerText, Badge, Notes } from '../shell/parts.tsx';
import type { Host } from '../shell/start.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import { Select } from './controls.tsx';
import { scopeOf } from './scope.tsx';
import { type PipelineRow, type WaterfallBar, waterfallOf } from './waterfall.ts';

type MovedDeal = Omit<ChangeRow, 'movement'> & { movement: Movement[] };

/** The answer of `cpq_pipeline_changes`; without `pipeline` there is nothing to compare. */
interface ChangesAnswer extends AnswerText {
  compared?: { from: string; to: string };
  pipeline?: PipelineRow[];
  moves?: MoveRow<Move>[];
  deals?: LimitedList<MovedDeal>;
  /** Of all quotes: sent, accepted, declined, expired. */
  quotes?: { rows: { movement: string; count: number }[] };
}

interface Props {
  args: Arguments;
  host: Host;
  /** The answer of the view's tool. */
  answer: object;
  /** Of the bars; counts cover every currency. */
  currency: string;
}

const periods = [
  ['7d', '7 days'],
  ['monday', 'Monday'],
  ['last_month', 'Last month'],
  ['90d', '90 days'],
] as const;

const names: Readonly<Record<PipelineRow['step'] | Movement, string>> = {
  opening: 'Opening',
  closing: 'Closing',
  new: 'New',
  reopened: 'Reopened',
  movedIn: 'Moved into the period',
  transferredIn: 'Moved into the filter',
  valueUp: 'Value up',
  valueDown: 'Value down',
  currencyChanged: 'Currency changed',
  won: 'Won',
  lost: 'Lost',
  closedUnknown: 'Closed, outcome unknown',
  removed: 'Removed',
  movedOut: 'Moved out of the period',
  transferredOut: 'Moved out of the filter',
  stageForward: 'Stage forward',
  stageBack: 'Stage back',
  stageChanged: 'Stage changed',
  slipped: 'Slipped',
  pulledIn: 'Pulled in',
  ownerChanged: 'New owner',
};

const maxRows = 20;

/** Renders nothing if the server does not list the tool. */
export function Changes(props: Props) {
  return props.host.lists('cpq_pipeline_changes') ? <ListedChanges {...props} /> : null;
}

function ListedChanges({ args, host, currency, answer: shown }: Props) {
  const { day, time } = useFormats();
  // A snapshot is kept of a day's end, so its time of day says nothing.
  const moment = (at: string) =>
    at.endsWith('T23:59:59Z') ? `the end of ${day(at.slice(0, 'YYYY-MM-DD'.length))}` : time(at);
  const [since, setSince] = useState<(typeof periods)[number][0]>('7d');
  const call = { ...scopeOf(args), since, rows: maxRows };
  const { answer, failed } = useAnswer<ChangesAnswer>(host, 'cpq_pipeline_changes', call, [
    shown,
    since,
  ]);
  const compared = answer?.compared;
  return (
    <section class="panel changes" aria-labelledby="changes">
      <div class="head">
        <div>
          <h2 id="changes">What changed</h2>
          {compared && (
            <p class="about">
              {`From ${moment(compared.from)} to ${compared.to.endsWith('(now)') ? 'now' : moment(compared.to)}`}
            </p>
          )}
        </div>
        <Select label="Since" value={since} options={periods} choose={(it) => setSince(it)} />
      </div>
      {failed && <p role="alert">{failed}</p>}
      {!answer && !failed && <p class="about">Reading…</p>}
      {answer && !answer.pipeline && <p>{answer.summary}</p>}
      {answer?.pipeline && <Comparison {...{ answer, currency }} rows={answer.pipeline} />}
    </section>
  );
}

interface ComparisonProps {
  answer: ChangesAnswer;
  rows: readonly PipelineRow[];
  currency: string;
}

function Comparison({ answer, rows, currency }: ComparisonProps) {
  const { moves = [], deals, quotes, notes = [] } = answer;
  return (
    <>
      <WaterfallChart rows={rows} currency={currency} />
      <Counts of={moves.map(({ move, count }) => [names[move], count])} />
      <Counts
        of={(quotes?.rows ?? []).map(({ movement, count }) => [`Quotes ${movement}`, count])}
      />
      {deals && deals.rows.length > 0 && <Movements {...deals} notes={notes} />}
    </>
  );
}

function Counts({ of }: { of: readonly (readonly [name: string, count: number])[] }) {
  const { number } = useFormats();
  if (of.length === 0) return null;
  return (
    <ul class="moves plain">
      {of.map(([name, count]) => (
        <li key={name}>
          <Badge>{`${name}: ${number(count)}`}</Badge>
        </li>
      ))}
    </ul>
  );
}

function WaterfallChart({ rows, currency }: Omit<ComparisonProps, 'answer'>) {
  const { money } = useFormats();
  const { bars, axisStart } = waterfallOf(rows, currency);
  return (
    <table class="chart">
      <caption class="about">
        {`Total contract value, ${currency}`}
        {axisStart > 0 && `; bars start at ${money(axisStart, currency)}`}
      </caption>
      <thead class="hidden">
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Opportunities</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {bars.map((bar) => (
          <WaterfallRow key={bar.step} bar={bar} currency={currency} />
        ))}
      </tbody>
    </table>
  );
}

function WaterfallRow({ bar, currency }: { bar: WaterfallBar; currency: string }) {
  const { change, money, number } = useFormats();
  const { step, count, amount, kind, start, length } = bar;
  return (
    <tr class={kind}>
      <th scope="row">{names[step]}</th>
      <td class="num count">{number(count)}</td>
      <td class="track">
        <span class="bar-space" aria-hidden="true">
          <span
            class={`bar ${kind}`}
            style={{ marginInlineStart: `${start}%`, width: `${Math.max(length, 0.6)}%` }}
          />
        </span>
        <span class="amount">
          {kind === 'total' ? money(amount, currency) : change(amount, currency)}
        </span>
      </td>
    </tr>
  );
}

interface MovementsProps {
  rows: readonly MovedDeal[];
  shown: number;
  total: number;
  notes: readonly string[];
}

function Movements({ rows, shown, total, notes }: MovementsProps) {
  const { number } = useFormats();
  return (
    <details class="movements">
      <summary>
        {shown < total
          ? `Movements: the ${number(shown)} largest of ${number(total)}`
          : `Movements: ${number(total)}`}
      </summary>
      <ul class="rows plain">
        {rows.map((row, at) => (
          <li key={row.id ?? at}>
            <MovementRow row={row} />
          </li>
        ))}
      </ul>
      <Notes notes={notes} />
    </details>
  );
}

const good: readonly Movement[] = ['won', 'new', 'stageForward', 'valueUp', 'pulledIn'];
const bad: readonly Movement[] = ['lost', 'removed', 'stageBack', 'valueDown', 'slipped'];

const toneOf = (movement: Movement) =>
  good.includes(movement) ? 'good' : bad.includes(movement) ? 'warning' : 'plain';

function MovementRow({ row }: { row: MovedDeal }) {
  const { money } = useFormats();
  const { name, company, movement, value, currency = '' } = row;
  return (
    <>
      <div class="movement">
        <strong dir="auto">{name ?? row.id}</strong>
        <span dir="auto">{company}</span>
        <span class="marks">
          {movement.map((one) => (
            <Badge key={one} tone={toneOf(one)}>
              {names[one]}
            </Badge>
          ))}
        </span>
      </div>
      <div class="movement-facts">
        {value !== undefined && <strong>{money(value, currency)}</strong>}
        <Differences row={row} />
      </div>
    </>
  );
}

/** What is different: texts with an arrow have a before and an after. */
function Differences({ row }: { row: MovedDeal }) {
  const { change, number } = useFormats();
  const { valueChange, currency = '', stage, owner, slipDays, slips } = row;
  const days = slipDays === undefined ? undefined : Math.abs(slipDays);
  const texts = [
    valueChange !== undefined && change(valueChange, currency),
    stage?.includes(' → ') && stage,
    owner?.includes(' → ') && owner,
    days && `${number(days)} days ${(slipDays ?? 0) > 0 ? 'later' : 'earlier'}`,
    slips !== undefined && slips > 1 && `slipped ${number(slips)} times`,
  ];
  return (
    <>
      {texts.map((text) =>
        text ? (
          <span key={text} dir="auto">
            {text}
          </span>
        ) : null,
      )}
    </>
  );
}
