import { createHash } from 'node:crypto';
import { inBothCases } from '../service/records/normalise.ts';
import { maxDepth, recordFrom, recordKeys } from '../service/records/payload.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { canonicalJson, isObject, isShallow, type JsonObject, parseJson } from '../values.ts';
import { eventFrom, normaliseEventName, pairFrom, subjectFrom } from './names.ts';

/** One event of a delivery. */
export interface ReceivedEvent {
  /** Equal for all deliveries of one event; undefined if they do not differ from those of a later event. */
  id: string | undefined;
  subject: string;
  event: string;
  /** Time of the event in milliseconds since the epoch, if known. */
  at: number | undefined;
  /** Id of the record. */
  record: string | undefined;
  /** The record after the event, as the service sent it. */
  fields: JsonObject | undefined;
  /** The text that is stored of it. */
  body: string;
}

/** The content of one delivery, which may hold several events. */
export interface ReceivedDelivery {
  events: ReceivedEvent[];
  /** Entries of a list that name no event. */
  unrecognized: number;
  isList: boolean;
}

/** A delivery that names no event. */
export class UnrecognizedEvent extends Error {}

const dayMs = 86_400_000;
const nameKeys = inBothCases('event', 'eventName', 'eventType', 'topic', 'action', 'type');
const subjectKeys = inBothCases(
  ...['subject', 'entityType', 'entity', 'resourceType', 'resource', 'objectType'],
);
/** Where several events come in one delivery. */
const listKeys = ['events', ...recordKeys, 'items'];
const maxEvents = 1_000;
const recordIdKeys = inBothCases('recordId', 'resourceId', 'entityId', 'objectId', 'subjectId');
const eventIdKeys = inBothCases('eventId');
const timeKeys = inBothCases(
  ...['occurredAt', 'eventTime', 'timestamp', 'time', 'at', 'date', 'triggeredAt', 'firedAt'],
);
const createdKeys = inBothCases('createdAt', 'created');
const deliveryIdKeys = inBothCases('deliveryId');
/** Fields of the delivery rather than the event: they may differ between deliveries of one event. */
const deliveryKeys = new Set([
  ...deliveryIdKeys,
  ...inBothCases('attempt', 'attempts', 'attemptNumber', 'retry', 'retries', 'retryCount'),
  ...inBothCases('deliveredAt', 'sentAt'),
]);

/**
 * Parses a delivery of one event or of a list of them, without secrets. Entries of a list that name no event are counted and left
 * out.
 * @throws UnrecognizedEvent with the reason; for a list only if none of its entries names an event
 */
export function readDelivery(body: string, now: number): ReceivedDelivery {
  const payload = withoutSecrets(parseJson(body));
  if (payload === undefined) throw new UnrecognizedEvent('the body is not JSON');
  const list = listIn(payload);
  const entries = list ?? [payload];
  if (entries.length > maxEvents)
    throw new UnrecognizedEvent(`the body has more than ${maxEvents} events`);
  const read = entries.map((entry) => readEvent(entry, now));
  const events = read.filter((event) => typeof event !== 'string');
  if (events.length === 0) throw new UnrecognizedEvent(String(read[0] ?? 'the body has no events'));
  return { events, unrecognized: read.length - events.length, isList: list !== undefined };
}

/** The events of a delivery of several: a list, or a list in an object that names no event itself. */
function listIn(payload: unknown): unknown[] | undefined {
  if (Array.isArray(payload)) return payload;
  if (!isObject(payload) || textsAt(payload, nameKeys).length > 0) return undefined;
  return listKeys.map((key) => payload[key]).find(Array.isArray);
}

/**
 * Parses one event. The payload is not documented, so many spellings are accepted; unknown events are accepted too.
 * @returns what is wrong with it, if it names no event
 */
function readEvent(payload: unknown, now: number): ReceivedEvent | string {
  if (!isObject(payload)) return 'the body is not a JSON object';
  if (!isShallow(payload, maxDepth)) return 'the body is nested too deeply';
  const named = eventNamesIn(payload);
  if (!named) return noEventMessage;
  const { subject, event } = named;
  const fields = recordFrom(payload, subject);
  const record = recordIdFrom(payload, subject, fields);
  const times = [
    ...(fields ? [...timeKeys, ...createdKeys] : timeKeys).map((key) => payload[key]),
    ...recordTimes(event).map((key) => (fields ?? payload)[key]),
  ];
  // A day alone may be that of several updates.
  const hasTime = firstTime(times.filter(hasTimeOfDay), now) !== undefined;
  // Without a nested record it may be the time of the record, which all its events have in common.
  const created = createdKeys.map((key) => payload[key]);
  const id = eventIdOf(payload, [subject, event, record ?? ''], hasTime);
  const at = firstTime([...times, ...created], now);
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
  const subjects = textsAt(payload, subjectKeys).slice(0, 1);
  const pair = named.map(pairFrom).find((pair) => pair !== undefined);
  if (pair) return pair;
  const known = [...subjects, ...named].find(subjectFrom);
  const subject = (known && subjectFrom(known)) ?? subjects[0] ?? 'unknown';
  const event = named.find((name) => name !== known);
  return event === undefined ? undefined : { subject, event: eventFrom(subject, event) };
}

function recordIdFrom(
  payload: JsonObject,
  subject: string,
  fields: JsonObject | undefined,
): string | undefined {
  const ownKeys = [`${subject}Id`, `${subject}_id`, ...recordIdKeys];
  const candidates = [
    fields?.id,
    ...ownKeys.map((key) => payload[key]),
    ...ownKeys.map((key) => fields?.[key]),
    ...recordKeys.map((key) => payload[key]),
    // Without a nested record, the id belongs to the record rather than to the event.
    fields ? undefined : payload.id,
  ];
  return candidates.map(idFrom).find((id) => id !== undefined);
}

function idFrom(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const id = value.trim();
  return id !== '' && id.length <= 200 ? id : undefined;
}

const firstTime = (values: readonly unknown[], now: number): number | undefined =>
  values.map((value) => timeFrom(value, now)).find((time) => time !== undefined);

const hasTimeOfDay = (value: unknown): boolean =>
  typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value.trim());

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

/** Parses a time; times before 2000 or more than a day ahead are ignored. */
function timeFrom(value: unknown, now: number): number | undefined {
  const time =
    typeof value === 'string' && !/^\d+$/.test(value) ? dateFrom(value) : numberFrom(value);
  return time >= earliest && time <= now + dayMs ? time : undefined;
}

function numberFrom(value: unknown): number {
  const number =
    typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  return Math.round(number < maxSeconds ? number * 1_000 : number);
}

/** A time without an offset is in UTC. */
function dateFrom(text: string): number {
  const hasTimeOnly = /^\d{4}-\d{2}-\d{2}[T ][\d:.]+$/.test(text.trim());
  return Date.parse(hasTimeOnly ? `${text.trim().replace(' ', 'T')}Z` : text);
}

/**
 * The identity of an event, equal for all its deliveries. Without an id of the event, equal content is only the same
 * event if it has a time, or a delivery's id: a record can be updated twice with the same content, and storing an event
 * twice is better than losing one. A field `id` may be the subscription's.
 */
function eventIdOf(
  payload: JsonObject,
  about: readonly string[],
  hasTime: boolean,
): string | undefined {
  const eventId = firstId(payload, eventIdKeys);
  if (eventId !== undefined) return digest(['event id', eventId, ...about]);
  const deliveryId = firstId(payload, deliveryIdKeys);
  if (!hasTime && deliveryId === undefined) return undefined;
  const ownFields = Object.fromEntries(
    Object.entries(payload).filter(([key]) => !deliveryKeys.has(key)),
  );
  const content = ['content', ...about, ownFields];
  return digest(hasTime ? content : [...content, deliveryId]);
}

const firstId = (from: JsonObject, keys: readonly string[]): string | undefined =>
  keys.map((key) => idFrom(from[key])).find((id) => id !== undefined);

const digest = (parts: readonly unknown[]): string =>
  createHash('sha256').update(canonicalJson(parts)).digest('base64url').slice(0, 27);
