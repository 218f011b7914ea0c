import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Gate } from '../../src/hosts/access/gate.ts';
import { serveHttp } from '../../src/hosts/http.ts';
import { closing, shared } from '../support/shared.ts';

/** Nobody learns anything before all of a request is there. */
const waiting: Gate = { admit: () => new Promise(() => {}) };

const server = shared(async () =>
  closing(
    await serveHttp(waiting, {
      host: '127.0.0.1',
      port: 0,
      allowedHosts: [],
      maxBodyBytes: 1_000,
      onError: () => {},
      health: () => ({}),
      slowSenders: { headersMs: 500, requestMs: 1_000 },
    }),
  ),
);

/** What is answered to this, after which nothing more is sent. */
async function answerTo(bytes: string): Promise<string> {
  const { port } = new URL((await server()).url);
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(parts).toString();
}

// Node would look for them every half a minute, which is longer than these tests may take.
test('a sender that is slow with the headers is disconnected', async () => {
  expect(await answerTo('POST /webhooks/x HTTP/1.1\r\nhost: localhost\r\n')).toMatch(/ 408 /);
});

test('a sender that is slow with the body is disconnected', async () => {
  const head = 'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{';
  expect(await answerTo(head)).toMatch(/^HTTP\/1\.1 408 /);
});
