import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import { compact, type LimitedList, plural } from '../figures/naming.ts';
import type { KeptDays, Period, PeriodStates, StatePair } from '../history/compare.ts';
import type { ForecastRow } from '../history/forecast-accuracy.ts';
import type { MoveRow, OpenTotal, StepRow } from '../history/movements.ts';
import type { ChangeGroup } from '../history/pipeline-change-groups.ts';
import type { StageRow } from '../history/pipeline-change-series.ts';
import type { ChangeRow, DayTotal, DealStep, Move } from '../history/pipeline-changes.ts';
import type { QuoteChanges, QuoteMovement } from '../history/quote-changes.ts';
import { join, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { answerWithRows, formatAmounts, toIsoSeconds } from './answers.ts';
import type { Answer } from './define-tool.ts';
import { scopeOf } from './pipeline-answers.ts';

export interface PipelineChanges {
  opening: OpenTotal;
  closing: OpenTotal;
  steps: StepRow<DealStep>[];
  moves: MoveRow<Move>[];
  groups?: LimitedList<ChangeGroup> | undefined;
  /** The pipeline on days of the period. */
  days?: LimitedList<DayTotal> | undefined;
  deals: LimitedList<ChangeRow>;
  stages?: StageRow[];
  forecast?: { since: string; until: string; rows: ForecastRow[] };
  quotes?: QuoteChanges | undefined;
  /** Whether the quotes that changed are listed in place of the deals. */
  listsQuotes?: boolean;
}

/** What a comparison was made from. */
export interface ComparisonSources {
  requested: Period;
  states: PeriodStates;
  kept: KeptDays;
  filters: PipelineFilters;
  coverage: Record<string, unknown>;
  notes: readonly Wording[];
}

export function changesAnswer(changes: PipelineChanges, sources: ComparisonSources): Answer {
  const { states, kept, coverage, requested } = sources;
  const { deals, groups, days, stages = [], forecast, opening, closing, steps, moves } = changes;
  const { quotes, listsQuotes = false } = changes;
  const listed = listsQuotes ? (quotes?.quotes.rows ?? []) : deals.rows;
  return answerWithRows(listed.length, (shown) => ({
    summary: join([...scopeOf(sources.filters), changesSummary(changes, sources)], ' '),
    data: compact({
      compared: comparedTimes(states),
      pipeline: [{ step: 'opening', ...opening }, ...steps, { step: 'closing', ...closing }],
      moves: moves.length > 0 ? moves : undefined,
      groups,
      days,
      deals: listsQuotes
        ? undefined
        : { total: deals.total, shown, rows: deals.rows.slice(0, shown) },
      stages: stages.length > 0 ? stages : undefined,
      forecast: forecast && forecast.rows.length > 0 ? forecast : undefined,
      quotes: quotes && quotesData(quotes, states, listsQuotes ? shown : undefined),
      history: { ...compact({ from: kept.first }), days: kept.count },
      coverage,
    }),
    notes: [
      ...periodNotes(requested, states),
      ...(quotes ? quoteNotes(requested, quotes) : []),
      ...seriesNotes(states, stages, deals),
      ...sources.notes,
    ],
  }));
}

/** What moved, in the words of a salesperson: first all that changes the number of deals. */
const nouns: readonly (readonly [DealStep | Move, string])[] = [
  ['new', 'new'],
  ['reopened', 'reopened'],
  ['movedIn', 'moved into the period'],
  ['transferredIn', 'came in'],
  ['won', 'won'],
  ['lost', 'lost'],
  ['closedUnknown', 'closed with unknown outcome'],
  ['removed', 'removed'],
  ['movedOut', 'moved out of the period'],
  ['transferredOut', 'went out'],
  ['slipped', 'slipped'],
  ['pulledIn', 'pulled in'],
  ['stageForward', 'moved forward'],
  ['stageBack', 'moved back'],
];

function changesSummary(
  { opening, closing, steps, moves, quotes }: PipelineChanges,
  { states }: ComparisonSources,
): Wording {
  const counts = new Map<string, number>([
    ...steps.map(({ step, count }): [string, number] => [step, count]),
    ...moves.map(({ move, count }): [string, number] => [move, count]),
  ]);
  const parts = nouns.flatMap(([name, noun]) => {
    const count = counts.get(name);
    return count === undefined ? [] : wording`${count} ${trusted(noun)}`;
  });
  const what = parts.length > 0 ? join(parts, ', ') : wording`no deal moved`;
  const until = states.isLive ? wording`now` : wording`on ${trusted(states.closing.day)}`;
  return wording`${totalText(opening)} on ${trusted(states.opening.day)}, ${totalText(closing)} ${until}: ${what}.${quotes ? quotesSentence(quotes) : ''}`;
}

function totalText({ count, value }: OpenTotal): Wording {
  const deals = plural(count, 'open opportunity');
  return value === undefined ? deals : wording`${deals} of ${formatAmounts(value)}`;
}

function periodNotes({ opening, closing }: Period, states: PeriodStates): Wording[] {
  const notes: Wording[] = [];
  const [from, to] = [states.opening.day, states.closing.day];
  if (from > opening)
    notes.push(
      wording`The first snapshot is of ${trusted(from)}: what changed before cannot be known.`,
    );
  if (from < opening)
    notes.push(
      wording`There is no readable snapshot of ${trusted(opening)}: compared with the last one before it.`,
    );
  if (!states.isLive && to < closing)
    notes.push(
      wording`There is no later snapshot than that of ${trusted(to)} for the end of the period.`,
    );
  return notes;
}

const seriesNotes = (
  { isPartial }: PeriodStates,
  stages: readonly StageRow[],
  { rows }: LimitedList<ChangeRow>,
): Wording[] =>
  isPartial && (stages.length > 0 || rows.some(({ slips }) => slips !== undefined))
    ? [
        wording`Slips, and deals that left a stage, are at least so many: not every day of the period was compared.`,
      ]
    : [];

/** When the two compared states were taken. */
function comparedTimes<T>({ opening, closing, isLive }: StatePair<T>) {
  const to = toIsoSeconds(closing.takenAt);
  return { from: toIsoSeconds(opening.takenAt), to: isLive ? `${to} (now)` : to };
}

/** What a person asks about quotes first. */
const mainMovements: readonly QuoteMovement[] = ['sent', 'accepted', 'declined', 'expired'];

/** The main movements that occur, each with the value of its quotes: a step that takes value away has it negative. */
const mainRows = ({ rows, moves = [] }: QuoteChanges) =>
  mainMovements.flatMap((movement) => {
    const found =
      moves.find(({ move }) => move === movement) ?? rows.find(({ step }) => step === movement);
    if (!found) return [];
    const amounts = Object.entries(found.firstYearValue ?? {});
    const value = Object.fromEntries(amounts.map(([currency, sum]) => [currency, Math.abs(sum)]));
    const firstYearValue = amounts.length > 0 ? value : undefined;
    return compact({ movement, count: found.count, firstYearValue });
  });

function quotesSentence(changes: QuoteChanges): Wording {
  const parts = mainRows(changes).map(
    ({ movement, count }) => wording`${count} ${trusted(movement)}`,
  );
  const what = parts.length > 0 ? join(parts, ', ') : wording`none sent, answered or expired`;
  return wording` Quotes: ${what}.`;
}

/**
 * @param deals the states of the deals: times of the quotes are given only where they differ
 * @param shown the number of quotes that are listed; without it there are the main movements only
 */
function quotesData(
  changes: QuoteChanges,
  deals: StatePair,
  shown: number | undefined,
): Record<string, unknown> {
  const { states, rows, moves, quotes } = changes;
  const { from, to } = comparedTimes(states);
  const times = compact({
    from: from === comparedTimes(deals).from ? undefined : from,
    to: states.isLive && deals.isLive ? undefined : to,
  });
  if (shown === undefined) return { ...times, rows: mainRows(changes) };
  const changed = { total: quotes.total, shown, rows: quotes.rows.slice(0, shown) };
  return { ...times, ...compact({ rows, moves }), changed };
}

/** Where the quotes are compared over another period than was asked for. */
function quoteNotes({ opening }: Period, { states }: QuoteChanges): Wording[] {
  const from = states.opening.day;
  if (from <= opening) return [];
  return [
    wording`The first snapshot of the quotes is of ${trusted(from)}: what changed in them before cannot be known.`,
  ];
}

/** The operator keeps no history. */
export const historyIsOff = (coverage: Record<string, unknown>): Answer => ({
  summary: wording`No history of the pipeline is kept: the operator of this server has turned it off.`,
  data: { history: { days: 0 }, coverage },
});

/** There are not two states to compare. */
export function nothingToCompare(kept: KeptDays, coverage: Record<string, unknown>): Answer {
  const why =
    kept.first === undefined
      ? wording`no snapshot has been made yet`
      : wording`the first snapshot is of ${trusted(kept.first)}, and no two states can be read`;
  return {
    summary: wording`Nothing to compare yet: ${why}.`,
    data: { history: { ...compact({ from: kept.first }), days: kept.count }, coverage },
    notes: [
      wording`The service keeps no history. This server makes a snapshot on each day on which all opportunities are read; changes are available from the next day on.`,
    ],
  };
}
