import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { httpHere, open, startServer } from '../support/hosts.ts';
import { startHere } from '../support/process.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { newFolder, shared } from '../support/shared.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

const { address } = embeddedTenant({ scale: 0.1 });

async function serve(env: Record<string, string>) {
  const state = newFolder();
  const server = await startServer({ at: address, on: httpHere, folder: state, env });
  server.running.output.guard(webhookSecret);
  return { ...server, state, at: webhooksAt(server.url, 'default') };
}

const server = shared(() => serve({ CPQ_WEBHOOK_SECRET: webhookSecret }));
const event = { event: 'quote.ordered', data: { id: 'q1', number: 'Q-1' } };

describe('a delivery', () => {
  test.each([
    ['its URL', `/${webhookSecret}`, {}],
    ['a header, with a slash at the end of the URL', '/', { 'x-webhook-secret': webhookSecret }],
    [
      'its URL, with a header for another receiver',
      `/${webhookSecret}`,
      { 'x-webhook-secret': 'x' },
    ],
    ['a header, with another word in the URL', '/hook', { 'x-webhook-secret': webhookSecret }],
  ])('may carry the secret in %s', async (_, path, headers: Record<string, string>) => {
    const { at } = await server();
    expect((await deliver(`${at}${path}`, event, headers)).status).toBe(200);
  });

  test('is accepted for any Host, because it carries a secret', async () => {
    const { at } = await server();
    const url = new URL(at);
    const body = JSON.stringify({ event: 'order.created' });
    const head = [
      `POST ${url.pathname} HTTP/1.1`,
      'Host: hooks.example.com',
      `X-Webhook-Secret: ${webhookSecret}`,
      'Connection: close',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    const answer = await exchangeBytes(Number(url.port), `${head.join('\r\n')}\r\n\r\n${body}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    [`{"event":"quote.ordered","data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, /nested/],
    [`${'{"data":'.repeat(100_000)}1${'}'.repeat(100_000)}`, /nested/],
  ])('that cannot be read is refused with the reason: %s', async (payload, why) => {
    const { at } = await server();
    const { status, body } = await deliver(at, payload);
    expect(status).toBe(400);
    expect(body.error).toMatch(why);
  });
});

describe('the body of a delivery', () => {
  test('must be UTF-8, not compressed and not too large', async () => {
    const { at } = await server();
    const send = async (body: string | Uint8Array, headers: Record<string, string> = {}) =>
      (
        await fetch(at, {
          method: 'POST',
          headers: { 'x-webhook-secret': webhookSecret, ...headers },
          body,
        })
      ).status;
    // Valid but for the encoding: only the last byte of the number is not UTF-8.
    expect(await send(JSON.stringify(event))).toBe(200);
    expect(await send(`\uFEFF${JSON.stringify(event)}`)).toBe(200);
    expect(await send(Buffer.from(JSON.stringify(event).replace('Q-1', 'Q-\xff'), 'latin1'))).toBe(
      400,
    );
    expect(await send('{}', { 'content-encoding': 'gzip' })).toBe(415);
    const padded = (bytes: number) => {
      const text = JSON.stringify(event);
      return text + ' '.repeat(bytes - text.length);
    };
    expect(await send(padded(1024 * 1024))).toBe(200);
    expect(await send(padded(1024 * 1024 + 1))).toBe(413);
  });

  test('without a content length is limited too', async () => {
    const url = new URL((await server()).at);
    const head = [
      `POST ${url.pathname} HTTP/1.1`,
      'Host: localhost',
      `X-Webhook-Secret: ${webhookSecret}`,
      'Transfer-Encoding: chunked',
    ];
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const answer = await exchangeBytes(
      Number(url.port),
      `${head.join('\r\n')}\r\n\r\n${chunk.repeat(17)}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('waits while sixteen others of its tenant are read', async () => {
    const url = new URL((await server()).at);
    const healthz = () => fetch(new URL('/healthz', url));
    const body = JSON.stringify(event);
    await deliver(url.href, event); // Loads what receives it.
    const head = `POST ${url.pathname} HTTP/1.1\r\nHost: x\r\nX-Webhook-Secret: ${webhookSecret}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const sockets = Array.from({ length: 16 }, () => connect(Number(url.port), url.hostname));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write(head);
    await healthz();
    let answered = false;
    const last = deliver(url.href, event).finally(() => (answered = true));
    // Far more than a delivery takes.
    for (let request = 0; request < 20; request++) await healthz();
    expect(answered).toBe(false);
    sockets[0]?.write(body);
    expect((await last).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test('that is incomplete is not stored, and the server continues', async () => {
    const { at, running } = await server();
    const url = new URL(at);
    const socket = connect(Number(url.port), url.hostname);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(
      `POST ${url.pathname} HTTP/1.1\r\nHost: x\r\nX-Webhook-Secret: ${webhookSecret}\r\nContent-Length: 100\r\n\r\n{"event":`,
    );
    socket.destroy();
    expect((await deliver(at, { ...event, eventId: 'after' })).status).toBe(200);
    expect(running.output.stderr).toBe('');
  });
});

describe('a sender without the secret', () => {
  test.each([
    ['says none', 'default', {}],
    ['says another', 'default', { 'x-webhook-secret': `${webhookSecret}x` }],
    ['sends its beginning', 'default', { 'x-webhook-secret': webhookSecret.slice(0, -1) }],
    ['sends an empty one', 'default', { 'x-webhook-secret': '' }],
    ['sends another one in the address', `default/${webhookSecret}x`, {}],
    ['sends more than it', `default/${webhookSecret}/more`, {}],
    ['names another tenant', 'other', { 'x-webhook-secret': webhookSecret }],
    ['names no tenant', '', { 'x-webhook-secret': webhookSecret }],
    ['names an invalid tenant', '%E0%A4%A/__proto__', {}],
  ])('learns nothing: %s', async (_, path, headers) => {
    const { url } = await server();
    for (const payload of [event, 'not JSON']) {
      const { status, body } = await deliver(webhooksAt(url, path), payload, headers);
      expect([status, body]).toEqual([401, { error: 'Unauthorized' }]);
    }
    const compressed = { ...headers, 'content-encoding': 'gzip' };
    expect((await deliver(webhooksAt(url, path), '{}', compressed)).status).toBe(415);
  });

  test.each([
    ['without a secret', 'default', ''],
    ['with a wrong secret', 'default', 'X-Webhook-Secret: ab\r\n'],
    ['of an unknown tenant', 'nobody', 'X-Webhook-Secret: ab\r\n'],
  ])('cannot make the server read a large body %s', async (_, name, header) => {
    const url = new URL(webhooksAt((await server()).url, name));
    const head = `POST ${url.pathname} HTTP/1.1\r\nHost: x\r\n${header}Content-Length: 1000000\r\n\r\n`;
    expect(await exchangeBytes(Number(url.port), head)).toMatch(
      /^HTTP\/1\.1 401 [\s\S]*connection: close/i,
    );
  });
});

test.each(['DELETE', 'HEAD', 'OPTIONS'])('the method %s is refused', async (method) => {
  const { at } = await server();
  const response = await fetch(at, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('POST');
});

test('no secret of the server in a payload is stored or listed', async () => {
  const state = newFolder();
  const { key } = await address();
  const connection = await open({ at: address, folder: state, webhookSecret });
  const secrets = [key, webhookSecret];
  const texts = secrets.flatMap((secret) => [secret, [...secret].join('\u200b'), `|${secret}`]);
  const fields = Object.fromEntries(texts.map((text, at) => [`f${at}`, text]));
  const payload = { event: 'order.created', secret: webhookSecret, data: { id: 'o1', ...fields } };
  const body = JSON.stringify({ ...payload, name: webhookSecret });
  const at = webhooksAt(connection.url ?? '', 'default');
  expect((await deliver(at, body)).status).toBe(200);
  const { records, result } = await connection.call('cpq_list_events');
  expect(records).toMatchObject([{ order: { f0: '[key]', f1: '[key]' } }]);
  const stored = await Promise.all(
    (await readdir(state, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')),
  );
  expect(stored).not.toEqual([]);
  const visible = [JSON.stringify(result), ...stored].join().replaceAll('\u200b', '');
  for (const secret of secrets) expect(visible).not.toContain(secret);
});

describe('settings of webhooks', () => {
  test('without a secret, deliveries are refused and no tool lists events', async () => {
    const { url } = await startServer({ at: address });
    expect((await deliver(webhooksAt(url, 'default'), event)).status).toBe(404);
  });

  test('a secret may be in a file, and enables the tool', async () => {
    const file = join(newFolder(), 'secret');
    await writeFile(file, `${webhookSecret}\n`);
    const env = { CPQ_WEBHOOK_SECRET_FILE: file };
    const { at } = await serve(env);
    expect((await deliver(at, event)).status).toBe(200);
    const listing = await open({ at: address, env });
    const names = await listing.names();
    expect(names).toContain('cpq_list_events');
    const without = await open({ at: address });
    expect(await without.names()).not.toContain('cpq_list_events');
  });

  test.each([
    ['CPQ_WEBHOOK_SECRET', 'short', /at least|shorter than 16/],
    ['CPQ_WEBHOOK_SECRET', 'two words of it, long enough', /character/],
    ['CPQ_WEBHOOK_SECRET_FILE', '/nowhere/secret', /\/nowhere\/secret cannot be read \(ENOENT\)/],
    ['CPQ_REDIS_URL', 'http://:canary0secret@127.0.0.1', /redis:\/\/host:6379/],
    ['CPQ_REDIS_URL', 'redis://:canary0%secret@127.0.0.1', /percent sign/],
  ])('an invalid %s is reported without its value', async (name, value, message) => {
    const { baseUrl, key } = await address();
    const running = await startHere(['http'], {
      ...{ CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key },
      [name]: value,
    });
    expect((await running.exited).status).toBe(2);
    expect(running.output.stderr).toMatch(message);
    expect(running.output.stderr).toContain(name);
    expect(running.output.stderr).not.toContain('canary0');
  });
});

test('an event that cannot be stored is refused until it can be', async () => {
  const { at, state, running } = await serve({ CPQ_WEBHOOK_SECRET: webhookSecret });
  await rm(state, { recursive: true });
  await writeFile(state, 'in the way');
  const refused = await deliver(at, event);
  expect([refused.status, refused.body.error]).toEqual([503, 'The event cannot be stored now']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(running.output.stderr).toContain('webhook not stored');
  expect(running.output.stderr).not.toContain('Q-1');
  await rm(state);
  await mkdir(state);
  expect((await deliver(at, event)).body).toEqual({ status: 'kept' });
});
