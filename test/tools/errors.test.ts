import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { freePort } from '../support/free-port.ts';
import { type OpenTenantOptions, openTenant } from '../support/hardening-tenant.ts';
import { callsOf, everyHostHere, open } from '../support/hosts.ts';
import { sample } from '../support/sampling.ts';
import { closing } from '../support/shared.ts';
import { serve } from '../support/tenant-server.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** The words for each kind of failure are approved answers, `test/answers/errors.txt`. */

const wrongKey = 'canary0WrongKey0canary0WrongKey0canary00';
const { address } = embeddedTenant({ scale: 0.1 });
/** A server in this process, of the service at this address. */
async function serverOf(url: string, options: Partial<OpenTenantOptions> = {}) {
  const tenant = closing(openTenant({ url, key: wrongKey, ...options }));
  const client = await serve(tenant).connect({ era: 'legacy' });
  return callsOf(client);
}

const hostOf = (url: string): string => new URL(url).host;

/** Expects a sentence for a person, without key, stack, body or internals. */
function expectWorded(words: string): void {
  expect(words).not.toContain(wrongKey);
  expect(words).not.toMatch(/\n|<[a-z]|\bat .*\.js|\bError:|undefined|\{"/);
  expect(words).toMatch(/^[A-Za-z0-9].{40,500}\.$/s);
}

for (const host of sample(everyHostHere, 4)) {
  test(`a wrong key, ${host.name}: is named by its setting, without its value`, async () => {
    const { baseUrl } = await address();
    const { refused, output, close } = await open({ at: { baseUrl, key: wrongKey }, on: host });
    const words = await refused('cpq_list_companies');
    expect(words).toContain(`The key was not accepted by ${hostOf(baseUrl)}; keys belong to one`);
    expect(words).toContain('Settings → Integrations → API Key');
    expectWorded(words);
    await close();
    expect(output.everything).not.toContain(wrongKey);
  });
}

describe('the service refuses a request', () => {
  test.each([
    { retryAfter: '300', said: '300 seconds', requests: 1 },
    { retryAfter: '1', said: '1 second', requests: 3 },
  ])('for $said, which are said', async ({ retryAfter, said, requests }) => {
    const service = closing(await startUpstream());
    service.set({ status: { code: 503, retryAfter } });
    const words = await (await serverOf(service.url)).refused('cpq_list_companies');
    expect(words).toMatch(new RegExp(` answered with status 503\\. Ask again in ${said}\\.$`));
    expect(service.requests).toHaveLength(requests);
  });

  test('with a message that contains the key, which is removed', async () => {
    const message = `API key ${wrongKey} may not read companies`;
    const service = closing(await startUpstream());
    service.set({ status: { code: 403, message } });
    const { refused, output } = await open({ at: service, key: wrongKey });
    const words = await refused('cpq_list_companies');
    expect(words).toContain('"API key [key] may not read companies"');
    expectWorded(words);
    expect(output.everything).not.toContain(wrongKey);
  });
});

test('too many requests of all programs together are limited before they are sent', async () => {
  // One more than calls: the first also asks whether the total is right.
  const { baseUrl, key } = await address();
  const { call, refused } = await serverOf(baseUrl, { key, requestLimit: 4 });
  for (let at = 0; at < 3; at++) await call('cpq_list_companies', { size: 1 });
  const words = await refused('cpq_list_companies', { size: 1 });
  expect(words).toMatch(/request budget, which all its programs share, is used up/);
  expect(words).toMatch(/Ask again in (59\d|600) seconds/);
  expectWorded(words);
});

describe('a wrong base URL', () => {
  test('where nobody listens is reported', async () => {
    const port = await freePort();
    const { refused } = await serverOf(`http://127.0.0.1:${port}`);
    const words = await refused('cpq_list_companies');
    expect(words).toContain(`127.0.0.1:${port} cannot be reached (ECONNREFUSED)`);
    expect(words).toMatch(/Check the address in CPQ_BASE_URL, the network, a proxy/);
    expectWorded(words);
    for (let call = 0; call < 5; call++) await refused('cpq_list_companies');
    const stopped = await refused('cpq_list_companies');
    expect(stopped).toMatch(/cannot be reached \(ECONNREFUSED\), so requests such as this one/);
  });

  test('with an invalid host name is reported', async () => {
    const { refused } = await serverOf('http://nobody.invalid');
    const words = await refused('cpq_list_companies');
    expect(words).toMatch(/nobody\.invalid cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/);
    expectWorded(words);
  });
});
