import { connect, type Socket } from 'node:net';
import fc, { codePoint } from './fast-check.ts';

export type Header = readonly [name: string, value: string];

/** A raw request; any part of it may be invalid. */
export interface RawRequest {
  method: string;
  target: string;
  version: string;
  headers: readonly Header[];
  body: string;
  /** Number of chunks in which it is sent. */
  pieces: number;
  /** The share of its bytes that is sent before the sender disconnects; 1 is all. */
  share: number;
}

const call = (method: string, params: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const listing = call('tools/call', { name: 'cpq_list_quotes', arguments: { size: 1 } });
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const junk = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: codePoint, maxLength: 20 }),
  fc.constantFrom('', '-1', '0', '1e9', '9'.repeat(20), 'x'.repeat(9_000), '\u0000', '../..'),
);

/** Without line ends, which would start another header. */
const value = junk.map((text) => text.replace(/[\r\n]/g, ' '));

const method = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('POST', 'GET') },
  fc.constantFrom('DELETE', 'PUT', 'OPTIONS', 'HEAD', 'TRACE', 'CONNECT', 'PATCH'),
  fc.constantFrom('get', 'UNKNOWN', ''),
);

const paths = [
  ...['/mcp', '/mcp/', '/mcp?x=1', '//mcp', '/MCP', '/%6dcp', '/mcp%00', '/./mcp', 'mcp'],
  ...['/preview', '/preview/pipeline', '/metrics', '/metrics/', '/webhooks/default'],
  ...['/webhooks/default/unknown', '/webhooks/%E0%A4%A', '/webhooks/', '/webhooks/../mcp'],
  ...['/healthz/../mcp', '/healthz%2f..%2fmcp', '/.well-known/oauth-protected-resource'],
  ...['/.well-known/oauth-protected-resource/mcp', '/', '*', 'http://localhost/mcp'],
  ...['/constructor', '/__proto__'],
];
const target = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('/mcp', ...paths) },
  value.map((text) => `/${text.replaceAll(' ', '')}`),
);

const named = (name: string, ...values: string[]) =>
  fc.tuple(fc.constant(name), fc.oneof(fc.constantFrom(...values), value));

const header = fc.oneof(
  named('host', 'localhost', '127.0.0.1:99999', 'evil.example', 'localhost:x', ''),
  named('origin', 'http://localhost', 'https://evil.example', 'null'),
  named(
    'authorization',
    'Bearer',
    'Bearer x',
    'Basic eDp5',
    'bearer cpq_0_0',
    `Bearer ${'x'.repeat(9e3)}`,
  ),
  named('api-key', 'k'.repeat(40)),
  named('cpq-base-url', 'http://127.0.0.1:1', 'file:///etc/passwd'),
  named('cookie', 'a=b'),
  named('content-type', 'application/json', 'text/plain', 'application/json; charset=utf-16'),
  named('accept', '*/*', 'application/json', 'text/event-stream'),
  named('content-encoding', 'gzip', 'identity'),
  named('content-length', '0', '1', '5000000', '-1', '+1', '0x10', '1, 1'),
  named('transfer-encoding', 'chunked', 'identity', 'gzip, chunked', 'chunked, chunked'),
  named('expect', '100-continue', 'unknown'),
  named('upgrade', 'websocket', 'h2c'),
  named('connection', 'close', 'keep-alive', 'upgrade', 'content-length'),
  named('mcp-protocol-version', '2026-07-28', '2025-11-25', '1999-01-01'),
  named('mcp-method', 'tools/call', 'subscriptions/listen'),
  named('mcp-name', 'cpq_list_quotes'),
  named('mcp-session-id', 'x'),
  named('last-event-id', '0'),
  named('x-request-id', 'x', 'x'.repeat(65)),
  named('x-forwarded-for', '10.0.0.1', '10.0.0.1, 127.0.0.1', '::1', 'unknown'),
  named('x-webhook-secret', 'x'),
  named('traceparent', 'x'),
  fc.tuple(fc.constantFrom('x', 'a b', '', ':', '__proto__', 'constructor'), value),
);

const body = fc.oneof(
  fc.constantFrom(
    listing,
    `[${listing},${listing}]`,
    call('initialize', {}),
    call('tools/list', {}),
    call('tools/list', { _meta: envelope }),
    call('subscriptions/listen', { notifications: {}, _meta: envelope }),
    call('resources/read', { uri: 'cpq://company/x' }),
    call('__proto__', {}),
    listing.slice(0, 30),
    '',
    '[]',
    'null',
    '"',
    '{"__proto__":{"method":"ping"},"jsonrpc":"2.0","id":1}',
    '['.repeat(30_000),
    `{"x":"${'x'.repeat(1_100_000)}"}`,
    '5\r\n12345\r\n0\r\n\r\n',
    'GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n',
  ),
  fc.json({ maxDepth: 4 }),
  junk,
);

/** The headers of a valid request. */
export const defaultHeaders = (body: string): Header[] => [
  ['host', 'localhost'],
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
  ['content-length', String(Buffer.byteLength(body))],
  ['connection', 'close'],
];

const often = fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false));

/** Any request; most are nearly valid, so that they pass the first checks. */
export const rawRequest = (always: readonly Header[]): fc.Arbitrary<RawRequest> =>
  body.chain((text) =>
    fc
      .record({
        method,
        target,
        version: fc.oneof(
          { weight: 9, arbitrary: fc.constant('HTTP/1.1') },
          fc.constantFrom('HTTP/1.0', 'HTTP/9.9', 'x', ''),
        ),
        usual: often.chain((all) =>
          all ? fc.constant(defaultHeaders(text)) : fc.subarray(defaultHeaders(text)),
        ),
        others: fc.array(header, { maxLength: 4 }),
        pieces: fc.constantFrom(1, 1, 1, 2, 7),
        share: fc.constantFrom(1, 1, 1, 1, 0.9, 0.4),
      })
      .map(({ usual, others, ...request }) => ({
        ...request,
        headers: [...always, ...usual, ...others],
        body: text,
      })),
  );

function bytesOf({ method, target, version, headers, body }: RawRequest): Buffer {
  const head = [
    `${method} ${target} ${version}`,
    ...headers.map(([name, content]) => `${name}: ${content}`),
  ];
  const text = `${head.join('\r\n')}\r\n\r\n`;
  // Headers are Latin-1, the body is UTF-8.
  return Buffer.concat([Buffer.from(text, 'latin1'), Buffer.from(body)]);
}

/** The server may wait for the rest of an invalid request. */
const answerMs = 1_000;

/** Sends the request and reads until the server closes the connection. `isWhole`: an answer is certain. */
export async function exchange(
  port: number,
  request: RawRequest,
  { isWhole = false } = {},
): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  const answer = everythingFrom(socket);
  await write(socket, request);
  const timer = isWhole ? undefined : setTimeout(() => socket.end(), answerMs);
  await answer;
  clearTimeout(timer);
  return answer;
}

/** Sends these bytes and no more, and reads until the server closes the connection. */
export async function exchangeBytes(port: number, bytes: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(bytes);
  return everythingFrom(socket);
}

async function everythingFrom(socket: Socket): Promise<string> {
  const received: Buffer[] = [];
  // The server may close the connection while the request is being sent.
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => received.push(bytes));
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(received).toString('latin1');
}

async function write(socket: Socket, request: RawRequest): Promise<void> {
  const bytes = bytesOf(request);
  const sent = bytes.subarray(0, Math.ceil(bytes.length * request.share));
  const size = Math.ceil(sent.length / request.pieces);
  for (let at = 0; at < sent.length; at += size) {
    socket.write(sent.subarray(at, at + size));
    if (request.pieces > 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The status of each response. */
export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/^HTTP\/1\.[01] (\d{3}) /gm)].map(([, status]) => Number(status));
