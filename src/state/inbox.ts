import { isObject, parseJson } from '../values.ts';
import type { InboxEntry, InboxEvent, InboxPage, InboxRow, InboxSlice } from './port.ts';

/** The event of a stored text; undefined if it is damaged. */
function toEvent(text: string): InboxEvent | undefined {
  const stored = parseJson(text);
  if (!isEvent(stored)) return undefined;
  const { arrived: _, ...event } = stored;
  return event;
}

export const isEvent = (stored: unknown): stored is InboxEvent & { arrived?: unknown } =>
  isObject(stored) &&
  ['id', 'subject', 'event', 'body'].every((name) => typeof stored[name] === 'string') &&
  ['string', 'undefined'].includes(typeof stored.record);

/**
 * Reads a page of the accepted entries, each with the previous event of its record.
 * @param entries newest first
 * @param load reads the text of a stored event; undefined if it was deleted meanwhile
 */
export async function readPage<E extends InboxEntry>(
  entries: Iterable<E>,
  accepts: (entry: E) => boolean,
  { from, size }: InboxSlice,
  load: (entry: E) => Promise<string | undefined>,
): Promise<Pick<InboxPage, 'rows' | 'total'>> {
  const selected: { entry: E; previous?: E }[] = [];
  const awaitingPrevious = new Map<string, (typeof selected)[number]>();
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
  const eventOf = async (entry: E) => toEvent((await load(entry)) ?? '');
  const rows = selected.map(async ({ entry, previous }): Promise<InboxRow> => {
    const { id, at, subject, event: name, record } = entry;
    const event = { body: '', ...(await eventOf(entry)), id, at, subject, event: name, record };
    const earlier = previous && (await eventOf(previous));
    return earlier ? { event, previous: earlier } : { event };
  });
  return { rows: await Promise.all(rows), total };
}
