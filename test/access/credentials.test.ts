import { exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import { expect, test } from 'vitest';
import { newToken, type Reply, type Sent, send, startTeam, token } from '../support/access.ts';
import { newKey, startProvider } from '../support/identity-provider.ts';
import { closing, newFolder } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

// Every auth strategy, and several at once, with every kind of credential: credentials.txt has the answers, and which
// strategies give each. Where a credential is not in it, it is answered in the same way as none, the first lines.

const audience = 'https://mcp.example.com/mcp';
const key = 'key-of-a-caller-0123456789';
const strategies = ['none', 'token', 'oauth', 'key', 'token,oauth', 'token,key', 'oauth,key'];

const bearer = (credential: string) => ({ headers: { authorization: `Bearer ${credential}` } });
const keyed = (credential: string | string[]) => ({ headers: { 'api-key': credential } });
const both = (credential: string, other: string) => ({
  headers: { authorization: `Bearer ${credential}`, 'api-key': other },
});

async function tokensIn(folder: string) {
  const env = { CPQ_STATE_DIR: folder };
  const good = await newToken(['anna'], env);
  const few = await newToken(['few', '--grants', 'company:read'], env);
  const revoked = await newToken(['gone'], env);
  await token(['revoke', 'gone'], env);
  return { good, few, revoked };
}

/** What a caller may send, by name. */
async function credentials(folder: string, provider: Awaited<ReturnType<typeof startProvider>>) {
  const { good, few, revoked } = await tokensIn(folder);
  const jwt = (claims: Record<string, unknown> = {}) => provider.token(audience, { claims });
  const other = await newKey('ES256', 'first');
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: provider.issuer,
    aud: audience,
    sub: 'anna',
    scope: 'read',
    exp: now + 300,
  };
  const [{ publicKey } = other] = provider.keys;
  const bySecret = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'first' });
  const richer = JSON.stringify({ ...claims, scope: 'read opportunity:write' });
  const [head, , signature] = (await jwt()).split('.');
  const ownKey = { jwk: other.jwk, jku: `${provider.issuer}/elsewhere/keys` };
  return {
    nothing: {},
    'token: right': bearer(good),
    'token: of fewer grants': bearer(few),
    'token: revoked': bearer(revoked),
    'token: nobody’s': bearer(`${good.slice(0, -43)}${'A'.repeat(43)}`),
    'token: the id of another': bearer(few.slice(0, 17) + good.slice(17)),
    'token: scheme in small letters': { headers: { authorization: `bearer ${good}` } },
    'token: scheme in capitals, two blanks': { headers: { authorization: `BEARER  ${good}` } },
    'token: a blank behind it': { headers: { authorization: `Bearer ${good} ` } },
    'token: scheme alone': { headers: { authorization: 'Bearer' } },
    'token: no scheme': { headers: { authorization: good } },
    'token: another scheme': { headers: { authorization: `Basic ${good}` } },
    'token: empty': { headers: { authorization: 'Bearer ' } },
    'token: as a password': {
      headers: { authorization: `Basic ${Buffer.from(`anna:${good}`).toString('base64')}` },
    },
    'token: a name before it': bearer(`anna ${good}`),
    'token: in another header': {
      headers: { 'x-access-token': good, cookie: `access_token=${good}` },
    },
    'token: a wrong one, then it': { headers: { authorization: ['Bearer x', `Bearer ${good}`] } },
    'token: it, then a wrong one': { headers: { authorization: [`Bearer ${good}`, 'Bearer x'] } },
    'token: twice': { headers: { authorization: [`Bearer ${good}`, `Bearer ${good}`] } },
    'token: two in a header': bearer(`${good}, Bearer ${good}`),
    'token: as a key': keyed(good),
    'token: in the URL': { path: `/mcp?access_token=${good}` },
    'token: in the URL, as token': { path: `/mcp?token=${good}` },
    'token: in the URL, as authorization': { path: `/mcp?authorization=${good}` },
    'oauth: right': bearer(await jwt()),
    'oauth: of fewer scopes': bearer(await jwt({ scope: 'company:read' })),
    'oauth: no known scope': bearer(await jwt({ scope: 'openid' })),
    'oauth: expired': bearer(await jwt({ exp: now - 120 })),
    'oauth: not valid yet': bearer(await jwt({ nbf: now + 300 })),
    'oauth: another audience': bearer(await jwt({ aud: 'https://other.example.com/mcp' })),
    'oauth: another issuer': bearer(await jwt({ iss: 'https://login.example.com' })),
    'oauth: another key': bearer(await provider.token(audience, { key: other })),
    'oauth: a key that it brings': bearer(
      await provider.token(audience, { key: other, header: ownKey }),
    ),
    'oauth: the public key as a secret': bearer(
      await bySecret.sign(Buffer.from(await exportSPKI(publicKey))),
    ),
    'oauth: changed after it was signed': bearer(
      [head, Buffer.from(richer).toString('base64url'), signature].join('.'),
    ),
    'oauth: no signature': bearer(new UnsecuredJWT(claims).encode()),
    'key: right': keyed(key),
    'key: wrong': keyed('wrong-key-0123456789'),
    'key: empty': keyed(''),
    'key: with a blank': keyed('wrong key'),
    'key: with other letters': keyed('gööd'),
    'key: twice': keyed([key, key]),
    'key: as a token': bearer(key),
    'key: for another address': {
      headers: { 'api-key': key, 'cpq-base-url': 'https://elsewhere.example.com' },
    },
    'token and key: both right': both(good, key),
    'token and key: wrong token': both('cpq_nobody', key),
    'token and key: wrong key': both(good, 'wrong-key-0123456789'),
  } satisfies Record<string, Sent>;
}

/** The status with the number of tools, or with the challenge and the words. */
function described({ status, headers, body }: Reply): string {
  const { result, error } = body as { result?: { tools: unknown[] }; error?: unknown };
  if (result) return `${status} ${result.tools.length} tools`;
  const challenge = headers['www-authenticate'] ?? 'no challenge';
  const words = typeof error === 'string' ? error : (error as { message?: string })?.message;
  return `${status} ${challenge} ${words}`;
}

test('are answered as approved', async () => {
  const provider = await startProvider('ES256');
  const upstream = closing(await startUpstream({ keys: new Set([key, 'key-of-the-operator-01']) }));
  const folder = newFolder();
  const sent = await credentials(folder, provider);
  const common = {
    CPQ_BASE_URL: upstream.url,
    CPQ_API_KEY: 'key-of-the-operator-01',
    CPQ_STATE_DIR: folder,
  };
  const shared = {
    CPQ_OAUTH_ISSUER: provider.issuer,
    CPQ_PUBLIC_URL: audience,
    CPQ_KEY_BASE_URLS: upstream.url,
    CPQ_ALLOW_PRIVATE: '1',
    // Each request comes from another address, because wrong credentials are limited by address.
    CPQ_TRUSTED_PROXIES: '127.0.0.1',
  };
  /** Of each credential: its answers, with the strategies that give it. */
  const answers = new Map(
    Object.keys(sent).map((what) => [what, new Map<string, string[]>()] as const),
  );
  let senders = 0;
  for (const strategy of strategies) {
    const isOpen = strategy === 'none';
    const team = await startTeam({ ...common, ...(!isOpen && { ...shared, CPQ_AUTH: strategy }) });
    let asNothing = '';
    for (const [what, request] of Object.entries(sent)) {
      const from = { 'x-forwarded-for': `203.0.113.${senders++ % 250}` };
      const headers = { ...('headers' in request && request.headers), ...(!isOpen && from) };
      const answer = described(await send(team, { ...request, headers }));
      const given = answers.get(what);
      if (answer !== asNothing) given?.set(answer, [...(given.get(answer) ?? []), strategy]);
      if (what === 'nothing') asNothing = answer;
    }
  }
  // Nothing else is passed on to the service.
  const passed = new Set(upstream.requests.map(({ headers }) => headers['api-key']));
  expect([...passed].sort()).toEqual([key, 'wrong-key-0123456789']);
  expect(upstream.requests.filter(({ headers }) => headers.authorization)).toEqual([]);
  expect(provider.asked).not.toContain('/elsewhere/keys');
  const lines = [...answers].flatMap(([what, given]) =>
    [...given].map(([answer, by]) => `${what} [${by.join(' | ')}]: ${answer}\n`),
  );
  await expect(lines.join('')).toMatchFileSnapshot('credentials.txt');
});
