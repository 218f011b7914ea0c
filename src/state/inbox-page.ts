import type { InboxEntry, InboxSlice } from './port.ts';

/** An event of a page, and the previous event of the same record. */
export interface SelectedRow<E> {
  row: E;
  previous: E | undefined;
}

/** Selects a page of the accepted entries. `entries` are newest first. */
export function selectPage<E extends InboxEntry>(
  entries: Iterable<E>,
  accepts: (entry: E) => boolean,
  { from, size, withPrevious = true }: InboxSlice,
): { selected: SelectedRow<E>[]; total: number } {
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
    if (withPrevious && record !== undefined) awaitingPrevious.set(record, one);
  }
  return { selected, total };
}

const recordKey = ({ subject, record }: InboxEntry): string | undefined =>
  record === undefined ? undefined : `${subject}\n${record}`;
