/** The part of an answer about changes of the pipeline that is about quotes. */
import type { Amounts } from '../figures/money.ts';
import { compact } from '../figures/naming.ts';
import type { Period, StatePair } from '../history/compare.ts';
import type { QuoteChanges, QuoteMovement } from '../history/quote-changes.ts';
import type { ComparedQuotes } from '../history/quotes.ts';
import { join, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { comparedTimes } from './compared-times.ts';

/** What a person asks about quotes first. */
const mainMovements: readonly QuoteMovement[] = ['sent', 'accepted', 'declined', 'expired'];

interface MovementRow {
  movement: QuoteMovement;
  count: number;
  firstYearValue?: Amounts;
}

/** The main movements that occur, each with the value of its quotes. */
function mainRows({ rows, moves = [] }: QuoteChanges): MovementRow[] {
  return mainMovements.flatMap((movement) => {
    const sent = moves.find(({ move }) => move === movement);
    const step = rows.find((row) => row.step === movement);
    const { count, firstYearValue } = sent ?? { ...step, firstYearValue: negated(step) };
    return count === undefined ? [] : { movement, count, ...compact({ firstYearValue }) };
  });
}

/** A step that takes value from the open quotes has it as a negative amount. */
const negated = (step: { firstYearValue?: Amounts } | undefined): Amounts | undefined =>
  step?.firstYearValue &&
  Object.fromEntries(
    Object.entries(step.firstYearValue).map(([currency, amount]) => [currency, 0 - amount]),
  );

export function quotesSentence(changes: QuoteChanges): Wording {
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
export function quotesData(
  { states, changes }: ComparedQuotes,
  deals: StatePair,
  shown: number | undefined,
): Record<string, unknown> {
  const { rows, moves, quotes } = changes;
  const { from, to } = comparedTimes(states);
  return compact({
    from: from === comparedTimes(deals).from ? undefined : from,
    to: states.isLive && deals.isLive ? undefined : to,
    ...(shown === undefined
      ? { rows: mainRows(changes) }
      : {
          rows,
          moves,
          changed: { total: quotes.total, shown, rows: quotes.rows.slice(0, shown) },
        }),
  });
}

/** Where the quotes are compared over another period than was asked for. */
export function quoteNotes({ opening }: Period, { states }: ComparedQuotes): Wording[] {
  const from = states.opening.day;
  if (from <= opening) return [];
  return [
    wording`The first snapshot of the quotes is of ${trusted(from)}: what changed in them before cannot be known.`,
  ];
}
