import type { InboxEntry, InboxEvent, InboxPage, InboxRow, InboxSlice } from './port.ts';

/**
 * Reads a page of the accepted entries, each with the previous event of its record.
 * @param entries newest first
 * @param load reads a stored event; undefined if it is damaged or was deleted meanwhile
 */
export async function readPage<E extends InboxEntry>(
  entries: Iterable<E>,
  accepts: (entry: E) => boolean,
  slice: InboxSlice,
  load: (entry: E) => Promise<InboxEvent | undefined>,
): Promise<Pick<InboxPage, 'rows' | 'total'>> {
  const { selected, total } = selectPage(entries, accepts, slice);
  const rows = selected.map(async ({ entry, previous }): Promise<InboxRow> => {
    const { id, at, subject, event: name, record } = entry;
    const stored = await load(entry);
    const event = { body: '', ...stored, id, at, subject, event: name, record };
    const earlier = previous && (await load(previous));
    return earlier ? { event, previous: earlier } : { event };
  });
  return { rows: await Promise.all(rows), total };
}

interface Selected<E> {
  entry: E;
  previous?: E;
}

function selectPage<E extends InboxEntry>(
  entries: Iterable<E>,
  accepts: (entry: E) => boolean,
  { from, size }: InboxSlice,
): { selected: Selected<E>[]; total: number } {
  const selected: Selected<E>[] = [];
  const awaitingPrevious = new Map<string, Selected<E>>();
  let total = 0;
  for (const entry of entries) {
    const record = entry.record === undefined ? '' : `${entry.subject}\n${entry.record}`;
    const later = awaitingPrevious.get(record);
    if (later) later.previous = entry;
    awaitingPrevious.delete(record);
    if (!accepts(entry)) continue;
    total += 1;
    if (total <= from || selected.length >= size) continue;
    const one = { entry };
    selected.push(one);
    if (record !== '') awaitingPrevious.set(record, one);
  }
  return { selected, total };
}
