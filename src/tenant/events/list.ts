import { type ApiRecord, type Resource, toRecord } from '../../api/records.ts';
import { calledBy } from '../../briefs/search.ts';
import type { InboxEntry, InboxRow } from '../../state/port.ts';
import type { Tenant } from '../tenant.ts';
import { differences, inWords, type Sight } from './differences.ts';
import { collectionOf, grantFor, isSent, isSubject, type Subject, subjects } from './names.ts';
import { fieldsOf } from './read-event.ts';

type Row = Record<string, unknown>;

export interface WantedEvents {
  subject?: Subject | undefined;
  event?: string | undefined;
  /** Milliseconds since the epoch; until is not included. */
  since?: number | undefined;
  until?: number | undefined;
  /** Ids of the records that are meant. */
  records?: readonly string[] | undefined;
  from: number;
  size: number;
}

/** One event, as far as it can be understood. */
export interface ListedEvent {
  at: Date;
  subject: string;
  event: string;
  /** One that the service is known to send. */
  isSent: boolean;
  record?: string;
  /** What a person calls the record. */
  name?: string;
  /** What changed, a field each, where something earlier is known of the record. */
  changes?: string[];
  /** Of an order, which can be read nowhere else. */
  order?: Row;
}

export interface ListedEvents {
  events: ListedEvent[];
  total: number;
  /** Subjects whose events may not be seen here. */
  barred: Subject[];
  keptSince?: Date;
  damaged: number;
}

/**
 * The events that were received, the latest first, of the subjects that may be read.
 * @throws NotGranted for a subject that may not; StateUnavailable
 */
export async function listEvents(tenant: Tenant, wanted: WantedEvents): Promise<ListedEvents> {
  if (wanted.subject !== undefined) tenant.require(grantFor(wanted.subject));
  const barred = subjects.filter((subject) => !tenant.grants.has(grantFor(subject)));
  const accepts = (entry: InboxEntry) => isWanted(entry, wanted) && maySee(entry.subject, barred);
  const page = await tenant.inbox.list(accepts, wanted);
  return {
    events: page.rows.map(described),
    total: page.total,
    barred,
    ...(page.keptSince === undefined ? {} : { keptSince: new Date(page.keptSince) }),
    damaged: page.damaged,
  };
}

/** Of an unknown subject nobody knows which grant it would need: it needs them all. */
const maySee = (subject: string, barred: readonly Subject[]): boolean =>
  isSubject(subject) ? !barred.includes(subject) : barred.length === 0;

function isWanted(
  entry: InboxEntry,
  { subject, event, records, since, until }: WantedEvents,
): boolean {
  return (
    (subject === undefined || entry.subject === subject) &&
    (event === undefined || entry.event === event) &&
    (records === undefined || (entry.record !== undefined && records.includes(entry.record))) &&
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until)
  );
}

function described({ event: kept, previous }: InboxRow): ListedEvent {
  const { subject, event, record, body, before } = kept;
  const listed: ListedEvent = {
    at: new Date(kept.at),
    subject,
    event,
    isSent: isSent(subject, event),
    ...(record === undefined ? {} : { record }),
  };
  const fields = fieldsOf(subject, body);
  if (!isSubject(subject) || !fields) return listed;
  const earlier = previous && fieldsOf(subject, previous.body);
  const seen = earlier ?? before;
  return {
    ...listed,
    ...nameIn(subject, fields),
    ...(seen ? changesIn(subject, { fields: seen, isWhole: false }, fields) : {}),
    ...(subject === 'order' ? { order: scalarsOf(fields) } : {}),
  };
}

function nameIn(subject: Subject, fields: Row): { name?: string } {
  const resource = collectionOf(subject);
  const record = toRecord(resource as Resource, structuredClone(fields)) as ApiRecord;
  const title = typeof fields.title === 'string' ? fields.title : undefined;
  const called = (calledBy[resource] as (record: ApiRecord) => string | undefined)(record);
  const name = [called, title].filter(Boolean).join(' ');
  return name === '' ? {} : { name };
}

const mostChanges = 8;

function changesIn(subject: Subject, sight: Sight, fields: Row): { changes?: string[] } {
  const all = differences(collectionOf(subject), sight, fields).map(inWords);
  if (all.length === 0) return {};
  const more = all.length - mostChanges;
  return {
    changes: more > 0 ? [...all.slice(0, mostChanges), `and ${more} more fields`] : all,
  };
}

const mostScalars = 10;

function scalarsOf(fields: Row): Row {
  const plain = Object.entries(fields).filter(
    ([name, value]) => name !== 'id' && ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(plain.slice(0, mostScalars));
}
