import type { InboxEntry, InboxEvent, InboxRow } from '../state/port.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { type Wording, wording } from '../text/untrusted-text.ts';
import type { JsonObject } from '../values.ts';
import { describeDifference, fieldDifferences, type KnownFields } from './differences.ts';
import {
  collectionOf,
  displayNameOf,
  grantFor,
  isKnownEvent,
  isSubject,
  type Subject,
  subjects,
} from './names.ts';
import { payloadOf, recordFrom } from './read-event.ts';

export interface EventQuery {
  subject?: Subject | undefined;
  event?: string | undefined;
  /** Milliseconds since the epoch; until is not included. */
  since?: number | undefined;
  until?: number | undefined;
  /** Ids of the records. */
  records?: readonly string[] | undefined;
  from: number;
  size: number;
}

/** One event, with the fields that could be recognized. */
interface EventSummary {
  at: Date;
  subject: string;
  event: string;
  /** True if the service is known to send this event. */
  isKnown: boolean;
  record: string | undefined;
  /** Display name of the record. */
  name?: string | undefined;
  /** One text per changed field, if earlier values are known. */
  changes?: Wording[] | undefined;
  /** The fields of an order: the API has no route for orders. */
  order?: JsonObject | undefined;
  /** True if only its indexed fields could be read. */
  isDamaged: boolean;
}

export interface EventPage {
  events: EventSummary[];
  total: number;
  /** Subjects whose events are not returned, for lack of a grant. */
  hidden: Subject[];
  keptSince?: Date;
  /** Number of stored events that could not be recognized at all; they are not in `total`. */
  damaged: number;
}

/**
 * The received events, newest first, of the granted subjects.
 * @throws NotGranted for a requested subject without a grant; StateUnavailable
 */
export async function queryEvents(tenant: Tenant, query: EventQuery): Promise<EventPage> {
  if (query.subject !== undefined) tenant.requireGrant(grantFor(query.subject));
  const hidden = subjects.filter((subject) => !tenant.grants.has(grantFor(subject)));
  const accepts = (entry: InboxEntry) =>
    matchesQuery(entry, query) && maySee(entry.subject, hidden);
  const page = await tenant.inbox.list(accepts, query);
  return {
    events: page.rows.map(summarize),
    total: page.total,
    hidden,
    ...(page.keptSince === undefined ? {} : { keptSince: new Date(page.keptSince) }),
    damaged: page.damaged,
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

function summarize({ event: stored, previous }: InboxRow): EventSummary {
  const { subject, event, record, before } = stored;
  const { payload, fields } = contentOf(stored);
  const summary: EventSummary = {
    at: new Date(stored.at),
    subject,
    event,
    isKnown: isKnownEvent(subject, event),
    record,
    isDamaged: payload === undefined,
  };
  if (!isSubject(subject) || !fields) return summary;
  const previousFields = previous && contentOf(previous).fields;
  // All events of one delivery were compared with the same cached record, so the previous event is more exact.
  const earlier = previousFields ? { ...before, ...previousFields } : before;
  return {
    ...summary,
    name: nameFrom(subject, fields),
    changes: earlier && changesFrom(subject, { fields: earlier, isWhole: false }, fields),
    order: subject === 'order' ? scalarsOf(fields) : undefined,
  };
}

/** Undefined where the body cannot be read, or has no record. */
function contentOf({ subject, body }: InboxEvent) {
  const payload = payloadOf(body);
  return { payload, fields: payload && recordFrom(payload, subject) };
}

function nameFrom(subject: Subject, fields: JsonObject): string | undefined {
  const title = typeof fields.title === 'string' ? fields.title : undefined;
  return [displayNameOf(subject, fields), title].filter(Boolean).join(' ') || undefined;
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
