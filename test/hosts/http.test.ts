import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { send } from '../support/fast-path-parity.ts';
import { legacy, legacyHeaders } from '../support/fast-path-requests.ts';
import { everything, httpHosts, open, startServer } from '../support/hosts.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { shared } from '../support/shared.ts';

const { address } = embeddedTenant({ scale: 0.1 });
const server = shared(async () => startServer({ at: address, ...everything }));
const largest = 1024 * 1024;
const listTools = legacy('tools/list').body;

/** Sends one request with these headers, including `Host`. */
const ask = async (path: string, method = 'GET', headers: Record<string, string> = {}) =>
  send(new URL(path, (await server()).url), { method, headers, body: '' });

const post = async (headers: Record<string, string> = {}, body = listTools) =>
  send((await server()).url, { headers: { ...legacyHeaders, ...headers }, body });

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
    ...['tenant.example', 'localhost.tenant.example', '127.0.0.1.nip.io', '169.254.169.254'],
    ...['localhost@tenant.example', 'tenant.example@localhost', 'tenant.example:80@localhost'],
    ...['127.1', '2130706433', '0x7f000001', '[0:0:0:0:0:0:0:1]', 'localhost:', 'localhost.'],
    ...['127.0.0.1:99999', '[::1]:70000', 'localhost:80:80', 'evil.com@localhost'],
    ...['localhost/tenant.example', 'localhost\\tenant.example', 'localhost#'],
    '[::1]tenant.example',
  ])('may not address it as "%s", as in DNS rebinding', async (host) => {
    const { status, body } = await post({ host });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(body).not.toContain('cpq_list_companies');
  });

  test('are told that it is the Host header', async () => {
    const { body } = await post({ host: 'tenant.example' });
    expect(body).toContain('The Host header does not name this server.');
  });

  test.each(['http://localhost:8080', 'http://127.0.0.1', 'https://localhost'])(
    'include pages of this machine: %s',
    async (origin) => {
      expect((await post({ origin })).status).toBe(200);
    },
  );

  test.each([
    ...['https://tenant.example', 'null', 'http://localhost.tenant.example', 'file://'],
    ...['localhost', 'http://tenant.example@localhost', 'http://127.1', 'http://localhost/x'],
  ])('do not include other pages: %s', async (origin) => {
    const { status, body } = await post({ origin });
    expect(status).toBe(403);
    expect(body).not.toContain('cpq_list_companies');
  });

  test('do not include pages that send a preflight request', async () => {
    const headers = { origin: 'https://tenant.example', 'access-control-request-method': 'POST' };
    const reply = await ask('/mcp', 'OPTIONS', headers);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  });
});

/** Sends the request as nginx before 1.29.7 does by default: a loopback `Host`, HTTP/1.0, and no other trace. */
const askOldVersion = async (path: string): Promise<string> =>
  exchangeBytes(
    Number(await portOf()),
    `GET ${path} HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
  );

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
  const { url } = await startServer({ at: address, env });
  const { headers, body } = await send(url, legacy('tools/list'));
  expect(headers['content-type']).toMatch(type);
  expect(body).toContain('cpq_list_companies');
});

describe('accepted requests', () => {
  test('have a body of at most a mebibyte', async () => {
    const call = (length: number) => {
      const args = { query: 'x'.repeat(length) };
      return legacy('tools/call', { name: 'cpq_list_companies', arguments: args }).body;
    };
    const within = await post({}, call(largest - 1_000));
    expect(within.status).toBe(200);
    expect(within.body).toContain('query must be a string of at most 500 characters');
    const over = await post({}, call(largest + 1));
    expect(over.status).toBe(413);
  });

  test('have a limited body even without a content length', async () => {
    const socket = connect(Number(await portOf()), '127.0.0.1');
    socket.on('error', () => {});
    const head = Object.entries(legacyHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
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

  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'TRACE'])(
    'do not use %s, because there are no sessions',
    async (method) => {
      const { status, headers } = await ask('/mcp', method, legacyHeaders);
      expect([status, headers.allow]).toEqual([405, 'POST']);
    },
  );
});

describe('other paths and headers', () => {
  test('include /healthz, which reveals nothing about the tenant and the software', async () => {
    const { status, body, headers } = await ask('/healthz');
    expect(status).toBe(200);
    for (const name of ['x-powered-by', 'server']) expect(headers).not.toHaveProperty(name);
    expect(headers['content-type']).toContain('application/json');
    expect(JSON.parse(body)).toMatchObject({ status: 'ok' });
    const { baseUrl, key } = await address();
    expect(body).not.toContain(key);
    expect(body).not.toContain(new URL(baseUrl).host);
  });

  test('include /healthz for a probe that uses an IP address', async () => {
    expect((await ask('/healthz', 'GET', { host: '10.0.0.7:3333' })).status).toBe(200);
  });

  test.each(['/', '/mcp/', '/mcp/x', '/MCP', '/favicon.ico', '/.env', '//mcp', '/sse'])(
    'do not include %s',
    async (path) => {
      const { status, body } = await ask(`http://localhost:${await portOf()}${path}`);
      expect(status).toBe(404);
      expect(JSON.parse(body).error).toMatch(/\/mcp/);
    },
  );
});

describe('concurrent requests', () => {
  for (const host of httpHosts) {
    test(`get their own answers, ${host.name}`, async () => {
      const { call } = await open({ at: address, on: host });
      const sizes = Array.from({ length: 24 }, (_, at) => 1 + (at % 12));
      const answers = await Promise.all(sizes.map((size) => call('cpq_list_contacts', { size })));
      expect(answers.map(({ records }) => records.length)).toEqual(sizes);
    });
  }
});
