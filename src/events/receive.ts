import { randomUUID } from 'node:crypto';
import { resources } from '../service/routes.ts';
import type { Tenant } from '../tenant/tenant.ts';
import type { JsonObject } from '../values.ts';
import { fieldDifferences } from './differences.ts';
import { collectionOf, isSubject } from './names.ts';
import { type ReceivedDelivery, type ReceivedEvent, readDelivery } from './read-event.ts';

export interface DeliveryReceipt extends Omit<ReceivedDelivery, 'events'> {
  /** For each event, in the order of the delivery. `known`: an earlier delivery of it is stored already. */
  receipts: ('new' | 'known')[];
}

/**
 * Stores the events of a delivery, invalidates the collections that they concern, and publishes the updates.
 * @throws UnrecognizedEvent for a body that names no event; Error when one could not be stored and all must be sent
 *   again: those that were stored are then recognized
 */
export async function receiveDelivery(tenant: Tenant, body: string): Promise<DeliveryReceipt> {
  const { events, unrecognized, isList } = readOrInvalidate(tenant, body);
  // The first stored event drops the cached collection, so all are compared with it before.
  const earlier = cachedRecords(tenant, events);
  const arrivals = events.map((event) => ({
    ...event,
    before: fieldsBefore(tenant, earlier, event),
  }));
  const receipts = await Promise.all(
    arrivals.map(({ id = randomUUID(), fields: _, ...event }) =>
      tenant.inbox.add(
        { id, ...event },
        isSubject(event.subject) ? { collection: collectionOf(event.subject) } : undefined,
      ),
    ),
  );
  return { receipts, unrecognized, isList };
}

/** What is not understood may have changed every collection. @throws UnrecognizedEvent */
function readOrInvalidate({ updates }: Tenant, body: string): ReceivedDelivery {
  let isUnderstood = false;
  try {
    const delivery = readDelivery(body, Date.now());
    const isKnown = delivery.events.every(({ subject }) => isSubject(subject));
    isUnderstood = isKnown && delivery.unrecognized === 0;
    return delivery;
  } finally {
    if (!isUnderstood) for (const resource of resources) updates.invalidate(resource);
  }
}

/** The cached states of the records that the events are about, by `recordKey`; each collection is searched once. */
function cachedRecords(tenant: Tenant, events: readonly ReceivedEvent[]) {
  const wanted = new Set(events.map(recordKey));
  const found = new Map<string, JsonObject>();
  for (const subject of new Set(events.map((event) => event.subject))) {
    const cached = isSubject(subject) && subject !== 'order' ? tenant.cached(subject) : undefined;
    for (const row of cached ?? []) {
      const key = recordKey({ subject, record: row.id });
      if (wanted.has(key)) found.set(key, row);
    }
  }
  return found;
}

const recordKey = ({ subject, record }: { subject: string; record?: unknown }): string =>
  `${subject}\n${record}`;

/** Earlier values of the changed fields, from the cached collection, which is invalidated afterwards. */
function fieldsBefore(
  tenant: Tenant,
  earlier: ReadonlyMap<string, JsonObject>,
  { subject, record, fields }: ReceivedEvent,
): JsonObject | undefined {
  const cached = record === undefined ? undefined : earlier.get(recordKey({ subject, record }));
  if (!isSubject(subject) || !fields || !cached) return undefined;
  // An event older than the cached record does not show what changed since.
  if (Date.parse(String(fields.updatedAt)) < Date.parse(String(cached.updatedAt))) return undefined;
  const known = { fields: cached, isWhole: true };
  const resource = collectionOf(subject);
  const changed = fieldDifferences(resource, known, tenant.mapped(resource, fields));
  const names = changed.map(({ field }) => field.replace(/^customFields\..*/, 'customFields'));
  // Null means that the field is known to have been empty.
  const values = new Map(Object.entries(cached));
  return Object.fromEntries(names.map((name) => [name, values.get(name) ?? null]));
}
