import type { Result } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { traceFrom } from '../../src/service/call.ts';
import { reportOf } from '../support/consent.ts';
import fc from '../support/fast-check.ts';
import { type ObservedServer, startObservedServer } from '../support/observed.ts';

const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const otherParent = '00-11112222333344445555666677778888-aaaabbbbccccdddd-00';

describe('a trace context', () => {
  test.each([
    [{ traceparent: parent }, { traceparent: parent }],
    [{ traceparent: parent, tracestate: undefined }, { traceparent: parent }],
    [
      { traceparent: parent, tracestate: 'one=1, a@b=x y ,,two=2' },
      { traceparent: parent, tracestate: 'one=1, a@b=x y ,,two=2' },
    ],
    // Additional parts of later versions are dropped.
    [{ traceparent: parent.replace(/^00/, '01') }, { traceparent: parent }],
    [{ traceparent: `${parent.replace(/^00/, 'cc')}-more` }, { traceparent: parent }],
    [{ traceparent: parent.replace(/^00(.*)01$/, '01$1ff') }, { traceparent: parent }],
  ])('%j is passed on', (said, expected) => {
    expect(traceFrom(said)).toEqual(expected);
  });

  test.each([
    undefined,
    null,
    7,
    '',
    'x',
    parent.toUpperCase(),
    `${parent} `,
    `${parent}\n`,
    `${parent}-more`,
    `${parent}, ${otherParent}`,
    parent.replace(/^00/, 'ff'),
    parent.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    parent.replace('00f067aa0ba902b7', '0'.repeat(16)),
    [parent],
  ])('%j is not passed on', (traceparent) => {
    expect(traceFrom({ traceparent, tracestate: 'one=1' })).toBeUndefined();
  });

  test.each(['', 'one=\u00e9', 'one=1\r\nx: y', `one=${'x'.repeat(600)}`, ['one=1']])(
    'a tracestate of %j is left out',
    (tracestate) => {
      expect(traceFrom({ traceparent: parent, tracestate })).toEqual({ traceparent: parent });
    },
  );

  test('is always a valid header', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(parent, 'a=b,c=d'));
    const property = fc.property(text, text, (traceparent, tracestate) => {
      for (const value of Object.values(traceFrom({ traceparent, tracestate }) ?? {})) {
        expect(value).toMatch(/^[\x20-\x7e]{1,512}$/);
      }
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});

let open: ObservedServer | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function start(): Promise<ObservedServer> {
  open = await startObservedServer();
  return open;
}

const list = { name: 'cpq_list_opportunities', arguments: { size: 3 } };
const inMeta = { ...list, _meta: { traceparent: parent, tracestate: 'one=1' } };
const inHeader = { traceparent: otherParent, tracestate: 'two=2' };

/** The trace headers of the last request to the service. */
const handedOn = ({ upstream }: ObservedServer) => {
  const { traceparent, tracestate } = upstream.requests.at(-1)?.headers ?? {};
  return { traceparent, tracestate };
};

describe.each(['plain', 'bySdk'] as const)('a call over HTTP (%s)', (way) => {
  test('passes on the trace of its message', async () => {
    const it = await start();
    await it[way](inMeta);
    expect(handedOn(it)).toEqual({ traceparent: parent, tracestate: 'one=1' });
    await it[way](inMeta, inHeader);
    expect(handedOn(it)).toEqual({ traceparent: parent, tracestate: 'one=1' });
  });

  test('passes on the trace of its headers where the message has none', async () => {
    const it = await start();
    await it[way](list, inHeader);
    expect(handedOn(it)).toEqual(inHeader);
    await it[way]({ ...list, _meta: { traceparent: 'unknown' } }, inHeader);
    expect(handedOn(it)).toEqual(inHeader);
  });

  test('passes on nothing without a valid trace', async () => {
    const it = await start();
    await it[way](list);
    expect(handedOn(it)).toEqual({});
    await it[way]({ ...list, _meta: { traceparent: `${parent}-x` } }, { tracestate: 'two=2' });
    expect(handedOn(it)).toEqual({});
  });
});

test('every request of a call passes it on, also in a walk', async () => {
  const it = await start();
  it.upstream.set({ maxSize: 10 });
  const { status } = await it.plain({ name: 'cpq_brief_pipeline', _meta: inMeta._meta });
  expect(status).toBe(200);
  expect(it.upstream.requests.length).toBeGreaterThan(5);
  for (const { headers } of it.upstream.requests) expect(headers.traceparent).toBe(parent);
});

test('a write and its verification pass it on', async () => {
  const it = await start();
  const client = await it.client();
  const change = { external_id: 'traced', create: true, name: 'Traced' };
  const call = (args: object) =>
    client.callTool({
      name: 'cpq_upsert_opportunity',
      arguments: { ...args },
      _meta: inMeta._meta,
    });
  const { confirm } = reportOf((await call(change)) as Result);
  const { outcome } = reportOf((await call({ ...change, confirm })) as Result);
  expect(outcome).toBe('written');
  const methods = it.upstream.requests.map(({ method }) => method);
  expect(methods.slice(methods.indexOf('PUT'))).toEqual(['PUT', 'GET']);
  for (const { headers } of it.upstream.requests) expect(headers.traceparent).toBe(parent);
  await client.close();
});
