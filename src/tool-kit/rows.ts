/** Rows in answers: which of a list are shown, and fewer of them where an answer would be too long. */

import { type Wording, wording } from '../text/untrusted-text.ts';
import { isObject } from '../values.ts';
import type { Answer } from './define-tool.ts';

/**
 * An answer of `count` rows; `mcp/results` has it written again with fewer where it is too long, or, with `aim`,
 * where it has more tokens than that.
 */
export const answerWithRows = (
  count: number,
  write: (count: number) => Answer,
  aim?: number,
): Answer => ({
  ...write(count),
  rows: { count, keep: (fewer) => answerWithRows(fewer, write, aim), aim },
});

/** Which rows of a list are shown, and the position of the next one. */
export const pageOf = (shown: number, from: number, total: number) => ({
  shown,
  from,
  total,
  ...(shown > 0 && from + shown < total && { next: from + shown }),
});

/** The rows of a list from a position, as the data of an answer. */
export function listPart<Row>(rows: readonly Row[], from: number, total: number) {
  const { shown, next } = pageOf(rows.length, from, total);
  return { total, shown, ...(from > 0 && { from }), ...(next !== undefined && { next }), rows };
}

/** Which rows of a list are shown, where these are not all. @param argument takes the position of the next one */
export function listedWords(
  { shown, total, from = 0, next }: { shown: number; total: number; from?: number; next?: number },
  argument: 'from' | 'deals_from' = 'from',
): Wording | false {
  if (shown === 0) return from > 0 && wording`None from ${from}: there are ${total}.`;
  const more = next !== undefined && wording`; next: ${argument} ${next}`;
  return shown !== total && wording`Listed: ${from + 1} to ${from + shown} of ${total}${more}.`;
}

/** The fields of a brief with at most so many rows in each list; `groups` are whole. */
export const limitLists = (
  figures: Readonly<Record<string, unknown>>,
  limit: number,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(figures).map(([field, value]) => {
      if (field === 'groups' || !isObject(value) || !Array.isArray(value.rows))
        return [field, value];
      const rows = value.rows.slice(0, limit);
      return [field, { ...value, shown: rows.length, rows }];
    }),
  );
