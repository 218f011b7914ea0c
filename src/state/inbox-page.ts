import type { InboxEntry } from './port.ts';

/** What to open for a page: a row, and the event of the same record before it. */
export interface SelectedRow<E> {
  row: E;
  previous: E | undefined;
}

/** Goes through the entries, the latest first, and chooses a page of those accepted. */
export function selectPage<E extends InboxEntry>(
  entries: Iterable<E>,
  accepts: (entry: E) => boolean,
  { from, size }: { from: number; size: number },
): { chosen: SelectedRow<E>[]; total: number } {
  const selected: SelectedRow<E>[] = [];
  const awaitingPrevious = new Map<string, SelectedRow<E>>();
  let total = 0;
  for (const entry of entries) {
    const record = recordKey(entry);
    const later = record === undefined ? undefined : awaitingPrevious.get(record);
    if (later && record !== undefined) {
      later.previous = entry;
      awaitingPrevious.delete(record);
    }
    if (!accepts(entry)) continue;
    total += 1;
    if (total <= from || selected.length >= size) continue;
    const one: SelectedRow<E> = { row: entry, previous: undefined };
    selected.push(one);
    if (record !== undefined) awaitingPrevious.set(record, one);
  }
  return { chosen: selected, total };
}

const recordKey = ({ subject, record }: InboxEntry): string | undefined =>
  record === undefined ? undefined : `${subject}\n${record}`;
