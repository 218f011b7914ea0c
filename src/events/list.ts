import { displayName } from '../names/search.ts';
import { toRecord } from '../service/records/recognition.ts';
import type { InboxEntry, InboxEvent, InboxRow, InboxSlice } from '../state/port.ts';
import { requireGrant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { type Wording, wording } from '../text/untrusted-text.ts';
import { type JsonObject, parseObject } from '../values.ts';
import { describeDifference, fieldDifferences, type KnownFields } from './differences.ts';
import {
  collectionOf,
  grantFor,
  isKnownEvent,
  isSubject,
  type Subject,
  subjects,
} from './names.ts';
import { recordFrom } from './read-event.ts';

export interface EventQuery extends InboxSlice {
  subject?: Subject | undefined;
  event?: string | undefined;
  /** Milliseconds since the epoch; until is not included. */
  since?: number | undefined;
  until?: number | undefined;
  /** Ids of the records. */
  records?: readonly string[] | undefined;
}

export type EventPage = Awaited<ReturnType<typeof queryEvents>>;

/** Newest first. @throws NotGranted for a requested subject without a grant; StateUnavailable */
export async function queryEvents(tenant: Tenant, query: EventQuery) {
  if (query.subject !== undefined) requireGrant(tenant.grants, grantFor(query.subject));
  const hidden = subjects.filter((subject) => !tenant.grants.has(grantFor(subject)));
  const accepts = (entry: InboxEntry) =>
    matchesQuery(entry, query) && maySee(entry.subject, hidden);
  const { rows, total, keptSince, damaged } = await tenant.inbox.list(accepts, query);
  const events = rows.map((row) => summarize(tenant, row));
  const withoutContent = rows.filter(({ event }) => parseObject(event.body) === undefined).length;
  return {
    events,
    total,
    /** Subjects whose events are not returned, for lack of a grant. */
    hidden,
    keptSince,
    /** Number of stored events that cannot be read. */
    damaged: damaged + withoutContent,
    /** Those of them that are in `total`: their subject, event and time are known. */
    withoutContent,
  };
}

/** An event of an unknown subject requires the grants of all subjects. */
const maySee = (subject: string, hidden: readonly Subject[]): boolean =>
  isSubject(subject) ? !hidden.includes(subject) : hidden.length === 0;

function matchesQuery(
  entry: InboxEntry,
  { subject, event, records, since, until }: EventQuery,
): boolean {
  return (
    (subject === undefined || entry.subject === subject) &&
    (event === undefined || entry.event === event) &&
    (records === undefined || (entry.record !== undefined && records.includes(entry.record))) &&
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until)
  );
}

/** One event, with the fields that could be recognized. */
function summarize(tenant: Tenant, { event: stored, previous }: InboxRow) {
  const { subject, event, record, before } = stored;
  const fields = fieldsOf(tenant, stored);
  const previousFields = previous && fieldsOf(tenant, previous);
  // All events of one delivery were compared with the same cached record, so the previous event is more exact.
  const earlier = previousFields ? { ...before, ...previousFields } : before;
  return {
    at: new Date(stored.at),
    subject,
    event,
    ...(isSubject(subject) &&
      fields && {
        name: nameFrom(subject, fields),
        /** One text per changed field, if earlier values are known. */
        changes: earlier && changesFrom(subject, { fields: earlier, isWhole: false }, fields),
        /** The fields of an order: the API has no route for orders. */
        order: subject === 'order' ? scalarsOf(fields) : undefined,
      }),
    id: record,
    /** False if the service is not known to send this event. */
    known: isKnownEvent(subject, event) ? undefined : false,
  };
}

function fieldsOf(tenant: Tenant, event: InboxEvent): JsonObject | undefined {
  const { subject, body } = event;
  const content = parseObject(body);
  const fields = content && recordFrom(content, subject);
  const isMapped = isSubject(subject) && subject !== 'order';
  return fields && isMapped ? tenant.mapped(collectionOf(subject), fields) : fields;
}

function nameFrom(subject: Subject, fields: JsonObject): string | undefined {
  const collection = collectionOf(subject);
  const name = displayName[collection](toRecord(collection, structuredClone(fields)));
  const title = typeof fields.title === 'string' ? fields.title : undefined;
  return [name, title].filter(Boolean).join(' ') || undefined;
}

const maxChanges = 8;

function changesFrom(
  subject: Subject,
  known: KnownFields,
  fields: JsonObject,
): Wording[] | undefined {
  const all = fieldDifferences(collectionOf(subject), known, fields).map(describeDifference);
  if (all.length === 0) return undefined;
  const more = all.length - maxChanges;
  return more > 0 ? [...all.slice(0, maxChanges), wording`and ${more} more fields`] : all;
}

const maxScalars = 10;

function scalarsOf(fields: JsonObject): JsonObject {
  const scalars = Object.entries(fields).filter(
    ([name, value]) => name !== 'id' && ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(scalars.slice(0, maxScalars));
}
