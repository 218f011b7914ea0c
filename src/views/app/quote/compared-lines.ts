/** The lines of two quotes, side by side. */
import type { PublicLine } from './data.ts';

type Difference = 'Added' | 'Removed' | 'Re-priced' | 'Changed' | 'Same';

export interface ComparedLine {
  key: string;
  name: string;
  before: PublicLine | undefined;
  after: PublicLine | undefined;
  difference: Difference;
}

/** Lines with the same part number, or else name, and term; of several the first with the first. What differs comes first. */
export function comparedLines(
  before: readonly PublicLine[],
  after: readonly PublicLine[],
): ComparedLine[] {
  const keyed = (lines: readonly PublicLine[]) => {
    const seen = new Map<string, number>();
    return new Map(
      lines.map((line) => {
        const key = `${(line.mpn ?? line.name ?? '').toLowerCase()} ${line.term}`;
        const count = (seen.get(key) ?? 0) + 1;
        seen.set(key, count);
        return [`${key} ${count}`, line];
      }),
    );
  };
  const [older, newer] = [keyed(before), keyed(after)];
  const all = [...new Set([...older.keys(), ...newer.keys()])].map((key): ComparedLine => {
    const [one, other] = [older.get(key), newer.get(key)];
    const name = other?.name ?? one?.name ?? other?.mpn ?? one?.mpn ?? 'Unnamed item';
    return { key, name, before: one, after: other, difference: differenceOf(one, other) };
  });
  return all.toSorted((a, b) => Number(a.difference === 'Same') - Number(b.difference === 'Same'));
}

function differenceOf(before: PublicLine | undefined, after: PublicLine | undefined): Difference {
  if (!before) return 'Added';
  if (!after) return 'Removed';
  if (before.price !== after.price || before.discount !== after.discount) return 'Re-priced';
  return before.quantity === after.quantity && before.total === after.total ? 'Same' : 'Changed';
}
