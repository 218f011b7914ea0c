import { toRecord } from '../../api/records.ts';
import { displayName } from '../../briefs/search.ts';
import type { Update } from '../../state/port.ts';
import { fieldOf } from '../../values.ts';
import type { Tenant } from '../tenant.ts';
import { fieldDifferences } from './differences.ts';
import { collectionOf, isKnownEvent, isSubject, type Subject } from './names.ts';
import { type ReceivedEvent, readEvent } from './read-event.ts';

type Row = Record<string, unknown>;

export interface Receipt {
  /** `known`: an earlier delivery of the event is stored already. */
  how: 'new' | 'known';
  subject: string;
  event: string;
  /** True if the service is known to send this event. */
  isKnown: boolean;
  /** Milliseconds since the event, if its time is known. */
  lagMs?: number;
}

/**
 * Stores an event, invalidates the collection that it concerns, and publishes the update.
 * @throws UnrecognizedEvent for a body that names no event; Error when it could not be stored and must be sent again
 */
export async function receiveEvent(tenant: Tenant, body: string): Promise<Receipt> {
  const now = Date.now();
  const received = readEvent(body, now);
  const { id, subject, event, at, record, fields } = received;
  const before = fieldsBefore(tenant, received);
  const how = await tenant.inbox.add(
    {
      ...{ id, subject, event, body },
      ...(at === undefined ? {} : { at }),
      ...(record === undefined ? {} : { record }),
      ...(before ? { before } : {}),
    },
    isSubject(subject) ? toUpdate(subject, record, fields) : undefined,
  );
  const receipt = { how, subject, event, isKnown: isKnownEvent(subject, event) };
  return at === undefined ? receipt : { ...receipt, lagMs: now - at };
}

/** Earlier values of the changed fields, from the cached collection, which is invalidated afterwards. */
function fieldsBefore(tenant: Tenant, { subject, record, fields }: ReceivedEvent): Row | undefined {
  if (!isSubject(subject) || subject === 'order' || record === undefined || !fields) {
    return undefined;
  }
  const cached = tenant.cached(subject)?.find(({ id }) => id === record) as Row | undefined;
  if (!cached || isOlder(fields, cached)) return undefined;
  const changed = fieldDifferences(subject, { fields: cached, isWhole: true }, fields);
  const names = changed.map(({ field }) => field.replace(/^customFields\..*/, 'customFields'));
  // Null means that the field is known to have been empty.
  return Object.fromEntries(names.map((name) => [name, cached[name] ?? null]));
}

/** An event older than the cached record does not show what changed since. */
const isOlder = (fields: Row, cached: Row): boolean =>
  typeof fields.updatedAt === 'string' &&
  typeof cached.updatedAt === 'string' &&
  Date.parse(fields.updatedAt) < Date.parse(cached.updatedAt);

function toUpdate(subject: Subject, record: string | undefined, fields: Row | undefined): Update {
  const collection = collectionOf(subject);
  const names = subject === 'order' ? quoteIds(fields) : recordNames(collection, record, fields);
  return { collection, names };
}

function recordNames(
  collection: keyof typeof displayName,
  record: string | undefined,
  fields: Row | undefined,
): string[] {
  const name = fields && displayName[collection](toRecord(collection, structuredClone(fields)));
  return [record, name].filter((word) => word !== undefined);
}

/** The id of the quote of an order, if it contains one. */
function quoteIds(fields: Row | undefined): string[] {
  const { quoteId, quote } = fields ?? {};
  const nested = typeof quote === 'object' && quote !== null ? fieldOf(quote, 'id') : quote;
  return [quoteId, nested].filter((id) => typeof id === 'string');
}
