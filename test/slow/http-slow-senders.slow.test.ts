import { expect, test } from 'vitest';
import type { Gate } from '../../src/hosts/access/gate.ts';
import { serveHttp } from '../../src/hosts/http.ts';
import { httpOptions } from '../support/http-options.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { closing, shared } from '../support/shared.ts';

/** No request is answered: these are disconnected before they are complete. */
const waiting: Gate = { admit: () => new Promise(() => {}) };

const server = shared(async () => closing(await serveHttp(waiting, httpOptions())));

const answerTo = async (bytes: string): Promise<string> =>
  exchangeBytes(Number(new URL((await server()).url).port), bytes);

// The server gives a sender 15 seconds for the headers and 30 for the whole; later is as bad as never.

test('a sender that is slow with the headers is disconnected', { timeout: 60_000 }, async () => {
  expect(await answerTo('POST /webhooks/x HTTP/1.1\r\nhost: localhost\r\n')).toMatch(/ 408 /);
});

test('a sender that is slow with the body is disconnected', { timeout: 60_000 }, async () => {
  const head = 'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{';
  expect(await answerTo(head)).toMatch(/^HTTP\/1\.1 408 /);
});
