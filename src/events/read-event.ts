import { createHash } from 'node:crypto';
import { compact } from '../figures/fields.ts';
import type { InboxEvent } from '../state/port.ts';
import { withoutSecrets } from '../text/secrets.ts';
import {
  canonicalJson,
  fieldOf,
  isObject,
  isShallow,
  type JsonObject,
  parseJson,
} from '../values.ts';
import { eventFrom, isSubject, normaliseEventName, pairFrom } from './names.ts';

export interface ReceivedEvent extends Omit<InboxEvent, 'id' | 'before'> {
  /** `undefined` if its deliveries do not differ from those of a later event. */
  id: string | undefined;
  /** The record after the event, as the service sent it. */
  fields: JsonObject | undefined;
}

/** The content of one delivery, which may hold several events. */
export interface ReceivedDelivery {
  events: ReceivedEvent[];
  /** Entries of a list that name no event; they are not stored. */
  unrecognized: number;
  isList: boolean;
}

export class UnrecognizedEvent extends Error {}

const dayMs = 86_400_000;
const maxEvents = 1_000;
/** Maximum nesting: a record may be 64 levels deep, and the payload adds some. */
const maxDepth = 80;
/** Each name, followed by the same in snake_case. */
const inBothCases = (...names: readonly string[]): string[] =>
  names.flatMap((name) => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]);
const nameKeys = inBothCases('event', 'eventName', 'eventType', 'topic', 'action', 'type');
const subjectKeys = inBothCases('subject', 'entityType', 'entity', 'resourceType', 'resource');
const recordKeys = ['data', 'record', 'payload', 'entity', 'new', 'after'];
const recordIdKeys = inBothCases('recordId', 'resourceId', 'entityId');
const timeKeys = inBothCases('occurredAt', 'eventTime', 'timestamp', 'time', 'triggeredAt');
/** Fields of the delivery rather than the event: they may differ between deliveries of one event. */
const deliveryKeys = new Set(
  inBothCases('deliveryId', 'attempt', 'attempts', 'retryCount', 'deliveredAt', 'sentAt'),
);

/**
 * Parses a delivery of one event or of a list of them, without secrets. Entries of a list that name no event are counted
 * and left out.
 * @throws UnrecognizedEvent with the reason; for a list only if none of its entries names an event
 */
export function readDelivery(body: string, now: number): ReceivedDelivery {
  const outer = withoutSecrets(parseJson(body));
  // The message of a queue, such as Pub/Sub: base64 in an envelope.
  const message = fieldOf(fieldOf(outer, 'message'), 'data');
  const isNamed = isObject(outer) && textsAt(outer, nameKeys).length > 0;
  const payload =
    typeof message === 'string' && !isNamed
      ? withoutSecrets(parseJson(Buffer.from(message, 'base64').toString('utf8')))
      : outer;
  if (payload === undefined) throw new UnrecognizedEvent('the body is not JSON');
  const isWrapper = isObject(payload) && textsAt(payload, nameKeys).length === 0;
  const list = isWrapper ? payload.events : payload;
  const isList = Array.isArray(list);
  const entries = isList ? list : [payload];
  if (entries.length > maxEvents)
    throw new UnrecognizedEvent(`the body has more than ${maxEvents} events`);
  const read = entries.map((entry) => readEvent(entry, now));
  const events = read.filter((event) => typeof event !== 'string');
  if (events.length === 0) throw new UnrecognizedEvent(String(read[0] ?? 'the body has no events'));
  return { events, unrecognized: read.length - events.length, isList };
}

const eventHeader = /^(ce-type|x-([a-z]+-)?(event|topic)(-(type|name))?)$/;

/** The JSON of a delivery that is a form, or whose event is named by a header, as by CloudEvents in binary mode; else the body. */
export function jsonOf(body: string, headers: Readonly<Record<string, unknown>>): string {
  const isForm = String(headers['content-type']).startsWith('application/x-www-form-urlencoded');
  const form = isForm ? fieldsOfForm(body) : undefined;
  const event = Object.keys(headers)
    .flatMap((name) => (eventHeader.test(name) ? String(headers[name]) : []))
    .find((name) => pairFrom(normaliseEventName(name)));
  const json = form ? JSON.stringify(form) : body;
  const data = event === undefined ? undefined : (form ?? parseJson(body));
  if (!isObject(data) || isSubject(eventNamesIn(data)?.subject ?? '')) return json;
  const named = { event, eventId: headers['ce-id'], time: headers['ce-time'] };
  const subject = pairFrom(normaliseEventName(event ?? ''))?.subject ?? '';
  // A record has an id of its own; an envelope may, beside that of what is in it.
  const inner = recordFrom(data, subject);
  const isNamed = inner !== undefined || idKeysOf(subject).some((key) => key in data);
  const isEnvelope = inner?.id !== undefined || (data.id === undefined && isNamed);
  return JSON.stringify(isEnvelope ? { ...data, ...compact(named) } : { ...named, data });
}

const idKeysOf = (subject: string): string[] => [`${subject}Id`, `${subject}_id`, ...recordIdKeys];

/** Fields with JSON are read; the only one is the body. */
function fieldsOfForm(body: string): JsonObject {
  const fields = [...new URLSearchParams(body)].map(
    ([name, value]) => [name, /^[{[]/.test(value) ? (parseJson(value) ?? value) : value] as const,
  );
  const [only, ...others] = fields.map(([, value]) => value);
  return others.length === 0 && isObject(only) ? only : Object.fromEntries(fields);
}

/** The payload is not documented, so several spellings are accepted. @returns what is wrong if it names no event */
function readEvent(payload: unknown, now: number): ReceivedEvent | string {
  if (!isObject(payload)) return 'the body is not a JSON object';
  if (!isShallow(payload, maxDepth)) return 'the body is nested too deeply';
  const named = eventNamesIn(payload);
  if (!named) return noEventMessage;
  const { subject, event } = named;
  const fields = recordFrom(payload, subject);
  const record = recordIdFrom(payload, subject, fields);
  const at = [
    ...timeKeys.map((key) => payload[key]),
    // Without a nested record it may be the time of the record, which all its events have in common.
    ...(fields ? [payload.createdAt] : []),
    ...recordTimes(event).map((key) => (fields ?? payload)[key]),
  ]
    .map((value) => timeFrom(value, now))
    .find((time) => time !== undefined);
  const id = eventIdOf(payload, [subject, event, record ?? ''], at !== undefined);
  return { id, subject, event, at, record, fields, body: JSON.stringify(payload) };
}

const noEventMessage =
  'it names no event: expected for example {"event": "quote.ordered", "data": {…}} or {"entityType": "quote", "entityId": "…", "action": "ordered"}';

function textsAt(payload: JsonObject, keys: readonly string[]): string[] {
  return keys.flatMap((key) => {
    const value = payload[key];
    const name = typeof value === 'string' ? normaliseEventName(value) : '';
    return name === '' ? [] : [name];
  });
}

function eventNamesIn(payload: JsonObject): { subject: string; event: string } | undefined {
  const named = textsAt(payload, nameKeys);
  const pair = named.map(pairFrom).find((pair) => pair !== undefined);
  if (pair) return pair;
  const [given] = textsAt(payload, subjectKeys);
  const subject = [given ?? '', ...named].find(isSubject) ?? given ?? 'unknown';
  const event = named.find((name) => name !== subject);
  return event === undefined ? undefined : { subject, event: eventFrom(subject, event) };
}

/** The record in a payload, after the event; it may be nested one level deeper under its own name. */
export function recordFrom(payload: JsonObject, subject: string): JsonObject | undefined {
  const found = [...recordKeys, subject].map((key) => payload[key]).find(isObject);
  return [subject, 'new', 'after'].map((key) => found?.[key]).find(isObject) ?? found;
}

function recordIdFrom(
  payload: JsonObject,
  subject: string,
  fields: JsonObject | undefined,
): string | undefined {
  // Without a nested record, the id belongs to the record rather than to the event.
  const ids = [
    fields?.id,
    ...idKeysOf(subject).map((key) => payload[key]),
    fields ? undefined : payload.id,
  ];
  return ids.map(idFrom).find((id) => id !== undefined);
}

function idFrom(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const id = value.trim();
  return id !== '' && id.length <= 200 ? id : undefined;
}

/** The time fields of a record that can be the time of the event, best first. */
function recordTimes(event: string): string[] {
  if (event === 'created') return ['createdAt', 'updatedAt'];
  if (event === 'status_changed') return ['stageUpdatedAt', 'updatedAt'];
  if (event === 'deleted') return ['deletedAt', 'deleted', 'updatedAt'];
  return ['updatedAt'];
}

const earliest = Date.UTC(2000, 0, 1);
/** Seconds since the epoch have fewer digits than milliseconds for a long time to come. */
const maxSeconds = 1e11;

/**
 * Parses a time: seconds, milliseconds, or a text with a time of day, without an offset in UTC. Times before 2000 or more
 * than a day ahead are ignored, and so are days: several events may have the same.
 */
function timeFrom(value: unknown, now: number): number | undefined {
  const [, day, time, offset] =
    /^(\d{4}-\d{2}-\d{2})[T ]([\d:.]+)(Z|[+-][\d:]+)?$/.exec(String(value).trim()) ?? [];
  const number = typeof value === 'number' ? value * (value < maxSeconds ? 1_000 : 1) : undefined;
  const at = Math.round(number ?? Date.parse(`${day}T${time}${offset ?? 'Z'}`));
  return at >= earliest && at <= now + dayMs ? at : undefined;
}

/**
 * The identity of an event, equal for all its deliveries. Without an id of the event, equal content is only the same
 * event if it has a time: a record can be updated twice with the same content, and storing an event twice is better than
 * losing one. A field `id` may be the subscription's.
 */
function eventIdOf(
  payload: JsonObject,
  about: readonly string[],
  hasTime: boolean,
): string | undefined {
  const eventId = idFrom(payload.eventId ?? payload.event_id);
  if (eventId === undefined && !hasTime) return undefined;
  const own = Object.entries(payload).filter(([key]) => !deliveryKeys.has(key));
  const content = ['content', ...about, Object.fromEntries(own)];
  const parts = eventId === undefined ? content : ['event id', eventId, ...about];
  return createHash('sha256').update(canonicalJson(parts)).digest('base64url').slice(0, 27);
}
