import { expect, test } from 'vitest';
import { bearer, callerAt, callToolRequest, newToken, send, startTeam } from '../support/access.ts';
import { anyHost } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { newFolder, shared } from '../support/shared.ts';

/** Fewer tools than a caller may use: by the rights of a token, and by the settings that take tools out. */

const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const env = { CPQ_STATE_DIR: newFolder() };

const team = shared(async () => {
  const { baseUrl, key } = addressIn(await sandbox());
  const address = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_AUTH: 'token' };
  const one = await newToken(['one', '--tools', 'cpq_find'], env);
  const others = await newToken(['others', '--tools=-cpq_find'], env);
  const started = await startTeam({ ...address, ...env }, [one, others]);
  return { ...started, tokens: { one, others } };
});

const namesWith = async (token: 'one' | 'others'): Promise<string[]> =>
  (await callerAt(await team(), bearer((await team()).tokens[token]))).names();

test('a token can leave tools out', async () => {
  const names = await namesWith('others');
  expect(names).toContain('cpq_list_companies');
  expect(names).not.toContain('cpq_find');
});

test('a token for one tool has no other', async () => {
  expect(await namesWith('one')).toEqual(['cpq_find']);
  const it = await team();
  const headers = bearer(it.tokens.one);
  const { text } = await send(it, { headers, body: callToolRequest('cpq_list_companies', {}) });
  expect(text).toContain('Unknown tool');
  const caller = await callerAt(it, headers);
  await expect(caller.ask('cpq_list_companies', {})).rejects.toThrow('Unknown tool');
});

test.each([
  [{ CPQ_TOOLS: '-cpq_find' }, ['cpq_find']],
  [{ CPQ_TOOLSETS: 'briefs', CPQ_TOOLS: '-cpq_find,cpq_list_quotes' }, ['cpq_find']],
  [{ CPQ_GRANTS: 'read' }, ['cpq_upsert_opportunity', 'cpq_revert_change']],
])('the settings %j take out %j', async (settings, missing) => {
  const connection = await anyHost.start(addressIn(await sandbox()), { env: settings });
  const names = (await connection.tools()).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['cpq_brief_pipeline', 'cpq_list_quotes']));
  for (const name of missing) expect(names).not.toContain(name);
});
