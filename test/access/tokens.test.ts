import {
  appendFile,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  accessTokenStrategy,
  createToken,
  type NewToken,
} from '../../src/hosts/access/access-tokens.ts';
import type { ServedTenant } from '../../src/hosts/access/gate.ts';
import {
  bearer,
  callerAt,
  callToolRequest,
  fileIn,
  newToken,
  send,
  startWithTokens,
  token,
} from '../support/access.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import type { Caller } from '../support/hosts.ts';
import { requestsTo } from '../support/sandbox.ts';
import { newFolder, shared } from '../support/shared.ts';
import { until } from '../support/until.ts';

const { sandbox, address } = embeddedTenant({ scale: 0.1 });

/** A server of the tenant, and a token with the grant `read`. */
async function startTeam() {
  const team = await startWithTokens(await address());
  return { ...team, good: await team.add('good') };
}

const server = shared(startTeam);
const rows = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'tokens.json'), 'utf8')).tokens as Record<
    string,
    unknown
  >[];

describe('a token for some tools', () => {
  test('limits a token to the tools that it names', async () => {
    const it = await server();
    const tools = 'cpq_find,cpq_upsert_opportunity';
    const grants = 'read,opportunity:write';
    const made = await it.add('two-tools', '--tools', tools, '--grants', grants);
    const listed = await token(['list'], it.env);
    expect(listed.stdout).toMatch(/two-tools +read,opp.+ +cpq_find,cpq_upsert_opportunity/);
    const caller = await callerAt(it, bearer(made));
    expect(await caller.names()).toEqual(['cpq_find']);
    await expect(caller.ask('cpq_list_companies')).rejects.toThrow('Unknown tool');
    const request = { headers: bearer(made), body: callToolRequest('cpq_list_companies') };
    expect((await send(it, request)).text).toContain('Unknown tool');
    const other = await callerAt(it, bearer(it.good));
    expect(await other.names()).toContain('cpq_list_companies');
  });

  test('may leave tools out', async () => {
    const it = await server();
    const caller = await callerAt(it, bearer(await it.add('others', '--tools=-cpq_find')));
    const names = await caller.names();
    expect(names).toContain('cpq_list_companies');
    expect(names).not.toContain('cpq_find');
    const { stderr } = await token(['renew', 'others'], it.env);
    expect(stderr).toContain('grants read, with all tools but cpq_find. Expires');
  });
});

/** What a caller is served besides tools, by kind; a refusal is the text of its error. */
async function servedBesideTools({ client }: Caller, id: string, company: string) {
  const argument = { name: 'company', value: company.slice(0, 3) };
  const ask = (method: string, params?: Record<string, unknown>): Promise<unknown> =>
    client.request(method, params).catch((error: Error) => error.message);
  return {
    templates: await ask('resources/templates/list'),
    resource: await ask('resources/read', { uri: `cpq://company/${id}` }),
    file: await ask('resources/read', { uri: 'cpq://export/cpq_list_companies?size=2' }),
    prompts: await ask('prompts/list'),
    prompt: await ask('prompts/get', { name: 'brief-company', arguments: { company } }),
    completedId: await ask('completion/complete', {
      ref: { type: 'ref/resource', uri: 'cpq://company/{id}' },
      argument: { ...argument, name: 'id' },
    }),
    completed: await ask('completion/complete', {
      ref: { type: 'ref/prompt', name: 'brief-company' },
      argument,
    }),
  };
}

test('a token for some tools is served nothing besides them', async () => {
  const it = await server();
  const good = await callerAt(it, bearer(it.good));
  const { records } = await good.ask('cpq_list_companies', { size: 1 });
  const [id, company] = [String(records[0]?.id), String(records[0]?.name)];
  const all = await servedBesideTools(good, id, company);
  expect(JSON.stringify(all.templates)).toContain('cpq://company/{id}');
  expect(JSON.stringify(all.resource)).toContain(company);
  expect(JSON.stringify(all.file)).toContain('name');
  for (const answer of [all.completedId, all.completed])
    expect(JSON.stringify(answer)).not.toContain('"values":[]');
  expect(JSON.stringify(all.prompts)).toContain('brief-company');
  const made = await it.add('one-tool', '--tools', 'cpq_price_product');
  const few = await servedBesideTools(await callerAt(it, bearer(made)), id, company);
  expect(JSON.stringify(few.templates)).not.toContain('company/');
  expect(few.resource).toMatch(/no resource at this address/);
  expect(few.file).toMatch(/No rows to export/);
  expect(few.prompts).toMatchObject({ prompts: [] });
  expect(few.prompt).toMatch(/Unknown prompt/);
  for (const answer of [few.completed, few.completedId])
    expect(answer).toMatchObject({ completion: { values: [] } });
});

describe('the token command', () => {
  test('shows a token once, and stores only its hash', async () => {
    const folder = newFolder();
    const env = { CPQ_STATE_DIR: folder };
    const made = await newToken(['anna', '--grants', 'company:read,contact:read'], env);
    expect(made).toMatch(/^cpq_[0-9a-f]{12}_[\w-]{43}$/);
    const secret = made.slice(-43);
    for (const name of await readdir(folder)) {
      expect(await readFile(join(folder, name), 'utf8')).not.toContain(secret);
    }
    const { mode } = await stat(join(folder, 'tokens.json'));
    expect((mode & 0o777).toString(8)).toBe('600');
    const listed = await token(['list'], env);
    expect(listed.stdout).toMatch(/anna +company:read,contact:read/);
    const json = await token(['list', '--json'], env);
    expect(JSON.parse(json.stdout)).toMatchObject([{ name: 'anna', expired: false }]);
    const [{ hash, id } = {}] = await rows(folder);
    for (const hidden of [secret, String(hash), String(id)]) {
      expect(listed.stdout + listed.stderr + json.stdout + json.stderr).not.toContain(hidden);
    }
    expect((await token(['revoke', 'anna'], env)).status).toBe(0);
    expect(await rows(folder)).toEqual([]);
  });

  test('restricts a world-readable file to its owner, also by a link to it', async () => {
    const folder = newFolder();
    const path = join(folder, 'tokens.json');
    await writeFile(path, '{"version":1,"tokens":[]}', { mode: 0o644 });
    await symlink(path, join(folder, 'link'));
    await newToken(['anna'], { CPQ_TOKENS_FILE: join(folder, 'link') });
    expect(((await stat(path)).mode & 0o777).toString(8)).toBe('600');
  });

  test('takes over the lock that a killed process left', async () => {
    const folder = newFolder();
    const lock = join(folder, 'tokens.json.lock');
    await writeFile(lock, '');
    await utimes(lock, new Date(), new Date(Date.now() - 11_000));
    expect((await token(['add', 'anna'], { CPQ_STATE_DIR: folder })).status).toBe(0);
    expect(await readdir(folder)).toEqual(['tokens.json']);
  });

  test('loses no token when several are made at once', async () => {
    const folder = newFolder();
    const env = { CPQ_STATE_DIR: folder };
    const names = Array.from({ length: 8 }, (_, at) => `caller-${at}`);
    const made = await Promise.all(names.map((name) => newToken([name], env)));
    expect(new Set(made).size).toBe(8);
    expect((await rows(folder)).map(({ name }) => name).sort()).toEqual(names);
    expect(await readdir(folder)).toEqual(['tokens.json']);
  });

  test.each([
    [['add'], 'Use: cpq-mcp token'],
    [['renew', 'nobody'], 'There is no token'],
    [['renew', 'anna', '--grants', 'read'], 'leave --grants, --tools and --tenant out'],
    [['add', 'a b'], 'A name may contain'],
    [['add', 'anna', '--tools', 'cpq_finds'], '--tools: unknown: cpq_finds. Nearest: cpq_find'],
    [['add', 'anna', '--tools', 'cpq_upsert_opportunity'], '--grants read allows none of these'],
    [['add', 'anna', '--tenant', 'acme'], '--tenant: set CPQ_TENANTS_FILE'],
    [['add', 'anna', '--tools', ','], '--tools: is empty'],
    [['add', '../../etc'], 'A name may contain'],
    [['add', 'a', 'b'], 'Use: cpq-mcp token'],
    [['add', 'a', '--grants', 'everything'], 'unknown: everything. Granted permissions: read'],
    [['add', 'a', '--grants', ''], 'is empty'],
    [['add', 'a', '--days', '0'], '--days'],
    [['add', 'a', '--days', '1e9'], '--days'],
    [['add', 'a', '--days', '-1'], '--days'],
    [['add', 'a', '--forever'], 'Unknown option'],
    [['revoke', 'nobody'], 'There is no token'],
    [['constructor'], 'Use: cpq-mcp token'],
    [[], 'Use: cpq-mcp token'],
  ])('refuses %j', async (words, message) => {
    const folder = newFolder();
    const { status, stdout, stderr } = await token(words, { CPQ_STATE_DIR: folder });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('does not change a file that it cannot read', async () => {
    const folder = newFolder();
    const path = join(folder, 'tokens.json');
    await writeFile(path, 'not mine');
    const { status, stderr } = await token(['add', 'anna'], { CPQ_STATE_DIR: folder });
    expect(status).toBe(1);
    expect(stderr).toContain('not a token file');
    expect(await readFile(path, 'utf8')).toBe('not mine');
    expect(await readdir(folder)).toEqual(['tokens.json']);
  });
});

const verbs = ['add', 'renew', 'list', 'revoke'] as const;
test.each([
  ['live', 1, [2, 0, 0, 0]],
  ['expired', -1, [0, 0, 0, 0]],
  ['unknown', 0, [0, 2, 0, 2]],
] as const)(
  'the commands take or refuse the name of a token that is %s',
  async (_, days, statuses) => {
    const { stored } = createToken({ name: 'anna', grants: ['read'], days } as NewToken);
    for (const [at, verb] of verbs.entries()) {
      const folder = newFolder();
      await fileIn(folder, 'tokens.json', { tokens: days === 0 ? [] : [stored] });
      const words = verb === 'list' ? [verb] : [verb, 'anna'];
      const { status: found, stdout } = await token(words, { CPQ_STATE_DIR: folder });
      expect([verb, found]).toEqual([verb, statuses[at]]);
      if (verb === 'list') expect(stdout.includes('(expired)')).toBe(days === -1);
      const left = (await rows(folder)).filter(({ hash }) => hash === stored.hash);
      expect(left.length === 0).toBe(
        days === 0 || verb === 'revoke' || (verb === 'add' && days < 0),
      );
    }
  },
);

test('many tokens are renewed while the old ones still work', async () => {
  const { folder, env, add, ...team } = await startWithTokens(await address());
  const short = await add('anna', '--tools', 'cpq_find', '--days', '10');
  const long = await add('ben');
  expect((await send(team, { headers: bearer(short) })).status).toBe(200);
  const renewed = [];
  for (const name of ['anna', 'ben'])
    renewed.push((await token(['renew', name], env)).stdout.trim());
  for (const one of renewed) team.running.output.guard(one);
  for (const one of [short, long, ...renewed])
    await until(async () => (await send(team, { headers: bearer(one) })).status).toBe(200);
  expect(await rows(folder)).toMatchObject([
    { name: 'anna', tools: ['cpq_find'] },
    { name: 'ben' },
    { name: 'anna', tools: ['cpq_find'] },
    { name: 'ben' },
  ]);
  const days = (await rows(folder)).map(({ expires }) =>
    Math.round((Date.parse(String(expires)) - Date.now()) / 86_400_000),
  );
  expect(days).toEqual([10, 14, 90, 90]);
  await token(['revoke', 'anna'], env);
  expect(await rows(folder)).toHaveLength(2);
});

describe('a caller', () => {
  test.each(['modern', 'legacy', 'first line'] as const)(
    'with a token is served, %s',
    async (era) => {
      const { good, ...team } = await server();
      const { names, ask, close } = await callerAt(team, bearer(good), { era });
      expect(await names()).toContain('cpq_list_companies');
      expect((await ask('cpq_list_companies', { size: 2 })).records).toHaveLength(2);
      await close();
    },
  );

  test('that sends a batch is refused as a whole', async () => {
    const { good, ...team } = await server();
    const call = callToolRequest('cpq_list_companies', { size: 1 });
    const before = requestsTo(await sandbox()).length;
    const reply = await send(team, { headers: bearer(good), body: [call, { ...call, id: 2 }] });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('one by one')]);
    expect(requestsTo(await sandbox())).toHaveLength(before);
  });
});

/** Invalid tokens; `credentials.txt` has those of others. */
const spoilt: Record<string, (good: string) => string> = {
  truncated: (good) => good.slice(0, -1),
  'longer by one character': (good) => `${good}A`,
  'with padding': (good) => `${good}=`,
  'in another letter case': (good) => good.toUpperCase(),
  'in another letter case in one letter': (good) =>
    good.replace(/[a-zA-Z](?=[^a-zA-Z]*$)/, (it) =>
      it === it.toLowerCase() ? it.toUpperCase() : it.toLowerCase(),
    ),
  'without its id': (good) => `cpq__${good.slice(-43)}`,
  'with the id `constructor`': (good) => `cpq_constructor0_${good.slice(-43)}`,
  'the id alone': (good) => good.slice(0, 17),
  'the prefix alone': () => 'cpq_',
};

describe('a token', () => {
  test.each(Object.entries(spoilt))('that is %s is refused', async (_, spoil) => {
    const { good, ...team } = await spoiling();
    const shown = spoil(good);
    expect(shown).not.toBe(good);
    const reply = await send(team, { headers: bearer(shown) });
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toContain('Bearer');
    expect(reply.text).not.toContain('cpq_');
  });

  test('that has expired is refused with this reason', async () => {
    const { add, folder, ...team } = await spoiling();
    const made = await add('expiring');
    const path = join(folder, 'tokens.json');
    const kept = { tokens: await rows(folder) };
    for (const row of kept.tokens) {
      if (row.name === 'expiring') row.expires = new Date(Date.now() - 1).toISOString();
    }
    await writeFile(path, JSON.stringify(kept));
    await until(async () => (await send(team, { headers: bearer(made) })).text).toContain(
      'has expired',
    );
    const reply = await send(team, { headers: bearer(made) });
    expect(reply.headers['www-authenticate']).toContain('error="invalid_token"');
    // It is no guess, however often a program repeats it.
    for (let at = 0; at < 31; at++)
      expect((await send(team, { headers: bearer(made) })).status).toBe(401);
    expect((await send(team, { headers: bearer(made.replace(/.$/, '-')) })).text).not.toContain(
      'expiring',
    );
  });

  test('that is made or revoked while the server runs is soon accepted or refused', async () => {
    const { add, env, ...team } = await server();
    const made = await add('passing');
    const statusOf = async () => (await send(team, { headers: bearer(made) })).status;
    await until(statusOf).toBe(200);
    await token(['revoke', 'passing'], env);
    await until(statusOf).toBe(401);
  });

  test('stays valid while the file is malformed, and ends when the file is removed', async () => {
    const team = await startTeam();
    const { folder, good } = team;
    const path = join(folder, 'tokens.json');
    const whole = await readFile(path, 'utf8');
    const status = async () => (await send(team, { headers: bearer(good) })).status;
    expect(await status()).toBe(200);
    await appendFile(path, 'broken');
    await until(async () => {
      await status();
      return team.stderr();
    }).toContain('tokens not reloaded');
    const before = Date.now();
    await until(async () => [await status(), Date.now() - before > 2_200]).toEqual([200, true]);
    expect(team.stderr().match(/tokens not reloaded/g)).toHaveLength(1);
    await writeFile(path, whole.replace('"good"', '"renamed"'));
    await until(status).toBe(200);
    await rm(path);
    await until(status).toBe(401);
  });
});

/** A server that gets many wrong tokens. */
const spoiling = shared(startTeam);

describe('a file of tokens', () => {
  const inPlace = async (path: string, content: string) => {
    await writeFile(path, content);
    const later = new Date(Date.now() + 1_000);
    await utimes(path, later, later);
  };
  const replaced = async (path: string, content: string) => {
    await writeFile(`${path}.new`, content);
    // As restored from a backup, or copied with its times.
    const { atime, mtime } = await stat(path);
    await utimes(`${path}.new`, atime, mtime);
    await rename(`${path}.new`, path);
  };
  test.each([
    ['of the same length', inPlace],
    ['of the same length and time', replaced],
  ])('is read again where there is one %s', async (_, write) => {
    const path = join(newFolder(), 'tokens.json');
    const made = ['one', 'two'].map((name) =>
      createToken({ name, tenant: undefined, tools: undefined, grants: ['read'], days: 1 }),
    );
    const [first = '', second = ''] = made.map(({ stored }) =>
      JSON.stringify({ tokens: [stored] }),
    );
    await writeFile(path, first);
    const tenants = { find: () => ({}) as ServedTenant };
    const { authenticate } = await accessTokenStrategy({ path, tenants, onError: () => {} });
    const callers = async () => {
      const asked = made.map(({ token }) =>
        authenticate({ headers: bearer(token), headersDistinct: {} } as IncomingMessage, ''),
      );
      return (await Promise.allSettled(asked)).map(({ status }) => status);
    };
    expect(await callers()).toEqual(['fulfilled', 'rejected']);
    await write(path, second);
    expect(await callers()).toEqual(['rejected', 'fulfilled']);
  });

  const secret = 'text-that-must-not-be-shown-0123456789';
  const row = {
    id: 'a',
    name: 'a',
    hash: 'f'.repeat(64),
    grants: ['read'],
    created: '2026-01-01T00:00:00Z',
    expires: '2030-01-01T00:00:00Z',
  };
  test.each<[string, unknown]>([
    ['not JSON', `{"tokens": [${secret}`],
    ['null', null],
    ['a list', []],
    ['without tokens', { version: 1 }],
    ['with an invalid token', { tokens: [secret] }],
    ['with an invalid hash', { tokens: [{ ...row, hash: secret }] }],
    ['without an expiry', { tokens: [{ ...row, expires: undefined }] }],
    ['with an invalid expiry', { tokens: [{ ...row, expires: 'never' }] }],
    ['with an unknown grant', { tokens: [{ ...row, grants: ['everything'] }] }],
    ['without grants', { tokens: [{ ...row, grants: undefined }] }],
  ])('that is %s is refused', async (_, content) => {
    const path = await fileIn(newFolder(), 'tokens.json', content);
    const tenants = { find: () => undefined };
    const reading = accessTokenStrategy({ path, tenants, onError: () => {} });
    await expect(reading).rejects.toThrow(`${path} is not a token file`);
    await expect(reading).rejects.not.toThrow(secret);
  });
});
