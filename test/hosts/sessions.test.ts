import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { bearer, startWithTokens } from '../support/access.ts';
import { personAnswers } from '../support/consent.ts';
import { fastPathRequests } from '../support/fast-path-requests.ts';
import { freePort } from '../support/free-port.ts';
import type { Row } from '../support/hosts.ts';
import { everything, startServer } from '../support/hosts.ts';
import { messagesOf } from '../support/message-stream.ts';
import { describeWith } from '../support/needs.ts';
import { startRedis } from '../support/redis.ts';
import { startReplicas } from '../support/replicas.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';
import { until } from '../support/until.ts';
import { showsViews } from '../support/view-client.ts';

/** Sessions of the older revisions over HTTP, which carry what a host says of itself. */

const server = shared(async () => {
  const started = await startServer(everything);
  closing({ close: () => started.running.stop() });
  return started;
});

const send = (url: string, message: Row, session?: string, more = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: {
      ...more,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });

async function post(message: Row, session?: string, at?: string) {
  const response = await send(at ?? (await server()).url, message, session);
  const text = await response.text();
  return { status: response.status, session: response.headers.get('mcp-session-id'), text };
}

const initialize = (capabilities: Row, extra: Row = {}, at?: string) => {
  const clientInfo = { name: 'claude-ai', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo, ...extra };
  return post({ method: 'initialize', params }, undefined, at);
};
const list = { method: 'tools/list', params: {} };

describe('a session of the older revisions', () => {
  // The second form of the message is left to the SDK.
  test.each([{}, { _meta: { 'io.modelcontextprotocol/unknown': 1 } }])(
    'carries that a host shows views (%j)',
    async (extra) => {
      const { session } = await initialize(showsViews, extra);
      expect(session).toMatch(/^[\x21-\x7e]+$/);
      expect((await post(list, session ?? '')).text).toContain('cpq_answer_change');
      expect((await post(list)).text).not.toContain('cpq_answer_change');
    },
  );

  test('lets a host ask in a view', async () => {
    const { session } = await initialize(showsViews);
    const args = { external_id: 'SESSION-1', create: true, name: 'Asked in a view' };
    const call = {
      method: 'tools/call',
      params: { name: 'cpq_upsert_opportunity', arguments: args },
    };
    expect((await post(call, session ?? '')).text).toContain('cpq-mcp/consent');
    const without = (await post(call)).text;
    expect(without).not.toContain('cpq-mcp/consent');
    expect(without).toContain('CPQ_CONSENT=token');
  });

  test('is given only where something has to be known', async () => {
    expect((await initialize({})).session).toBeNull();
  });

  test('is refused where it was altered or not given out', async () => {
    const { session } = await initialize({ elicitation: {} });
    const [body = '', code = ''] = String(session).split('.');
    const other = Buffer.from(JSON.stringify({ name: 'x', asks: true, showsViews: true }));
    const invented = `${other.toString('base64url')}.${code}`;
    for (const wrong of ['x', '.', body, invented, `${session}.`, `${session} x`])
      expect((await post(list, wrong)).status, wrong).toBe(404);
    expect((await post(list, String(session))).status).toBe(200);
  });

  test('is nothing to a request of the newer revision', async () => {
    const { headers, body } = fastPathRequests['tools/list, modern'] ?? {};
    const sent = { method: 'POST', headers: { ...headers, 'mcp-session-id': 'x' }, body };
    expect((await fetch((await server()).url, sent as RequestInit)).status).toBe(200);
  });
});

const team = shared(async () => {
  const grants = 'read,opportunity:write';
  const service = addressIn(await startSandbox({ scale: 0.05 }), 'all');
  return {
    ...(await startWithTokens(service, { CPQ_GRANTS: grants, CPQ_CALLS_PER_MINUTE: '90' })),
    grants,
  };
});

test('a form is answered although its caller has as many open calls as it may', async () => {
  const { url, add, grants } = await team();
  const auth = bearer(await add('ann', '--grants', grants));
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } };
  const clientInfo = { name: 'claude-ai', version: '1' };
  const begin = { method: 'initialize', params: { ...params, clientInfo } };
  const session = (await send(url, begin, undefined, auth)).headers.get('mcp-session-id') ?? '';
  const ask = async (_: unknown, at: number) => {
    const args = { external_id: `FORM-${at}`, create: true, name: 'Asked' };
    const call = { name: 'cpq_upsert_opportunity', arguments: args };
    const response = await send(url, { method: 'tools/call', params: call }, session, auth);
    const messages = messagesOf(response);
    return { messages, question: (await messages.next()).value as Row };
  };
  const [one] = await Promise.all(Array.from({ length: 16 }, ask));
  // Others who know the id of the question cannot answer it.
  const reader = bearer(await add('bob', '--grants', 'read'));
  const writer = bearer(await add('eve', '--grants', grants));
  const yes = { id: one?.question.id, result: personAnswers.accepts() };
  expect((await send(url, yes, session, reader)).status).toBe(403);
  expect((await send(url, yes, session, writer)).status).toBe(202);
  const answer = { id: one?.question.id, result: { action: 'decline' } };
  expect((await send(url, answer, session, auth)).status).toBe(202);
  expect(JSON.stringify((await one?.messages.next())?.value)).toContain('declined');
  // Every replica gets an answer: one counts as a call.
  const answers = Array.from({ length: 100 }, () => send(url, yes, session, writer));
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect([...new Set(statuses)].sort()).toEqual([202, 429]);
});

test('a call that its host cancelled writes nothing, although the person agrees', async () => {
  const [{ session }, { session: other }] = [
    await initialize({ elicitation: {} }),
    await initialize({ elicitation: {} }),
  ];
  const { url } = await server();
  const ask = async (external_id: string) => {
    const args = { external_id, create: true, name: 'Perhaps cancelled' };
    const params = { name: 'cpq_upsert_opportunity', arguments: args };
    const messages = messagesOf(
      await send(url, { id: 7, method: 'tools/call', params }, session ?? ''),
    );
    return { id: ((await messages.next()).value as Row).id, messages };
  };
  const cancel = { id: undefined, method: 'notifications/cancelled', params: { requestId: 7 } };
  const sendAll = async (from: string | null, ...sent: Row[]) => {
    for (const one of sent) expect((await post(one, from ?? '')).status).toBe(202);
  };
  const goesOn = await ask('NOT-CANCELLED-1');
  const agreed = ({ id }: { id: unknown }) => ({ id, result: personAnswers.accepts() });
  await sendAll(other, cancel);
  await sendAll(session, { ...cancel, params: { requestId: 8 } }, agreed(goesOn));
  expect(JSON.stringify((await goesOn.messages.next()).value)).toContain('Written');
  const cancelled = await ask('CANCELLED-1');
  await sendAll(session, cancel, agreed(cancelled));
  expect(JSON.stringify((await cancelled.messages.next()).value)).toContain('sent no answer');
});

test('one caller cannot send any number of long messages at once', async () => {
  const { url, add } = await team();
  const auth = bearer(await add('dan'));
  const { port } = new URL(url);
  const head = `POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: ${auth.authorization}\r\ncontent-length: 1000000\r\n\r\n`;
  const open = () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`${head}{`);
    return closing({ close: async () => socket.destroy(), socket }).socket;
  };
  const sockets = Array.from({ length: 17 }, open);
  const [answer] = await Promise.race(sockets.map((socket) => once(socket, 'data')));
  expect(String(answer)).toMatch(/^HTTP\/1\.1 429 /);
  const list = { method: 'tools/list', params: {} };
  expect((await send(url, list, undefined, auth)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  // Messages that were never finished no longer count.
  const long = { ...list, params: { _meta: { text: 'x'.repeat(40_000) } } };
  await until(async () => (await send(url, long, undefined, auth)).status).toBe(200);
});

test('a server that never reached its Redis is read from, whatever its host can do', async () => {
  const service = addressIn(await startSandbox({ scale: 0.05 }), 'all');
  const env = { CPQ_REDIS_URL: `redis://127.0.0.1:${await freePort()}` };
  const { url } = await startServer({ at: service, ...everything, env });
  for (const capabilities of [{ elicitation: {} }, showsViews])
    expect(await initialize(capabilities, {}, url)).toMatchObject({ status: 200, session: null });
  const { session } = await initialize({ elicitation: {} });
  for (const more of [{}, { _meta: { progressToken: 1 } }]) {
    const params = { name: 'cpq_list_categories', arguments: {}, ...more };
    const { status, text } = await post({ method: 'tools/call', params }, session ?? '', url);
    expect([status, text]).toEqual([200, expect.stringContaining('categories')]);
  }
});

describeWith('redis', 'a form of a host of the older revisions', () => {
  test('is answered at any replica, by the id of its question alone', async () => {
    const { url: redis } = await startRedis();
    const service = addressIn(await startSandbox({ scale: 0.05 }), 'all');
    const [first = '', second = ''] = (
      await startReplicas(2, service, { ...everything, redis })
    ).map(({ url }) => url);
    const { session } = await initialize({ elicitation: {} }, {}, first);
    const create = (external_id: string) => ({
      method: 'tools/call',
      params: {
        name: 'cpq_upsert_opportunity',
        arguments: { external_id, create: true, name: external_id },
      },
    });
    const ask = async (externalId: string) => {
      const messages = messagesOf(await send(first, create(externalId), session ?? ''));
      const { value: question } = await messages.next();
      expect(question).toMatchObject({ method: 'elicitation/create' });
      return { question: question as Row, messages };
    };
    const [one, other] = [await ask('FORM-1'), await ask('FORM-2')];
    const answer = (id: unknown, result: Row) => post({ id, result }, session ?? '', second);
    const agree = personAnswers.accepts();
    expect((await answer('invented', agree)).status).toBe(202);
    const long = { ...agree, _meta: { text: 'x'.repeat(4_000) } };
    expect((await answer(one.question.id, long)).status).toBe(413);
    expect((await answer(other.question.id, { action: 'decline' })).status).toBe(202);
    expect((await answer(one.question.id, agree)).status).toBe(202);
    const outcomes = [];
    for (const { messages } of [one, other]) {
      const { value } = await messages.next();
      outcomes.push(
        (value as { result: { structuredContent: Row } }).result.structuredContent.outcome,
      );
    }
    expect(outcomes).toEqual(['written', 'declined']);
  });
});
