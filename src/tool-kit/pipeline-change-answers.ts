import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import { type Day, dayWords } from '../figures/days.ts';
import { compact } from '../figures/fields.ts';
import { plural } from '../figures/naming.ts';
import type { PipelineChanges, Shown } from '../history/changes-between.ts';
import type { Period, PeriodStates, StatePair } from '../history/compare.ts';
import type { Snapshot } from '../history/history.ts';
import type { OpenTotal } from '../history/movements.ts';
import type { QuoteChanges } from '../history/quote-changes.ts';
import { join, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { formatAmounts, today, toIsoSeconds } from './answers.ts';
import type { Answer } from './define-tool.ts';
import { describeDealScope } from './name-filters.ts';
import { answerWithRows, listedWords, listPart } from './rows.ts';

/** What a comparison was made from. */
export interface ComparisonSources {
  requested: Period;
  /** Those that the history has. */
  days: readonly Day[];
  filters: PipelineFilters;
  coverage: Record<string, unknown>;
  notes: readonly (Wording | false)[];
  asked: Shown;
}

/** Lists without a number of rows are filled up to 1,500 tokens: the estimate is up to half too high. */
const aim = 2_150;
const aimOf = ({ rows }: Shown): number | undefined => (rows === undefined ? aim : undefined);

/** @param quotes their main movements stand beside those of the deals */
export function changesAnswer(
  changes: PipelineChanges,
  quotes: QuoteChanges | undefined,
  sources: ComparisonSources & { states: PeriodStates },
): Answer {
  const { requested, states, days, filters, coverage, notes, asked } = sources;
  const { from = 0, rows } = asked;
  const write = (shown: number): Answer => {
    const { deals, ...figures } = changes;
    const list = listPart<unknown>(deals.rows.slice(0, shown), from, deals.total);
    return {
      summary: join(
        [
          reshapedSentence(changes, states),
          describeDealScope(filters),
          periodWords(states),
          from === 0 && changesSummary(changes, asked.movement !== undefined),
          quotes && quotesSentence(quotes),
          listedWords(list),
        ],
        ' ',
      ),
      data: {
        compared: comparedTimes(states),
        ...(from === 0 && figures),
        deals: list,
        ...compact({ quotes: quotes && mainQuotes(quotes, states) }),
        ...(from === 0 && { history: historyOf(days) }),
        coverage,
      },
      notes: [
        ...periodNotes(requested, states, quotes),
        seriesNote(states, changes),
        ...definitionsOf(changes, states),
        ...notes,
      ],
    };
  };
  return answerWithRows(changes.deals.rows.length, write, aimOf({ rows }));
}

export function quoteChangesAnswer(
  changes: QuoteChanges,
  { requested, days, filters, coverage, notes, asked }: ComparisonSources,
): Answer {
  const { states, rows, moves, quotes } = changes;
  const { from = 0 } = asked;
  const write = (shown: number): Answer => {
    const changed = listPart(quotes.rows.slice(0, shown), from, quotes.total);
    const summary = [
      describeDealScope(filters),
      periodWords(states),
      from === 0 && quotesSentence(changes),
      listedWords(changed),
    ];
    const figures = { rows, ...(moves.length > 0 && { moves }) };
    return {
      summary: join(summary, ' '),
      data: {
        compared: comparedTimes(states),
        quotes: { ...(from === 0 && figures), changed },
        ...(from === 0 && { history: historyOf(days) }),
        coverage,
      },
      notes: [...periodNotes(requested, states), ...notes],
    };
  };
  return answerWithRows(quotes.rows.length, write, aimOf(asked));
}

/** Without today, whose snapshot may be stored only after the answer. */
function historyOf(days: readonly Day[]) {
  const now = today();
  const past = days.filter((day) => day < now);
  return { ...compact({ from: past[0] }), days: past.length };
}

/** Both days, as a person says them, with the time of the states: a day has several, of which the last is kept. */
const periodWords = ({ opening, closing, isLive }: StatePair<unknown>): Wording =>
  wording`${momentWords(opening)} to ${isLive ? wording`${trusted(dayWords(closing.day))} (now)` : momentWords(closing)}:`;

const momentWords = ({ day, takenAt }: Snapshot<unknown>): Wording =>
  trusted(`${dayWords(day)} ${minuteOf(toIsoSeconds(takenAt)).slice(11)} UTC`);

/** What moved, in the words of a salesperson: first all that changes the number of deals. */
const nouns = {
  new: 'new',
  reopened: 'reopened',
  movedIn: 'moved into the period',
  transferredIn: 'came in',
  won: 'won',
  lost: 'lost',
  closedUnknown: 'closed with unknown outcome',
  removed: 'removed',
  movedOut: 'moved out of the period',
  transferredOut: 'went out',
  valueUp: 'worth more',
  valueDown: 'worth less',
  currencyChanged: 'in another currency',
  slipped: 'slipped',
  pulledIn: 'pulled in',
  stageForward: 'moved forward',
  stageBack: 'moved back',
  stageChanged: 'in another stage',
  ownerChanged: 'with another owner',
} as const;

/** @param isPart whether some movements were asked for, not all */
function changesSummary(changes: PipelineChanges, isPart: boolean): Wording {
  if ('pushes' in changes) return pushesSummary(changes.pushes);
  const { pipeline, moves = [] } = changes;
  const counts = new Map<string, number>([
    ...pipeline.map(({ step, count }): [string, number] => [step, count]),
    ...moves.map(({ move, count }): [string, number] => [move, count]),
  ]);
  const parts = Object.entries(nouns).flatMap(([name, noun]) => {
    const count = counts.get(name);
    return count === undefined ? [] : wording`${count} ${trusted(noun)}`;
  });
  const none = isPart ? wording`no such movement` : wording`no deal moved`;
  const what = parts.length > 0 ? join(parts, ', ') : none;
  const [first, last] = [pipeline[0], pipeline.at(-1)];
  if (first?.step !== 'opening') return wording`${what}.`;
  return wording`${totalText(first)}, then ${totalText(last)}: ${what}.`;
}

type Pushes = Extract<PipelineChanges, { pushes: object }>['pushes'];

function pushesSummary({ atLeast, open, pushed, pushes, pushRatePercent = 0 }: Pushes): Wording {
  const times = atLeast > 1 && wording` at least ${atLeast} times`;
  return wording`${pushed} of ${plural(open, 'open opportunity')} pushed${times} (${pushRatePercent} %), ${pushes} ${pushes === 1 ? 'push' : 'pushes'} in all.`;
}

/** What a derived figure is, in the answer that shows it. */
function definitionsOf(changes: PipelineChanges, { isPartial }: PeriodStates) {
  if ('pushes' in changes)
    return [
      wording`Push: the close date of an open deal is later on a day than on the day before${isPartial && '; at least so many, because not every day was compared'}. Push rate: deals with ${changes.pushes.atLeast} or more pushes, of those open at the end.`,
    ];
  const { stages, forecast } = changes;
  return [
    stages &&
      wording`Stages: conversion is forward or won, of those forward, won or lost; the win rate is that of the deals that left it and are closed now, beside its probability.`,
    forecast &&
      wording`Forecast: expected are the deals that were open before ${trusted(forecast.from)} with a close date up to ${trusted(forecast.until)}; late, early, new: won in the period though due before it, due after it, not there before.`,
  ];
}

/** Its changes are of nearly every deal, and may be none. */
function reshapedSentence(
  { reshaped = [] }: PipelineChanges,
  { opening: { day } }: PeriodStates,
): Wording | false {
  const fields = reshaped.map(({ field, before, after }) =>
    trusted(`${field} (${before} had it, now ${after})`),
  );
  return (
    fields.length > 0 &&
    wording`These figures count changes that may be none, because the service may send the field in another form since ${trusted(day)}: ${join(fields, ', ')}.`
  );
}

function totalText({ count, value }: OpenTotal = { count: 0 }): Wording {
  const deals = plural(count, 'open opportunity');
  return value === undefined ? deals : wording`${deals} of ${formatAmounts(value)}`;
}

/** Where another period is compared than was asked for. */
function periodNotes(
  { opening, closing }: Period,
  states: StatePair,
  quotes?: QuoteChanges,
): (Wording | false)[] {
  const [from, to] = [states.opening.day, states.closing.day];
  const quotesFrom = quotes?.states.opening.day ?? opening;
  return [
    from > opening &&
      wording`The first snapshot is of ${trusted(from)}: what changed before cannot be known.`,
    from < opening &&
      wording`There is no readable snapshot of ${trusted(opening)}: compared with the last one before it.`,
    [states.opening, states.closing].some(({ isOthers }) => isOthers) &&
      wording`The API key or the rules for fields have changed since: of these snapshots only what is read now is compared, so what was removed is not told.`,
    !states.isLive &&
      to < closing &&
      wording`There is no later snapshot than that of ${trusted(to)} for the end of the period.`,
    quotesFrom > opening &&
      wording`The first snapshot of the quotes is of ${trusted(quotesFrom)}: what changed in them before cannot be known.`,
  ];
}

const seriesNote = ({ isPartial }: PeriodStates, changes: PipelineChanges): Wording | false =>
  isPartial &&
  !('pushes' in changes) &&
  (changes.stages !== undefined || changes.deals.rows.some(({ slips }) => slips !== undefined)) &&
  wording`Slips, and deals that left a stage, are at least so many: not every day of the period was compared.`;

/** When the two compared states were taken. */
function comparedTimes<T>({ opening, closing, isLive }: StatePair<T>) {
  const to = toIsoSeconds(closing.takenAt);
  return { from: toIsoSeconds(opening.takenAt), to: isLive ? `${to} (now)` : to };
}

/** What a person asks about quotes first, each with the value of its quotes: steps that take value away have it negative. */
const mainRows = ({ rows, moves }: QuoteChanges) =>
  (['sent', 'accepted', 'declined', 'expired'] as const).flatMap((movement) => {
    const found = [...moves, ...rows].find(
      (row) => ('move' in row ? row.move : row.step) === movement,
    );
    if (!found) return [];
    const amounts = Object.entries(found.firstYearValue ?? {});
    const value = Object.fromEntries(amounts.map(([currency, sum]) => [currency, Math.abs(sum)]));
    const firstYearValue = amounts.length > 0 ? value : undefined;
    return [{ movement, count: found.count, ...compact({ firstYearValue }) }];
  });

function quotesSentence(changes: QuoteChanges): Wording {
  const parts = mainRows(changes).map(
    ({ movement, count }) => wording`${count} ${trusted(movement)}`,
  );
  const what = parts.length > 0 ? join(parts, ', ') : wording`none sent, answered or expired`;
  return wording`Quotes: ${what}.`;
}

/** Their first time is given only if it is in another minute than that of the deals: one call reads both. */
function mainQuotes(changes: QuoteChanges, deals: StatePair) {
  const { states } = changes;
  const { from, to } = comparedTimes(states);
  const isSame = minuteOf(from) === minuteOf(comparedTimes(deals).from);
  return compact({
    from: isSame ? undefined : from,
    to: states.isLive && deals.isLive ? undefined : to,
    rows: mainRows(changes),
  });
}

const minuteOf = (isoTime: string): string => isoTime.slice(0, 16);

export const historyIsOff = (coverage: Record<string, unknown>): Answer => ({
  summary: wording`No history of the pipeline is kept: the operator of this server has turned it off.`,
  data: { history: historyOf([]), coverage },
});

/** There are not two states to compare. */
export function nothingToCompare(
  what: 'opportunities' | 'quotes',
  days: readonly Day[],
  coverage: Record<string, unknown>,
  { closing }: Period,
): Answer {
  const [first] = days;
  if (first !== undefined && closing <= first && first < today())
    return {
      summary: wording`Nothing to compare: the first snapshot is of ${trusted(first)}, and the period ends on ${trusted(closing)}. What changed before cannot be known.`,
      data: { history: historyOf(days), coverage },
      notes: [wording`Ask since ${trusted(first)}, without until.`],
    };
  const why =
    first === undefined
      ? wording`no snapshot has been made yet`
      : wording`the first snapshot is of ${trusted(first)}, and no two states can be read`;
  return {
    summary: wording`Nothing to compare yet: ${why}.`,
    data: { history: historyOf(days), coverage },
    notes: [
      wording`The service keeps no history. This server makes a snapshot on each day on which all ${trusted(what)} are read; changes are available from the next day on.`,
    ],
  };
}
