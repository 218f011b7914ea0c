import { toRecord } from '../../api/records.ts';
import { calledBy } from '../../briefs/search.ts';
import type { Update } from '../../state/port.ts';
import type { Tenant } from '../tenant.ts';
import { differences } from './differences.ts';
import { collectionOf, isSent, isSubject, type Subject } from './names.ts';
import { type ReceivedEvent, readEvent } from './read-event.ts';

type Row = Record<string, unknown>;

export interface Receipt {
  /** `known`: another delivery of it was kept before. */
  how: 'new' | 'known';
  subject: string;
  event: string;
  /** Whether it is one that the service is known to send. */
  isSent: boolean;
  /** Milliseconds since it happened, where that is said. */
  lagMs?: number;
}

/**
 * Keeps an event; what it touches is dropped and told with it.
 * @throws NotAnEvent for a body that names none; Error when it could not be made safe, and must come again
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
    isSubject(subject) ? updateOf(subject, record, fields) : undefined,
  );
  const receipt = { how, subject, event, isSent: isSent(subject, event) };
  return at === undefined ? receipt : { ...receipt, lagMs: now - at };
}

/** What the held reading says otherwise than the event: afterwards it is dropped. */
function fieldsBefore(tenant: Tenant, { subject, record, fields }: ReceivedEvent): Row | undefined {
  if (!isSubject(subject) || subject === 'order' || record === undefined || !fields) {
    return undefined;
  }
  const held = tenant.held(subject)?.find(({ id }) => id === record) as Row | undefined;
  if (!held || isOlder(fields, held)) return undefined;
  const changed = differences(subject, { fields: held, isWhole: true }, fields);
  const names = changed.map(({ field }) => field.replace(/^customFields\..*/, 'customFields'));
  // Null where there was nothing: that is known, too.
  return Object.fromEntries(names.map((name) => [name, held[name] ?? null]));
}

/** An event that was overtaken tells nothing about what changed since the reading. */
const isOlder = (fields: Row, held: Row): boolean =>
  typeof fields.updatedAt === 'string' &&
  typeof held.updatedAt === 'string' &&
  Date.parse(fields.updatedAt) < Date.parse(held.updatedAt);

function updateOf(subject: Subject, record: string | undefined, fields: Row | undefined): Update {
  const collection = collectionOf(subject);
  const names = subject === 'order' ? quoteOf(fields) : namesOf(collection, record, fields);
  return { collection, names };
}

function namesOf(
  collection: keyof typeof calledBy,
  record: string | undefined,
  fields: Row | undefined,
): string[] {
  const name = fields && calledBy[collection](toRecord(collection, structuredClone(fields)));
  return [record, name].filter((word) => word !== undefined);
}

/** An order names its quote, if anything. */
function quoteOf(fields: Row | undefined): string[] {
  const { quoteId, quote } = fields ?? {};
  const nested = typeof quote === 'object' && quote !== null ? (quote as Row).id : quote;
  return [quoteId, nested].filter((id) => typeof id === 'string');
}
