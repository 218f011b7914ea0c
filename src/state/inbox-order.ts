import type { InboxEntry } from './port.ts';

/** What to open for a page: a row, and the event of the same record before it. */
export interface Chosen<E> {
  row: E;
  previous: E | undefined;
}

/** Goes through the entries, the latest first, and chooses a page of those accepted. */
export function choose<E extends InboxEntry>(
  entries: Iterable<E>,
  accepts: (entry: E) => boolean,
  { from, size }: { from: number; size: number },
): { chosen: Chosen<E>[]; total: number } {
  const chosen: Chosen<E>[] = [];
  const waiting = new Map<string, Chosen<E>>();
  let total = 0;
  for (const entry of entries) {
    const record = recordOf(entry);
    const later = record === undefined ? undefined : waiting.get(record);
    if (later && record !== undefined) {
      later.previous = entry;
      waiting.delete(record);
    }
    if (!accepts(entry)) continue;
    total += 1;
    if (total <= from || chosen.length >= size) continue;
    const one: Chosen<E> = { row: entry, previous: undefined };
    chosen.push(one);
    if (record !== undefined) waiting.set(record, one);
  }
  return { chosen, total };
}

const recordOf = ({ subject, record }: InboxEntry): string | undefined =>
  record === undefined ? undefined : `${subject}\n${record}`;
