import { describe, expect, test } from 'vitest';
import {
  bearer,
  callerAt,
  callToolRequest,
  type Headers,
  newToken,
  send,
  startTeam,
} from '../support/access.ts';
import { anyHost } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { newFolder, shared } from '../support/shared.ts';

/** Fewer tools than a caller may use: by headers of a request, and by the settings that take tools out. */

const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const env = { CPQ_STATE_DIR: newFolder() };

const team = shared(async () => {
  const { baseUrl, key } = addressIn(await sandbox());
  const address = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_AUTH: 'token' };
  const all = await newToken(['all', '--grants', 'read,opportunity:write'], env);
  const one = await newToken(['one', '--tools', 'cpq_find'], env);
  const others = await newToken(['others', '--tools=-cpq_find'], env);
  const grants = { CPQ_GRANTS: 'read,opportunity:write' };
  const started = await startTeam({ ...address, ...env, ...grants }, [all, one, others]);
  return { ...started, tokens: { all, one, others } };
});

async function namesWith(token: 'all' | 'one' | 'others', headers: Headers): Promise<string[]> {
  const it = await team();
  return (await callerAt(it, { ...bearer(it.tokens[token]), ...headers })).names();
}

describe('headers of a request', () => {
  test('bar writes', async () => {
    const whole = await namesWith('all', {});
    expect(whole).toContain('cpq_upsert_opportunity');
    const writing = ['cpq_upsert_opportunity', 'cpq_list_changes', 'cpq_revert_change'];
    expect(await namesWith('all', { 'x-cpq-read-only': 'true' })).toEqual(
      whole.filter((name) => !writing.includes(name)),
    );
    expect(await namesWith('all', { 'x-cpq-read-only': 'false' })).toEqual(whole);
  });

  test('name the only tools, or those to leave out', async () => {
    const whole = await namesWith('all', {});
    const two = 'cpq_find, cpq_get_record';
    expect((await namesWith('all', { 'x-cpq-tools': two })).sort()).toEqual(two.split(', '));
    expect(await namesWith('all', { 'x-cpq-tools': '-cpq_find,-cpq_list_quotes' })).toEqual(
      whole.filter((name) => name !== 'cpq_find' && name !== 'cpq_list_quotes'),
    );
  });

  test.each([
    ['cpq_find', 'cpq_list_companies'],
    ['cpq_list_companies', '-cpq_list_companies'],
    ['cpq_upsert_opportunity', 'cpq_find'],
  ])('refuse a call of %s with %s', async (name, tools) => {
    const it = await team();
    const headers = { ...bearer(it.tokens.all), 'x-cpq-tools': tools };
    const args = name === 'cpq_find' ? { query: 'phone' } : {};
    const { text } = await send(it, { headers, body: callToolRequest(name, args) });
    expect(text).toContain('Unknown tool');
    const caller = await callerAt(it, headers);
    await expect(caller.ask(name, args)).rejects.toThrow('Unknown tool');
  });

  test('never give more than the token has', async () => {
    expect(await namesWith('one', { 'x-cpq-tools': 'cpq_list_companies' })).toEqual([]);
    expect(await namesWith('one', { 'x-cpq-tools': '-cpq_list_companies' })).toEqual(['cpq_find']);
    const wide = { 'x-cpq-read-only': '0', 'x-cpq-tools': 'cpq_find,cpq_upsert_opportunity' };
    expect(await namesWith('one', wide)).toEqual(['cpq_find']);
  });

  test.each([
    ['cpq_finnd', 'unknown: cpq_finnd. Nearest: cpq_find'],
    [' ', 'is empty'],
    [`cpq_find${','.repeat(2_000)}`, 'is too long'],
  ])('are refused where they name no tool: %.20s', async (tools, message) => {
    const it = await team();
    const headers = { ...bearer(it.tokens.all), 'x-cpq-tools': tools };
    const { status, text } = await send(it, { headers });
    expect([status, text]).toEqual([400, expect.stringContaining(message)]);
  });
});

test('a token can leave tools out', async () => {
  const names = await namesWith('others', {});
  expect(names).toContain('cpq_list_companies');
  expect(names).not.toContain('cpq_find');
});

test.each([
  [{ CPQ_TOOLS: '-cpq_find' }, ['cpq_find']],
  [{ CPQ_TOOLSETS: 'briefs', CPQ_TOOLS: '-cpq_find,cpq_list_quotes' }, ['cpq_find']],
  [
    { CPQ_GRANTS: 'read,opportunity:write', CPQ_READ_ONLY: '1' },
    ['cpq_upsert_opportunity', 'cpq_revert_change'],
  ],
  [{ CPQ_ALLOW_WRITES: '1', CPQ_READ_ONLY: '1' }, ['cpq_upsert_opportunity']],
])('the settings %j take out %j', async (settings, missing) => {
  const connection = await anyHost.start(addressIn(await sandbox()), { env: settings });
  const names = (await connection.tools()).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['cpq_brief_pipeline', 'cpq_list_quotes']));
  for (const name of missing) expect(names).not.toContain(name);
});
