import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newToken } from '../support/access.ts';
import fc from '../support/fast-check.ts';
import { startServer } from '../support/hosts.ts';
import {
  defaultHeaders,
  exchange,
  type Header,
  type RawRequest,
  rawRequest,
  statusesIn,
} from '../support/raw-http.ts';
import { quickOrAll } from '../support/sampling.ts';
import { newFolder, shared } from '../support/shared.ts';

/** No request ends the process or reaches a defect, and without a token none gets data. */

const folder = shared(async () => newFolder());

const server = shared(async () => {
  const env = {
    CPQ_AUTH: 'token',
    CPQ_TOKENS_FILE: join(await folder(), 'tokens.json'),
    CPQ_STATE_DIR: await folder(),
    CPQ_TRUSTED_PROXIES: '127.0.0.1',
    CPQ_METRICS_TOKEN: 'metrics-token-of-the-fuzz',
    CPQ_WEBHOOK_SECRET: 'webhook-secret-of-the-fuzz',
    CPQ_CALLS_PER_MINUTE: '100000',
    CPQ_LOG_LEVEL: 'info',
  };
  const token = await newToken(['fuzz', '--grants', 'read'], env);
  const { running, url } = await startServer({ env });
  return { running, url, port: Number(new URL(url).port), token };
});

/** Each request comes from another address, because wrong credentials are rate-limited by address. */
const fromAnyAddress = fc
  .tuple(fc.nat(255), fc.nat(255), fc.nat(255))
  .map((rest): Header[] => [['x-forwarded-for', `10.${rest.join('.')}`]]);

const publicPaths = /^\/(?:healthz|readyz)(?:\?|$)/;

async function isWell(): Promise<void> {
  const { running, url } = await server();
  const { status } = await fetch(new URL('/healthz', url));
  expect(status).toBe(200);
  expect(running.output.stderr).not.toMatch(
    /TypeError|RangeError|ReferenceError|Maximum call stack/,
  );
}

/** Sends fifty at a time: the server waits for the rest of some. */
async function everyOne(
  request: fc.Arbitrary<RawRequest>,
  holds: (sent: RawRequest) => Promise<void>,
): Promise<void> {
  const some = fc.array(request, { minLength: 50, maxLength: 50 });
  const property = fc.asyncProperty(some, async (sent) => {
    await Promise.all(sent.map(holds));
  });
  await fc.assert(property, { numRuns: quickOrAll(2, 12) });
}

const good: RawRequest = {
  method: 'POST',
  target: '/mcp',
  version: 'HTTP/1.1',
  headers: [],
  body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  pieces: 1,
  share: 1,
};
const withUsual = (request: RawRequest, ...more: Header[]): RawRequest => ({
  ...request,
  headers: [...defaultHeaders(request.body), ...more],
});

describe('an unauthenticated sender', () => {
  test('is refused for any request', async () => {
    const { port } = await server();
    const refused = async (sent: RawRequest) => {
      const answer = await exchange(port, sent);
      const statuses = statusesIn(answer).filter((status) => status !== 100);
      if (!publicPaths.test(sent.target)) {
        expect({ answer, good: statuses.filter((it) => it < 400 || it >= 500) }).toEqual({
          answer,
          good: [],
        });
      }
      expect(answer).not.toMatch(/"result"|"tools"|cpq_list/);
    };
    await everyOne(fromAnyAddress.chain(rawRequest), refused);
    await isWell();
  });

  const methods = ['POST', 'GET', 'DELETE', 'OPTIONS', 'PUT', 'HEAD', 'PATCH'];
  const others = [
    '/',
    '/mcp/',
    '/MCP',
    '//mcp',
    '/%6dcp',
    '/metrics',
    '/preview',
    '/unknown',
    '/mcp/../mcp',
  ];

  test.each<[target: string, method: string, status: number]>([
    ...methods.map((method): [string, string, number] => ['/mcp', method, 401]),
    ...others.map((path): [string, string, number] => [path, 'POST', 404]),
    ['/metrics', 'GET', 404],
    ['/preview', 'GET', 404],
    ['/webhooks/default', 'POST', 401],
    ['/webhooks/unknown', 'POST', 401],
    ['/webhooks/default', 'GET', 405],
    ['/unknown', 'GET', 404],
    ['/healthz', 'GET', 200],
    ['/readyz', 'GET', 200],
  ])('gets the expected status at %s by %s', async (target, method, status) => {
    const { port } = await server();
    const sent = withUsual({ ...good, target, method }, ['x-forwarded-for', '10.9.9.9']);
    const answer = await exchange(port, sent, { isWhole: true });
    expect(statusesIn(answer)).toEqual([status]);
  });

  test('that keeps connections open or sends slowly blocks nobody', async () => {
    const { port, token } = await server();
    const slow = Array.from({ length: 200 }, (_, at) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.write(
        'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{'.slice(0, at),
      );
      return socket;
    });
    const sent = withUsual(good, ['authorization', `Bearer ${token}`]);
    const answer = await exchange(port, sent, { isWhole: true });
    expect(statusesIn(answer)).toEqual([200]);
    for (const socket of slow) socket.destroy();
    await isWell();
  });
});

test('an authenticated sender is answered for any request', async () => {
  const { port, token } = await server();
  await everyOne(rawRequest([['authorization', `Bearer ${token}`]]), async (sent) => {
    const answer = await exchange(port, sent);
    const broken = statusesIn(answer).filter((status) => status >= 500);
    expect({ answer, broken }).toEqual({ answer, broken: [] });
  });
  await isWell();
});
