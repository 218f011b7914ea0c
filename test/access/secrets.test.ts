import { expect, test } from 'vitest';
import { openCommon } from '../../src/commands/tenant-handle.ts';
import { readSettings } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { withoutSecrets } from '../../src/text/secrets.ts';
import {
  bearer,
  callToolRequest,
  fileIn,
  type Headers,
  newToken,
  send,
  startTeam,
} from '../support/access.ts';
import { createCanary } from '../support/canary.ts';
import { newKey, startProvider } from '../support/identity-provider.ts';
import { closing, newFolder } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const audience = 'https://mcp.example.com/mcp';

/** The token, and a part that would be enough to guess it. */
const partsOf = (token: string): string[] => [token, token.slice(-30)];

test('no credential of a caller, valid or not, is written anywhere', async () => {
  const [own, wrong, operators, hook] = [
    createCanary(),
    createCanary(),
    createCanary(),
    createCanary(),
  ];
  const plainKey = 'aPlainKeyOfFortyLettersAndDigits01234567';
  const upstream = closing(
    await startUpstream({ keys: new Set([own.key, plainKey, operators.key]) }),
  );
  const provider = await startProvider('ES256');
  const state = newFolder();
  const env = { CPQ_STATE_DIR: state };
  const good = await newToken(['good'], env);
  const described = { baseUrl: upstream.url, apiKey: operators.key, webhookSecret: hook.key };
  const team = await startTeam({
    ...env,
    CPQ_TENANTS_FILE: await fileIn(newFolder(), 'tenants.json', { tenants: { one: described } }),
    CPQ_AUTH: 'token,oauth,key',
    CPQ_OAUTH_ISSUER: provider.issuer,
    CPQ_PUBLIC_URL: audience,
    CPQ_KEY_BASE_URLS: upstream.url,
    CPQ_ALLOW_PRIVATE: '1',
    CPQ_LOG_LEVEL: 'debug',
  });
  const jwt = await provider.token(audience);
  const others = await Promise.all([
    provider.token('https://other.example.com'),
    provider.token(audience, { claims: { exp: 1 } }),
    provider.token(audience, { claims: { scope: '' } }),
    provider.token(audience, { claims: { tenant: 'other' } }),
    provider.token(audience, { key: await newKey('ES256', 'first') }),
  ]);
  const spoilt = `${good.slice(0, -4)}AAAA`;
  const credentials: Headers[] = [
    ...[good, spoilt, jwt, ...others].map(bearer),
    { authorization: `Basic ${Buffer.from(`me:${good}`).toString('base64')}` },
    { 'api-key': own.key },
    { 'api-key': wrong.key },
    { 'api-key': own.key, 'cpq-base-url': `https://${wrong.key}` },
    { 'api-key': own.key, 'cpq-base-url': 'https://example.com' },
    { ...bearer(good), 'x-request-id': good },
    { 'api-key': plainKey, 'x-request-id': plainKey },
    { ...bearer(good), traceparent: good, tracestate: good },
  ];
  const statuses = new Set<number>();
  for (const fails of [false, true]) {
    // The service and the provider fail, so that every call fails too.
    if (fails) upstream.set({ status: { code: 500, message: `${own.key} ${operators.key}` } });
    if (fails) provider.instead = (_, response) => Boolean(response.socket?.destroy());
    for (const headers of credentials) {
      const body = callToolRequest('cpq_get_record', { resource: 'company', id: 'none' });
      statuses.add((await send(team, { headers, body })).status);
      await send(team, { headers, path: `/mcp?access_token=${good}`, body: { broken: true } });
    }
  }
  expect([...statuses].sort()).toEqual([200, 401, 403]);
  await team.running.stop();
  const { output } = team.running;
  for (const canary of [own, wrong, operators, hook]) {
    expect(canary.findInOutput(output)).toEqual([]);
    expect(await canary.findInFolder(state)).toEqual([]);
  }
  for (const token of [good, spoilt, jwt, plainKey, ...others].flatMap(partsOf)) {
    // Not `toContain`, whose failure would print all output.
    expect(output.everything.includes(token)).toBe(false);
  }
});

test('a password of Redis is a secret as it is written and as it is sent, until it is closed', async () => {
  const env = { CPQ_REDIS_URL: 'redis://:canary%40of%40redis@127.0.0.1:9' };
  const { state } = await openCommon(readSettings([], env), createLog('silent'));
  const texts = ['canary%40of%40redis', 'canary@of@redis'];
  const shown = () => texts.map((text) => withoutSecrets(text));
  expect(shown()).toEqual(['[key]', '[key]']);
  await state.close();
  expect(shown()).toEqual(texts);
});
