/** What changed between two days: a waterfall from the opening to the closing value, and what moved. */
import type { LimitedList } from '../../../figures/lists.ts';
import type { MoveRow, OpenTotal } from '../../../history/movements.ts';
import type { Move, Movement, stageRows } from '../../../history/pipeline-changes.ts';
import { type Open, opensIn, type QuoteRow } from '../records/entries.ts';
import {
  amountColumn,
  nameColumn,
  opensQuoteIn,
  Pages,
  QuoteRows,
  textColumn,
} from '../records/rows.tsx';
import type { Arguments } from '../shell/bridge.ts';
import { type Bar, Bars, Count } from '../shell/chart.tsx';
import { type Formats, useFormats } from '../shell/format.ts';
import { type AnswerText, Badge } from '../shell/parts.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import type { Host } from '../shell/view.ts';
import type { MovedDeal } from './talk.ts';
import { type PipelineRow, type WaterfallBar, waterfallOf } from './waterfall.ts';

/** The answer of `cpq_pipeline_changes`; without `pipeline` there is nothing to compare. */
export interface ChangesAnswer extends AnswerText {
  compared?: { from: string; to: string };
  pipeline?: PipelineRow[];
  moves?: MoveRow<Move>[];
  deals?: LimitedList<MovedDeal> & { next?: number };
  stages?: ReturnType<typeof stageRows>;
  /** What was expected to close, and what came. */
  forecast?: { from: string; until: string; rows: ({ deals: string } & OpenTotal)[] };
  /** Of all quotes: sent, accepted, declined, expired. */
  quotes?: {
    rows: { movement: string; count: number }[];
    changed?: LimitedList<QuoteRow> & { next?: number };
  };
}

export const periods = [
  ['7d', '7 days'],
  ['monday', 'Monday'],
  ['last_month', 'Last month'],
  ['90d', '90 days'],
] as const;

/** Movements whose name is not made of their words. */
const otherNames: Readonly<Record<string, string>> = {
  movedIn: 'Moved into the period',
  movedOut: 'Moved out of the period',
  transferredIn: 'Moved into the filter',
  transferredOut: 'Moved out of the filter',
  closedUnknown: 'Closed, outcome unknown',
  ownerChanged: 'New owner',
  expected: 'Expected to close',
  wonNew: 'Won, not there before',
  wonUndated: 'Won without a close date',
};

/** `stageForward` → Stage forward. */
export const movementName = (movement: string): string =>
  otherNames[movement] ??
  movement.charAt(0).toUpperCase() +
    movement.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

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
  const { money, change } = useFormats();
  const { bars, axisStart } = waterfallOf(pipeline, currency);
  const show = (movement: string, title: string, ofQuotes = false) =>
    host.canRead
      ? () => {
          const body = () => <Moved {...{ args, movement, ofQuotes, host, open }} />;
          open({ kind: 'rows', title, body });
        }
      : undefined;
  const barOf = ({ step, count, amount, kind, start, length }: WaterfallBar): Bar => ({
    key: step,
    name: movementName(step),
    count,
    text: amount === undefined ? '–' : (kind === 'total' ? money : change)(amount, currency),
    start,
    length,
    tone: kind === 'total' ? 'total' : kind === 'down' ? 'danger' : 'good',
    open: kind === 'total' ? undefined : show(step, movementName(step)),
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
          <Moves
            key={move}
            title={movementName(move)}
            {...{ count }}
            open={show(move, movementName(move))}
          />
        ))}
        {quotes?.rows.map(({ movement, count }) => {
          const title = `Quotes ${movement}`;
          return <Moves key={movement} {...{ title, count }} open={show(movement, title, true)} />;
        })}
      </ul>
    </>
  );
}

type MovesProps = { title: string; count: number; open: (() => void) | undefined };

function Moves({ title, count, open }: MovesProps) {
  const text = useFormats().number(count);
  return (
    <li>
      <Badge>
        {`${title}: `}
        <Count {...{ text, open }} name={title} />
      </Badge>
    </li>
  );
}

const maxRows = 100;

interface MovedProps extends Pick<Props, 'args' | 'host' | 'open'> {
  movement: string;
  /** Of quotes, which have fewer filters. */
  ofQuotes?: boolean;
}

const none = { rows: [], total: 0 };

/** The deals or quotes with one movement. */
function Moved({ args, movement, ofQuotes = false, host, open }: MovedProps) {
  const { since, until, owner, company, currency } = args;
  const filters = ofQuotes ? { since, until, owner, company, currency, by: 'quote' } : args;
  const pages = {
    host,
    tool: 'cpq_pipeline_changes',
    call: (from: number) => ({ ...filters, movement, from, rows: maxRows }),
  } as const;
  return ofQuotes ? (
    <Pages
      {...pages}
      pageOf={({ quotes }: ChangesAnswer) => quotes?.changed ?? none}
      draw={(rows) => <QuoteRows rows={rows} open={opensQuoteIn(open, rows)} />}
    />
  ) : (
    <Pages
      {...pages}
      pageOf={({ deals }: ChangesAnswer) => deals ?? none}
      draw={(rows) => <Movements rows={rows} open={open} />}
    />
  );
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
            {movementName(one)}
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
  /** Absent where the host lets views call no tools. */
  open: Open | undefined;
}

export function Movements({ rows, open }: MovementsProps) {
  // A moved row says "before → after", so the record is read for what it is now.
  const nameOf = ({ id, name }: MovedDeal) => ({ id, name });
  return (
    <Table
      label="Movements"
      columns={columns}
      rows={rows}
      keyOf={({ id = '' }) => id}
      open={
        open && ((row, sorted) => opensIn(open, 'opportunity', sorted.map(nameOf))(nameOf(row)))
      }
    />
  );
}

/** What is different: texts with an arrow have a before and an after. */
export function differencesOf(row: MovedDeal, { change, counted, number }: Formats): string[] {
  const { valueChange, currency = '', stage, owner, slipDays, slips } = row;
  const days = slipDays === undefined ? undefined : Math.abs(slipDays);
  const texts = [
    valueChange !== undefined && change(valueChange, currency),
    stage?.includes(' → ') && stage,
    owner?.includes(' → ') && owner,
    days && `${counted(days, 'day')} ${(slipDays ?? 0) > 0 ? 'later' : 'earlier'}`,
    slips !== undefined && slips > 1 && `slipped ${number(slips)} times`,
  ];
  return texts.flatMap((text) => text || []);
}

type StageRow = NonNullable<ChangesAnswer['stages']>[number];

interface FunnelProps {
  stages: readonly StageRow[];
  /** What moved, as far as it is known; a stage of which all are known opens its deals. */
  moved?: readonly MovedDeal[];
  open?: Open | undefined;
}

/** The stages that deals left: how many moved on or were won, and how long they had been in it. */
export function Funnel({ stages, moved = [], open }: FunnelProps) {
  const count = (
    title: string,
    key: 'left' | 'forward' | 'won' | 'lost',
  ): TableColumn<StageRow> => ({
    title,
    kind: 'num',
    cell: (row, { number }) => number(row[key] ?? 0),
  });
  const leaving = ({ name, left }: StageRow) => {
    const deals = moved.filter(({ stage }) => stage?.startsWith(`${name} → `));
    const body = () => open && <Movements rows={deals} open={open} />;
    return open && deals.length === left
      ? () => open({ kind: 'rows', title: `Left the stage ${name}`, body })
      : undefined;
  };
  return (
    <Table
      label="Stages that deals left"
      rows={stages}
      keyOf={({ id, name = '' }) => id ?? name}
      columns={[
        { title: 'Stage', cell: ({ name, id }) => <bdi>{name ?? id}</bdi> },
        {
          ...count('Left it', 'left'),
          cell: (row, { number }) => (
            <Count text={number(row.left)} name={`Left ${row.name}`} open={leaving(row)} />
          ),
        },
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
          kind: 'num',
          cell: ({ conversionPercent }, { share }) =>
            conversionPercent === undefined ? 'too few' : share(conversionPercent),
        },
      ]}
    />
  );
}

type ExpectedProps = { forecast: NonNullable<ChangesAnswer['forecast']>; currency: string };

/** What was expected a month before to close, and what came of it. */
export function Expected({ forecast: { rows }, currency }: ExpectedProps) {
  const { money, number } = useFormats();
  return (
    <ul class="rows plain">
      {rows.map(({ deals, count, value }) => (
        <li key={deals}>
          <strong>{`${movementName(deals)}: ${number(count)}`}</strong>
          <bdi>{value?.[currency] === undefined ? '–' : money(value[currency], currency)}</bdi>
        </li>
      ))}
    </ul>
  );
}
