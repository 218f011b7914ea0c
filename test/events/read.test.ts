import { describe, expect, test } from 'vitest';
import { describeDifference, fieldDifferences } from '../../src/events/differences.ts';
import { readDelivery, UnrecognizedEvent } from '../../src/events/read-event.ts';
import fc from '../support/fast-check.ts';

/** The events that the service documents. */
const sent: [subject: string, event: string][] = [
  ['company', 'created'],
  ['company', 'updated'],
  ['contact', 'created'],
  ['contact', 'updated'],
  ['opportunity', 'created'],
  ['opportunity', 'status_changed'],
  ['opportunity', 'updated'],
  ['order', 'completed'],
  ['order', 'created'],
  ['order', 'updated'],
  ['product', 'created'],
  ['product', 'updated'],
  ['quote', 'created'],
  ['quote', 'deleted'],
  ['quote', 'ordered'],
  ['quote', 'updated'],
];

const now = Date.parse('2031-05-14T12:00:00Z');
/** The single event of a delivery. */
function read(payload: unknown) {
  const [event] = readDelivery(JSON.stringify(payload), now).events;
  if (!event) throw new Error('no event');
  const { body: _, ...rest } = event;
  return rest;
}
const pascal = (words: string) =>
  words.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
const camel = (words: string) => words.replace(/_([a-z])/g, (_, it: string) => it.toUpperCase());

describe.each(sent)('%s %s', (subject, event) => {
  const names: Record<string, object> = {
    dotted: { event: `${subject}.${event}` },
    'a pair': { subject, event },
    type: { type: `${subject}.${event}` },
    eventName: { eventName: `${subject}.${event}` },
    'in capitals': { event: `${subject}_${event}`.toUpperCase() },
    'with a colon': { eventType: `${subject}:${event}` },
    'as a single word': { type: `${pascal(subject)}${pascal(event)}` },
    camel: { subject: pascal(subject), event: camel(event) },
    'type and event': { type: subject, event },
    'entity and action': { entityType: pascal(subject), action: event.toUpperCase() },
    'of another domain': { specversion: '1.0', type: `com.example.${subject}.${event}` },
    'entity and verb': { entity_type: subject, action: event.replace(/e?d$/, '') },
  };

  test.each(Object.entries(names))('named %s', (_, name) => {
    for (const key of ['data', 'record', 'payload', subject]) {
      const record = { id: 'r1', name: 'One' };
      expect(read({ ...name, [key]: record })).toMatchObject({
        ...{ subject, event, record: 'r1' },
        fields: record,
      });
    }
  });
});

describe('a record', () => {
  const event = 'quote.updated';
  const whole = { id: 'q1', title: 'Refresh' };

  test('is found under its own name in the holder', () => {
    expect(read({ event, data: { quote: whole } })).toMatchObject({ record: 'q1', fields: whole });
  });

  test.each([
    ['of old and new', { old: { id: 'q1' }, new: whole }],
    ['before and after', { data: { before: { id: 'q1' }, after: whole } }],
  ])('is the later one %s', (_, more) => {
    expect(read({ event, ...more })).toMatchObject({ record: 'q1', fields: whole });
  });

  test('is found in the message of a queue', () => {
    const data = Buffer.from(JSON.stringify({ event, data: whole })).toString('base64');
    const envelope = { message: { data, messageId: '7' }, subscription: 'crm' };
    expect(read(envelope)).toMatchObject({ record: 'q1', fields: whole });
  });

  test.each([
    ['a number', { data: { id: 17 } }, '17'],
    ['beside the event', { quoteId: 'q9' }, 'q9'],
    ['the only id', { id: 'q9' }, 'q9'],
  ])('may be given by its id, %s', (_, more, id) => {
    expect(read({ event, ...more }).record).toBe(id);
  });

  test('may be missing', () => {
    expect(read({ event })).toMatchObject({ subject: 'quote', event: 'updated' });
    expect(read({ event }).record).toBeUndefined();
  });
});

describe('the time of an event', () => {
  const at = '2031-05-14T09:30:00.000Z';
  const data = { id: 'o1', createdAt: '2030-01-01T00:00:00Z', updatedAt: at };

  test.each([
    ['its own', { occurredAt: at, data: { id: 'o1', updatedAt: '2030-01-01T00:00:00Z' } }],
    ['milliseconds', { timestamp: Date.parse(at) }],
    ['seconds', { timestamp: Date.parse(at) / 1000 }],
    ['another offset', { time: '2031-05-14T11:30:00+02:00' }],
    ['none, which is UTC', { time: '2031-05-14 09:30:00' }],
    ['when the delivery was made', { createdAt: at, data: { id: 'o1' } }],
    ['when the record was changed', { data }],
  ])('is read from %s', (_, more) => {
    expect(read({ event: 'opportunity.updated', ...more }).at).toBe(Date.parse(at));
  });

  test('may be up to a day ahead, by a clock that is', () => {
    const times = ['2031-05-15T11:59:59Z', '2031-05-15T12:00:01Z'].map(
      (time) => read({ event: 'quote.updated', timestamp: time }).at,
    );
    expect(times).toEqual([Date.parse('2031-05-15T11:59:59Z'), undefined]);
  });

  test('is when the record was created, changed or deleted, according to the event', () => {
    const times = { createdAt: 1, stageUpdatedAt: 2, deletedAt: 3, updatedAt: 4 };
    const record = Object.fromEntries(
      Object.entries(times).map(([name, day]) => [name, `2031-05-0${day}T00:00:00Z`]),
    );
    const dayOf = (event: string) =>
      new Date(read({ event, data: { id: 'x', ...record } }).at ?? 0).getUTCDate();
    expect(dayOf('opportunity.created')).toBe(1);
    expect(dayOf('opportunity.status_changed')).toBe(2);
    expect(dayOf('quote.deleted')).toBe(3);
    expect(dayOf('quote.updated')).toBe(4);
  });

  test.each(['2099-01-01T00:00:00Z', '1970-01-01T00:00:00Z', 'soon', '', 0, -5, null, {}, 1e300])(
    'is not %s',
    (time) => {
      expect(
        read({ event: 'quote.updated', timestamp: time, data: { id: 'q' } }).at,
      ).toBeUndefined();
    },
  );
});

describe('an unknown event', () => {
  test.each([
    [{ type: 'invoice.paid' }, 'unknown', 'invoice_paid'],
    [{ subject: 'invoice', event: 'paid' }, 'invoice', 'paid'],
    [{ event: 'quote.archived' }, 'quote', 'archived'],
    [{ type: 'constructor.created' }, 'unknown', 'constructor_created'],
    [{ subject: 'toString', event: 'created' }, 'to_string', 'created'],
    [{ type: 'constructor' }, 'unknown', 'constructor'],
    [{ type: 'ping' }, 'unknown', 'ping'],
    [{ event: 'a\tb\u0000c' }, 'unknown', 'a_b_c'],
  ])('is still an event: %j', (payload, subject, event) => {
    expect(read(payload)).toMatchObject({ subject, event });
  });

  test.each([
    ['', 'not JSON'],
    ['{"event":', 'not JSON'],
    ['null', 'not a JSON object'],
    ['"quote.ordered"', 'not a JSON object'],
    ['{}', 'names no event'],
    ['{"subject":"quote"}', 'names no event'],
    ['{"event":{"name":"quote.ordered"}}', 'names no event'],
    ['{"event":"  "}', 'names no event'],
  ])('is refused without a name: %s', (body, why) => {
    expect(() => readDelivery(body, now)).toThrow(UnrecognizedEvent);
    expect(() => readDelivery(body, now)).toThrow(why);
  });

  test('any payload is read or refused', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.string(), (body, text) => {
        for (const one of [body, text, `{"event":${body},"data":${body},"quote":${body}}`]) {
          try {
            for (const { subject, event, id } of readDelivery(one, now).events) {
              expect(`${subject}${event}`).toMatch(/^[a-z0-9_]+$/);
              expect(id ?? '').toMatch(/^(?:[\w-]{27})?$/);
            }
          } catch (error) {
            expect(error).toBeInstanceOf(UnrecognizedEvent);
          }
        }
      }),
    );
  });
});

describe('several events in one delivery', () => {
  const one = { eventId: 'e1', entityType: 'Quote', entityId: 'q1', action: 'UPDATED' };
  const other = { eventId: 'e2', entityType: 'company', entityId: 'c1', action: 'created' };
  const deliver = (payload: unknown) => readDelivery(JSON.stringify(payload), now);

  test.each([
    ['a list', [one, other]],
    ['events', { events: [one, other], eventId: 'delivery' }],
  ])('are read from %s, each with its own payload', (_, payload) => {
    const { events, unrecognized, isList } = deliver(payload);
    expect({ unrecognized, isList }).toEqual({ unrecognized: 0, isList: true });
    expect(events.map(({ subject, event, record }) => [subject, event, record])).toEqual([
      ['quote', 'updated', 'q1'],
      ['company', 'created', 'c1'],
    ]);
    expect(events.map(({ id, body }) => [id, JSON.parse(body)])).toEqual([
      [read(one).id, one],
      [read(other).id, other],
    ]);
  });

  test('are not confused with several records of one event', () => {
    const { events, isList } = deliver({
      event: 'quote.updated',
      data: [{ id: 'a' }, { id: 'b' }],
    });
    expect([events.length, isList]).toEqual([1, false]);
  });

  test('are stored where others in the list have no name', () => {
    expect(deliver([one, 7, { hello: 'there' }])).toMatchObject({
      events: [{ record: 'q1' }],
      unrecognized: 2,
    });
  });

  test.each([
    ['[]', 'has no events'],
    ['[7]', 'not a JSON object'],
    ['{"events":[{}]}', 'names no event'],
    [JSON.stringify(Array(1_001).fill(one)), 'more than 1000 events'],
  ])('are refused if the list is empty or too long: %.30s', (body, why) => {
    expect(() => readDelivery(body, now)).toThrow(UnrecognizedEvent);
    expect(() => readDelivery(body, now)).toThrow(why);
  });

  test('in any form are the same events as single ones', () => {
    const event = fc
      .constantFrom(...sent)
      .chain(([subject, name]) =>
        fc.constantFrom(
          { event: `${subject}.${name}`, data: { id: 'r1' } },
          { subject, event: name, recordId: 'r1' },
          { entityType: pascal(subject), entityId: 'r1', action: name.toUpperCase() },
          { entityType: subject, action: camel(name), entity: { id: 'r1' } },
        ),
      );
    const anything = fc.oneof({ weight: 4, arbitrary: event }, fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(event, fc.array(anything), fc.boolean(), (first, others, isWrapped) => {
        const list = [first, ...others];
        const { events, unrecognized } = deliver(isWrapped ? { events: list } : list);
        const alone = list.flatMap((entry) => {
          try {
            return [read(entry)];
          } catch (error) {
            expect(error).toBeInstanceOf(UnrecognizedEvent);
            return [];
          }
        });
        expect(events.map(({ body: _, ...rest }) => rest)).toEqual(alone);
        expect(events.length + unrecognized).toBe(list.length);
      }),
    );
  });
});

describe('the identity of an event', () => {
  const base = { event: 'quote.updated', data: { id: 'q1', updatedAt: '2031-05-01T09:00:00Z' } };
  const id = (payload: object) => read(payload).id;

  test('is the event’s id, if it has one', () => {
    const one = id({ ...base, eventId: 'e1' });
    expect(id({ ...base, eventId: 'e1', attempt: 2, data: { id: 'q1', title: 'since' } })).toBe(
      one,
    );
    expect(id({ ...base, eventId: 'e2' })).not.toBe(one);
  });

  test('is not an id that may belong to the subscription', () => {
    const one = id({ ...base, id: 'hook1' });
    expect(id({ ...base, id: 'hook1' })).toBe(one);
    const later = { ...base.data, updatedAt: '2031-05-02T09:00:00Z' };
    expect(id({ ...base, id: 'hook1', data: later })).not.toBe(one);
    const inTheSameSecond = { ...base.data, title: 'other' };
    expect(id({ ...base, id: 'hook1', data: inTheSameSecond })).not.toBe(one);
  });

  test('is its content, in any order, without an id', () => {
    const one = id(base);
    const { event, data } = base;
    const turned = { data: { updatedAt: data.updatedAt, id: data.id }, event };
    expect(id({ ...turned, attempt: 3, deliveryId: 'd3', sentAt: 'now' })).toBe(one);
    expect(id({ ...base, data: { ...data, title: 'other' } })).not.toBe(one);
    expect(id({ ...base, event: 'quote.ordered' })).not.toBe(one);
    expect(id({ event: 'quote.updated', occurredAt: '2031-05-01T00:00:00Z' })).toBeDefined();
  });

  test.each([
    ['only its record’s id', { quoteId: 'q1' }],
    ['the state of a record', { data: { id: 'q1', status: 'sent' } }],
    ['when the record was created', { data: { id: 'q1', createdAt: '2031-05-01T09:00:00Z' } }],
    ['the same beside the event', { id: 'q1', createdAt: '2031-05-01T09:00:00Z' }],
    ['a day', { quoteId: 'q1', date: '2031-05-01' }],
    ['an id of its subscription', { id: 'hook1', data: { id: 'q1' } }],
  ])('is unknown where a later event may have the same content: %s', (_, more) => {
    expect(id({ event: 'quote.updated', ...more })).toBeUndefined();
  });

  test('differs if and only if events differ', () => {
    const payload = fc.record({
      event: fc.constantFrom('quote.updated', 'quote.ordered', 'order.created'),
      data: fc.record({ id: fc.constantFrom('a', 'b'), title: fc.constantFrom('x', 'y') }),
      occurredAt: fc.constantFrom('2031-05-01T09:00:00Z', '2031-05-02T09:00:00Z'),
    });
    fc.assert(
      fc.property(payload, payload, fc.nat(9), (one, other, attempt) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(id({ ...one, attempt }) === id(other)).toBe(isSame);
      }),
    );
  });
});

describe('changes of a record', () => {
  const changed = (before: object, after: object, isWhole = false) =>
    fieldDifferences('opportunity', { fields: { ...before }, isWhole }, { ...after }).map(
      describeDifference,
    );

  test('are listed field by field, in plain words', () => {
    const before = {
      id: 'o1',
      name: 'Migration',
      pipelineStage: { id: 's1', name: 'Discovery' },
      onetimeRevenue: 100,
      owner: null,
      probability: '0.5',
      updatedAt: 'x',
    };
    const after = {
      ...before,
      pipelineStage: { id: 's2', name: 'Proposal' },
      onetimeRevenue: '250.50',
      owner: { id: 'u1', name: 'Ada' },
      probability: 0.5,
      updatedAt: 'y',
    };
    expect(changed(before, after)).toEqual([
      'stage: "Discovery" → "Proposal"',
      'oneTime: 100 → 250.5',
      'owner: (empty) → "Ada"',
    ]);
  });

  test('are not guessed where the previous event lacks the field', () => {
    expect(changed({ id: 'o1' }, { id: 'o1', name: 'New', description: null })).toEqual([]);
    expect(changed({ id: 'o1' }, { id: 'o1', name: 'New' }, true)).toEqual([
      'name: (empty) → "New"',
    ]);
    expect(changed({ name: 'Old' }, { id: 'o1' }, true)).toEqual([]);
    expect(changed({ name: 'Old' }, { name: null })).toEqual(['name: "Old" → (empty)']);
  });

  test('show custom fields one by one, lists by their length, long texts by their beginning', () => {
    const [before, after] = [
      { customFields: { region: 'north', same: 1 }, labels: ['a', 'b'], items: [{ id: 1 }] },
      { customFields: { region: 'south', same: 1 }, labels: ['a'], items: [{ id: 1 }, { id: 2 }] },
    ];
    expect(changed(before, after)).toEqual([
      'labels: "a, b" → "a"',
      'items: 1 entry → 2 entries',
      'customFields.region: "north" → "south"',
    ]);
    const [line = ''] = changed({ description: 'x' }, { description: 'y'.repeat(500) });
    expect(line.length).toBeLessThan(100);
    expect(changed({ items: [{ id: 1 }] }, { items: [{ id: 2 }] })).toEqual(['items: changed']);
  });

  test('are not confused by names that every object has', () => {
    const words = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
    for (const word of words) {
      const [before, after] = [1, 2].map((it) => JSON.parse(`{"${word}":${it}}`));
      expect(changed({ id: 'o1' }, after)).toEqual([]);
      expect(changed({ id: 'o1' }, after, true)).toEqual([`${word}: (empty) → 2`]);
      expect(changed(before, after)).toEqual([`${word}: 1 → 2`]);
      const custom = [{}, before, after].map((customFields) => ({ customFields }));
      expect(changed(custom[0] ?? {}, custom[2] ?? {})).toEqual([]);
      expect(changed(custom[0] ?? {}, custom[2] ?? {}, true)).toEqual([
        `customFields.${word}: (empty) → 2`,
      ]);
      expect(changed(custom[1] ?? {}, custom[2] ?? {})).toEqual([`customFields.${word}: 1 → 2`]);
    }
    const owner = { id: 'o1', name: { toString: 1, valueOf: 2 } };
    expect(changed({ owner: null }, { owner })).toEqual([
      expect.stringContaining('owner: (empty) → '),
    ]);
  });

  test('do not modify the records', () => {
    const record = { probability: '0.5', labels: [{ name: 'a' }], items: [null] };
    const copy = structuredClone(record);
    changed(record, record, true);
    expect(record).toEqual(copy);
  });
});

test.each([
  ['the same', { id: 'c', name: 'Acme' }, { id: 'c', name: 'Acme' }, 0],
  [
    'the same, with more fields',
    { id: 'c', name: 'Acme' },
    { id: 'c', name: 'Acme', city: 'B' },
    0,
  ],
  ['renamed', { id: 'c', name: 'Acme' }, { id: 'c', name: 'Acme Ltd' }, 1],
  ['another of the name', { id: 'c', name: 'Acme' }, { id: 'd', name: 'Acme' }, 1],
  ['cleared', { id: 'c', name: 'Acme' }, null, 1],
])('a company that is %s is a difference or none', (_, was, is, count) => {
  const before = { fields: { id: 'q', company: was }, isWhole: true };
  expect(fieldDifferences('quote', before, { id: 'q', company: is })).toHaveLength(count);
});
