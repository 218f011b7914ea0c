import { once } from 'node:events';
import { request as open, type RequestOptions } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Row } from '../support/hosts.ts';
import type { Upstream } from '../support/upstream/behaviour.ts';
import { type FaultName, faultNames, faults } from '../support/upstream/faults.ts';
import { resourcePaths } from '../support/upstream/records.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { writeFaultNames, writeFaults } from '../support/upstream/write-faults.ts';

/** The misbehaving service of the tests does what its faults say: one that did nothing would prove nothing. */

let upstream: Upstream;
beforeEach(async () => {
  upstream = await startUpstream({ counts: { '/company': 45 } });
});
afterEach(() => upstream.close());

/** What a client sees of one answer that is not decoded: status, headers and body, or the error of the socket. */
async function seen(path: string, options: RequestOptions = {}, body?: string): Promise<string> {
  const sent = open(`${upstream.url}/public-api${path}`, { agent: false, ...options });
  sent.on('error', () => {});
  sent.end(body);
  try {
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const headers = { ...response.headers, date: undefined };
    const text = Buffer.concat(chunks).toString('latin1');
    return `${response.statusCode} ${JSON.stringify(headers)} ${text.length} ${text.slice(0, 50_000)}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

const headers = { 'accept-encoding': 'gzip, deflate, br' };
const pages = [0, 10, 20, 30, 40, 50].map((from) => `/company?size=10&from=${from}`);

/** What is seen of several pages; of a fault that ends no answer, or a huge one, only of the first. */
async function seenOfPages(name: FaultName): Promise<string[]> {
  upstream.set(faults[name]);
  const { kinds = [] } = faults[name];
  const answers: string[] = [];
  if (kinds.includes('timed out')) {
    const leave = new AbortController();
    const left = seen('/company', { signal: leave.signal });
    await expect.poll(() => upstream.requests[0]?.outcome).toBe('open');
    leave.abort();
    return [await left];
  }
  const asked = kinds.includes('too large') ? pages.slice(0, 1) : ['/company?size=45', ...pages];
  for (const path of asked) answers.push(await seen(path, { headers }));
  return answers;
}

test.each(resourcePaths)('%s is served whole', async (path) => {
  const response = await fetch(`${upstream.url}/public-api${path}?size=100`);
  const answer = (await response.json()) as Row[] | { results: Row[]; total: number };
  const all = upstream.records[path];
  expect(answer).toMatchObject(Array.isArray(answer) ? all : { results: all, total: all.length });
});

/** Only slower, or what is usual, by name. */
const unseen: readonly FaultName[] = [
  ...(['none', 'envelope-results', 'rate-headers-absent'] as const),
  ...(['delay-headers', 'delay-body', 'slow-body'] as const),
];

test.each(faultNames.filter((name) => !unseen.includes(name)))('%s is seen', async (name) => {
  const usual = await seenOfPages('none');
  upstream.reset();
  expect(await seenOfPages(name)).not.toEqual(usual);
});

test('the same answers are the same, apart from what a fault changes', async () => {
  const usual = await seenOfPages('none');
  upstream.reset();
  expect(await seenOfPages('none')).toEqual(usual);
});

test.each(writeFaultNames)('%s writes, or does not', async (name) => {
  const { applied, expect: expected } = writeFaults[name];
  upstream.set(writeFaults[name]);
  const leave = new AbortController();
  const options = { method: 'PUT', signal: leave.signal };
  const json = { ...options, headers: { 'content-type': 'application/json' } };
  const sent = seen('/opportunity/ext/opp-3', json, `{"name":"Named by ${name}"}`);
  await expect.poll(() => upstream.requests[0]?.applied).toBe(applied);
  if (name.startsWith('hang')) leave.abort();
  const answer = await sent;
  const rows = upstream.records['/opportunity'];
  const row = rows.find(({ externalIdentifier }) => externalIdentifier === 'opp-3');
  expect(row?.name === `Named by ${name}`).toBe(applied);
  if (expected === 'ok') expect(answer).toMatch(/^200 /);
  if (expected === 'error') expect(answer).not.toMatch(/^200 /);
});
