/** What changed between two days: a waterfall from the opening to the closing value, and what moved. */
import type { LimitedList } from '../../../figures/naming.ts';
import type { MoveRow, OpenTotal } from '../../../history/movements.ts';
import type { Move, Movement, stageRows } from '../../../history/pipeline-changes.ts';
import { type Open, opensIn } from '../records/entries.ts';
import { amountColumn, nameColumn, textColumn } from '../records/rows.tsx';
import type { Arguments } from '../shell/bridge.ts';
import { type Bar, Bars, Count } from '../shell/chart.tsx';
import { type Formats, useFormats } from '../shell/format.ts';
import { type AnswerText, Badge, Failed } from '../shell/parts.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import type { MovedDeal } from './talk.ts';
import { type PipelineRow, type WaterfallBar, waterfallOf } from './waterfall.ts';

/** The answer of `cpq_pipeline_changes`; without `pipeline` there is nothing to compare. */
export interface ChangesAnswer extends AnswerText {
  compared?: { from: string; to: string };
  pipeline?: PipelineRow[];
  moves?: MoveRow<Move>[];
  deals?: LimitedList<MovedDeal>;
  stages?: ReturnType<typeof stageRows>;
  /** What was expected to close, and what came. */
  forecast?: { from: string; until: string; rows: ({ deals: string } & OpenTotal)[] };
  /** Of all quotes: sent, accepted, declined, expired. */
  quotes?: { rows: { movement: string; count: number }[] };
}

export const periods = [
  ['7d', '7 days'],
  ['monday', 'Monday'],
  ['last_month', 'Last month'],
  ['90d', '90 days'],
] as const;

export const movementNames: Readonly<Record<PipelineRow['step'] | Movement, string>> = {
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

/** The times that are compared, in words. */
export function comparedWords(
  { from, to }: { from: string; to: string },
  { day, time }: Formats,
): string {
  // A snapshot is kept of a day's end, so its time of day says nothing.
  const moment = (at: string) =>
    at.endsWith('T23:59:59Z') ? `the end of ${day(at.slice(0, 'YYYY-MM-DD'.length))}` : time(at);
  return `From ${moment(from)} to ${to.endsWith('(now)') ? 'now' : moment(to)}`;
}

interface Props {
  answer: ChangesAnswer;
  /** Of the call that gave the answer. */
  args: Arguments;
  host: Host;
  /** Of the bars; counts cover every currency. */
  currency: string;
  open: Open;
}

export function Comparison({ answer, args, host, currency, open }: Props) {
  const { moves = [], quotes, pipeline = [] } = answer;
  const { money, change, number } = useFormats();
  const { bars, axisStart } = waterfallOf(pipeline, currency);
  const show = (movement: PipelineRow['step'] | Move) => () =>
    open({
      kind: 'rows',
      title: movementNames[movement],
      body: () => <Moved {...{ args, movement, host, open }} />,
    });
  const barOf = ({ step, count, amount, kind, start, length }: WaterfallBar): Bar => ({
    key: step,
    name: movementNames[step],
    count,
    text: kind === 'total' ? money(amount, currency) : change(amount, currency),
    start,
    length,
    tone: kind === 'total' ? 'total' : kind === 'down' ? 'danger' : 'good',
    open: kind === 'total' || !host.canRead ? undefined : show(step),
  });
  const axis =
    axisStart > 0
      ? `. Bars begin at ${money(axisStart, currency)}, not at 0, so that small steps can be seen`
      : '';
  return (
    <>
      <Bars
        first="Step"
        measure={`Total contract value, ${currency}${axis}`}
        bars={bars.map(barOf)}
      />
      <ul class="moves plain">
        {moves.map(({ move, count }) => (
          <li key={move}>
            <Badge>
              {`${movementNames[move]}: `}
              <Count
                text={number(count)}
                name={movementNames[move]}
                open={host.canRead ? show(move) : undefined}
              />
            </Badge>
          </li>
        ))}
        {quotes?.rows.map(({ movement, count }) => (
          <li key={movement}>
            <Badge>{`Quotes ${movement}: ${number(count)}`}</Badge>
          </li>
        ))}
      </ul>
    </>
  );
}

const maxRows = 100;

interface MovedProps extends Pick<Props, 'args' | 'host' | 'open'> {
  movement: string;
}

/** The deals with one movement. */
function Moved({ args, movement, host, open }: MovedProps) {
  const call = { ...args, movement, rows: maxRows };
  const { answer, failed, retry } = useAnswer<ChangesAnswer>(host, 'cpq_pipeline_changes', call, [
    movement,
  ]);
  if (failed) return <Failed reason={failed} retry={retry} />;
  if (!answer) return <p role="status">Reading…</p>;
  return <Movements rows={answer.deals?.rows ?? []} total={answer.deals?.total} open={open} />;
}

const good: readonly Movement[] = ['won', 'new', 'stageForward', 'valueUp', 'pulledIn'];
const bad: readonly Movement[] = ['lost', 'removed', 'stageBack', 'valueDown', 'slipped'];

const toneOf = (movement: Movement) =>
  good.includes(movement) ? 'good' : bad.includes(movement) ? 'warning' : 'plain';

const columns: TableColumn<MovedDeal>[] = [
  nameColumn,
  textColumn('Company', 'company'),
  {
    title: 'What moved',
    cell: ({ movement }) => (
      <span class="marks">
        {movement.map((one) => (
          <Badge key={one} tone={toneOf(one)}>
            {movementNames[one]}
          </Badge>
        ))}
      </span>
    ),
  },
  {
    title: 'Difference',
    cell: (row, formats) => differencesOf(row, formats).join(' · ') || undefined,
  },
  amountColumn('Total contract value', ({ value }) => value),
];

interface MovementsProps {
  rows: readonly MovedDeal[];
  total?: number | undefined;
  open: Open;
}

export function Movements({ rows, total = rows.length, open }: MovementsProps) {
  const { number } = useFormats();
  // A moved row says "before → after", so the record is read for what it is now.
  const among = rows.map(({ id, name }) => ({ id, name }));
  return (
    <>
      {rows.length < total && (
        <p class="about">{`The ${number(rows.length)} largest of ${number(total)}.`}</p>
      )}
      <Table
        label="Movements"
        columns={columns}
        rows={rows}
        keyOf={({ id = '' }) => id}
        open={({ id, name }) => opensIn(open, 'opportunity', among)({ id, name })}
      />
    </>
  );
}

/** What is different: texts with an arrow have a before and an after. */
export function differencesOf(row: MovedDeal, { change, number }: Formats): string[] {
  const { valueChange, currency = '', stage, owner, slipDays, slips } = row;
  const days = slipDays === undefined ? undefined : Math.abs(slipDays);
  const texts = [
    valueChange !== undefined && change(valueChange, currency),
    stage?.includes(' → ') && stage,
    owner?.includes(' → ') && owner,
    days && `${number(days)} days ${(slipDays ?? 0) > 0 ? 'later' : 'earlier'}`,
    slips !== undefined && slips > 1 && `slipped ${number(slips)} times`,
  ];
  return texts.flatMap((text) => text || []);
}

type StageRow = NonNullable<ChangesAnswer['stages']>[number];

/** The stages that deals left: how many moved on or were won, and how long they had been in it. */
export function Funnel({ stages }: { stages: readonly StageRow[] }) {
  const count = (
    title: string,
    key: 'left' | 'forward' | 'won' | 'lost',
  ): TableColumn<StageRow> => ({
    title,
    kind: 'num',
    cell: (row, { number }) => number(row[key] ?? 0),
  });
  return (
    <Table
      label="Stages that deals left"
      rows={stages}
      keyOf={({ id, name = '' }) => id ?? name}
      columns={[
        { title: 'Stage', cell: ({ name, id }) => <bdi>{name ?? id}</bdi> },
        count('Left it', 'left'),
        count('Moved on', 'forward'),
        count('Won', 'won'),
        count('Lost', 'lost'),
        {
          title: 'Median days in it',
          kind: 'num',
          cell: ({ medianDays }, { number }) => medianDays !== undefined && number(medianDays),
        },
        {
          title: 'Conversion',
          kind: 'main',
          cell: ({ conversion }, { share }) =>
            conversion === undefined ? 'too few' : share(conversion),
        },
      ]}
    />
  );
}
