import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Gate } from '../../src/hosts/access/gate.ts';
import { serveHttp } from '../../src/hosts/http.ts';
import { httpOptions } from '../support/http-options.ts';
import { closing, shared } from '../support/shared.ts';

/** No request is answered: these are disconnected before they are complete. */
const waiting: Gate = { admit: () => new Promise(() => {}) };

const server = shared(async () => closing(await serveHttp(waiting, httpOptions())));

/** Sends these bytes and no more, and reads until the connection is closed. */
async function answerTo(bytes: string): Promise<string> {
  const { port } = new URL((await server()).url);
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(parts).toString();
}

// The server gives a sender 15 seconds for the headers and 30 for the whole; later is as bad as never.

test('a sender that is slow with the headers is disconnected', { timeout: 60_000 }, async () => {
  expect(await answerTo('POST /webhooks/x HTTP/1.1\r\nhost: localhost\r\n')).toMatch(/ 408 /);
});

test('a sender that is slow with the body is disconnected', { timeout: 60_000 }, async () => {
  const head = 'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{';
  expect(await answerTo(head)).toMatch(/^HTTP\/1\.1 408 /);
});
