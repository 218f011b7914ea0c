import { once } from 'node:events';
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { everything, httpHosts, startHttpServer } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';

const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const server = shared(async () => startHttpServer(addressIn(await sandbox()), everything));
const largest = 1024 * 1024;

interface Reply {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends one request with exactly these headers, including `Host`. */
async function ask(path: string, options: RequestOptions = {}, body = ''): Promise<Reply> {
  const { url } = await server();
  const sent = request(new URL(path, url), { agent: false, ...options });
  sent.on('error', () => {}); // The server may close before it has read all.
  sent.end(body);
  const [response] = await once(sent, 'response');
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  const { statusCode: status, headers } = response;
  return { status, headers, body: Buffer.concat(parts).toString() };
}

const defaultHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};
const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

const post = (headers: Record<string, string> = {}, body = listTools): Promise<Reply> =>
  ask('/mcp', { method: 'POST', headers: { ...defaultHeaders, ...headers } }, body);

async function portOf(): Promise<string> {
  return new URL((await server()).url).port;
}

describe('accepted senders', () => {
  test('are programs, which send no Origin', async () => {
    const { status, body } = await post();
    expect(status).toBe(200);
    expect(body).toContain('cpq_list_companies');
  });

  test.each(['localhost', 'LocalHost', '127.0.0.1', '[::1]'])(
    'may address the server as %s',
    async (name) => {
      expect((await post({ host: `${name}:${await portOf()}` })).status).toBe(200);
      expect((await post({ host: name })).status).toBe(200);
    },
  );

  test.each([
    'tenant.example',
    'localhost.tenant.example',
    '127.0.0.1.nip.io',
    '169.254.169.254',
    'localhost@tenant.example',
    'tenant.example@localhost',
    'tenant.example:80@localhost',
    '127.1',
    'localhost:',
    'evil.com@localhost',
    '2130706433',
    '0x7f000001',
    '127.0.0.1:99999',
    '[::1]:70000',
    'localhost:80:80',
    'localhost/tenant.example',
    'localhost\\tenant.example',
    'localhost#',
    '[::1]tenant.example',
    '[0:0:0:0:0:0:0:1]',
    'localhost.',
  ])('may not address it as "%s", as in DNS rebinding', async (host) => {
    const { status, body } = await post({ host });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(body).not.toContain('cpq_list_companies');
  });

  test.each(['http://localhost:8080', 'http://127.0.0.1', 'https://localhost'])(
    'include pages of this machine: %s',
    async (origin) => {
      expect((await post({ origin })).status).toBe(200);
    },
  );

  test.each([
    'https://tenant.example',
    'null',
    'http://localhost.tenant.example',
    'file://',
    'localhost',
    'http://tenant.example@localhost',
    'http://127.1',
    'http://localhost/x',
  ])('do not include other pages: %s', async (origin) => {
    const { status, body } = await post({ origin });
    expect(status).toBe(403);
    expect(body).not.toContain('cpq_list_companies');
  });

  test('do not include pages that send a preflight request', async () => {
    const headers = { origin: 'https://tenant.example', 'access-control-request-method': 'POST' };
    const reply = await ask('/mcp', { method: 'OPTIONS', headers });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  });
});

/** Sends the request as nginx before 1.29.7 does by default: a loopback `Host`, HTTP/1.0, and no other trace. */
async function askOldVersion(path: string): Promise<string> {
  const socket = connect(Number(await portOf()), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe('a request that a proxy forwarded, without authentication', () => {
  test.each([
    ['Forwarded', 'for=192.0.2.1'],
    ['X-Forwarded-For', '192.0.2.1'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Real-IP', '192.0.2.1'],
    ['Via', '1.1 proxy'],
    ['CF-Connecting-IP', '192.0.2.1'],
    ['X-Original-Forwarded-For', '192.0.2.1'],
  ])('is refused, and the reason is named: %s', async (name, value) => {
    const { status, body } = await post({ [name]: value });
    expect(status).toBe(403);
    expect(body).toContain(name.toLowerCase());
    expect(body).toContain('CPQ_AUTH');
  });

  test.each(['/mcp', '/metrics', '/preview'])('is refused in HTTP/1.0: %s', async (path) => {
    const answer = await askOldVersion(path);
    expect(answer).toMatch(/^HTTP\/1.1 403 /);
    expect(answer).toContain('A proxy forwarded this request (HTTP/1.0)');
    expect(answer).toContain('CPQ_AUTH');
  });

  test('may ask for the health of the server', async () => {
    expect(await askOldVersion('/healthz')).toMatch(/^HTTP\/1.1 200 /);
  });
});

test.each([
  ['on', /^application\/json/],
  ['off', /^text\/event-stream/],
])('a list is answered with the fast path %s', async (fastPath, type) => {
  const env = { CPQ_FAST_PATH: fastPath };
  const { url } = await startHttpServer(addressIn(await sandbox()), { env });
  const reply = await fetch(url, { method: 'POST', headers: defaultHeaders, body: listTools });
  expect(reply.headers.get('content-type')).toMatch(type);
  expect(await reply.text()).toContain('cpq_list_companies');
});

describe('accepted requests', () => {
  test('have a body of at most a mebibyte', async () => {
    const params = (length: number) => ({
      name: 'cpq_list_companies',
      arguments: { query: 'x'.repeat(length) },
    });
    const call = (length: number) =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: params(length) });
    const within = await post({}, call(largest - 1_000));
    expect(within.status).toBe(200);
    expect(within.body).toContain('query must be a string of at most 500 characters');
    const over = await post({}, call(largest + 1));
    expect(over.status).toBe(413);
  });

  test('have a limited body even without a content length', async () => {
    const { url } = await server();
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    const head = Object.entries(defaultHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: localhost\r\n${head.join('')}transfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    for (let sent = 0; sent < 2 * largest; sent += 65_536) socket.write(chunk);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  test.each(['{', '', '[]', 'null', '"text"', '{"jsonrpc":"1.0"}', '\u0000'])(
    'have a valid message as body, not %j',
    async (body) => {
      const { status } = await post({}, body);
      expect(status).toBe(400);
    },
  );

  test('have the content type of JSON', async () => {
    expect((await post({ 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post({ 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415);
  });

  test('have a known protocol version', async () => {
    const { status, body } = await post({ 'mcp-protocol-version': '1999-01-01' });
    expect(status).toBe(400);
    expect(body).toMatch(/2025-11-25/);
  });

  test.each(['GET', 'PUT', 'DELETE', 'PATCH'])(
    'do not use %s, because there are no sessions',
    async (method) => {
      const { status, headers } = await ask('/mcp', { method, headers: defaultHeaders });
      expect([status, headers.allow]).toEqual([405, 'POST']);
    },
  );
});

describe('other paths and headers', () => {
  test('include /healthz, which reveals nothing about the tenant', async () => {
    const { status, body, headers } = await ask('/healthz');
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('application/json');
    expect(JSON.parse(body)).toMatchObject({ status: 'ok' });
    const { baseUrl, key } = addressIn(await sandbox());
    expect(body).not.toContain(key);
    expect(body).not.toContain(new URL(baseUrl).host);
  });

  test('include /healthz for a probe that uses an IP address', async () => {
    expect((await ask('/healthz', { headers: { host: '10.0.0.7:3333' } })).status).toBe(200);
  });

  test.each(['/', '/mcp/', '/mcp/x', '/MCP', '/favicon.ico', '/.env', '//mcp', '/sse'])(
    'do not include %s',
    async (path) => {
      const { status, body } = await ask(`http://localhost:${await portOf()}${path}`);
      expect(status).toBe(404);
      expect(JSON.parse(body).error).toMatch(/\/mcp/);
    },
  );

  test('do not reveal the software', async () => {
    const { headers } = await ask('/healthz');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('server');
  });
});

describe('concurrent requests', () => {
  for (const host of httpHosts) {
    test(`get their own answers, ${host.name}`, async () => {
      const { call } = await host.start(addressIn(await sandbox()));
      const sizes = Array.from({ length: 24 }, (_, at) => 1 + (at % 12));
      const answers = await Promise.all(sizes.map((size) => call('cpq_list_contacts', { size })));
      expect(answers.map(({ records }) => records.length)).toEqual(sizes);
    });
  }
});
