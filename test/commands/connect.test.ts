import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { runHere as run } from '../support/process.ts';
import { startSandbox } from '../support/sandbox.ts';
import { newFolder } from '../support/shared.ts';

const { sandbox, address } = embeddedTenant();
let home: string;
beforeEach(async () => {
  home = newFolder();
});

async function connect(host: string, lines: readonly string[], ...flags: string[]) {
  // An empty variable is none.
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'config'), PATH: home, CPQ_GRANTS: '' };
  return run(['connect', host, ...flags], env, `${lines.join('\n')}\n`);
}

const hostFile = () => join(home, '.cursor', 'mcp.json');

/** The variables of the entry of Cursor. */
const variables = async (): Promise<Record<string, string>> =>
  JSON.parse(await readFile(hostFile(), 'utf8')).mcpServers['cpq-mcp'].env;

test('asks for address and key, checks them, and installs the entry with a file for the key', async () => {
  const { baseUrl, key } = await address();
  const { status, stdout, stderr } = await connect('cursor', [baseUrl, key]);
  expect([status, stdout]).toEqual([0, expect.stringContaining('Added cpq-mcp')]);
  expect(stderr).not.toContain(key);
  const keys = join(home, 'config', 'cpq-mcp');
  const [name = ''] = await readdir(keys);
  const file = join(keys, name);
  expect(await readFile(file, 'utf8')).toBe(`${key}\n`);
  const modes = [await stat(keys), await stat(file)].map(({ mode }) => mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
  expect(await readFile(hostFile(), 'utf8')).not.toContain(key);
  const env = await variables();
  expect(env).toEqual({ CPQ_BASE_URL: baseUrl, CPQ_API_KEY_FILE: file });
  expect(await run(['doctor'], env)).toMatchObject({ status: 0 });
});

test.each([
  ['127.0.0.1:9', 'https://127.0.0.1:9/'],
  ['http://127.0.0.1:9/t/acme/public-api/company?size=1', 'http://127.0.0.1:9/t/acme'],
])('takes the address as a person copies it: %s', async (typed, address) => {
  const { status, stderr } = await connect('cursor', [typed, 'SomeKey0123456789']);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`, ${address}\n`)]);
});

test('prints the entry of a host whose own command is not there', async () => {
  const { baseUrl, key } = await address();
  const { status, stdout, stderr } = await connect('claude-code', [key], '--base-url', baseUrl);
  expect(status).toBe(0);
  expect(stderr).toContain('claude mcp add --scope user cpq-mcp');
  expect(stdout + stderr).not.toContain(key);
});

test('replaces the entry of a host whose own command adds no second one', async () => {
  // As Claude Code: an entry of a name that is there is refused.
  const lines = [
    '#!/bin/sh',
    'case "$2" in',
    '  add) [ ! -e "$HOME/added" ] && echo "$*" > "$HOME/added" ;;',
    '  remove) [ "$*" = "mcp remove --scope user cpq-mcp" ] && /bin/rm "$HOME/added" ;;',
    'esac',
  ];
  await writeFile(join(home, 'claude'), lines.join('\n'), { mode: 0o755 });
  for (const { baseUrl, keys } of (await sandbox()).tenants) {
    expect(await connect('claude-code', [baseUrl, keys.read])).toMatchObject({
      status: 0,
      stdout: 'Check it with /mcp in a new session.\n',
    });
    expect(await readFile(join(home, 'added'), 'utf8')).toContain(`CPQ_BASE_URL=${baseUrl} `);
  }
});

test('connects to another tenant in place of the first, and keeps the previous file', async () => {
  const { tenants } = await sandbox();
  expect(tenants).toHaveLength(2);
  for (const { baseUrl, keys } of tenants) {
    expect(await connect('cursor', [baseUrl, keys.read])).toMatchObject({ status: 0 });
    expect(await variables()).toMatchObject({ CPQ_BASE_URL: baseUrl });
  }
  const files = await readdir(join(home, '.cursor'));
  expect(files.filter((name) => name.endsWith('.bak'))).toHaveLength(1);
});

test('grants what a key may read, if that is less than everything', async () => {
  const { baseUrl, key } = await address('limited');
  const { status, stderr } = await connect('cursor', [baseUrl, key]);
  const grants = 'company:read,contact:read,opportunity:read';
  expect([status, stderr]).toEqual([0, expect.stringContaining(`work, for ${grants}.`)]);
  expect(await variables()).toMatchObject({ CPQ_GRANTS: grants });
  const given = await connect('zed', [baseUrl, key], '--grants', 'read');
  expect([given.status, given.stderr]).toEqual([1, expect.stringContaining('Nothing was stored')]);
});

test('keeps the keys of tenants apart that share a host, whatever file names can have', async () => {
  const { tenants } = await startSandbox({ tenants: ['acme:eu', 'acme_eu'], scale: 0.1 });
  for (const { baseUrl, keys } of tenants)
    expect((await connect('claude-code', [baseUrl, keys.read])).status).toBe(0);
  const kept = join(home, 'config', 'cpq-mcp');
  const stored = (await readdir(kept)).map((name) => readFile(join(kept, name), 'utf8'));
  const expected = tenants.map(({ keys }) => `${keys.read}\n`);
  expect((await Promise.all(stored)).sort()).toEqual(expected.sort());
});

test('replaces address and key of an entry, and keeps its other variables', async () => {
  const answers = (await sandbox()).tenants.map(({ baseUrl, keys }) => [baseUrl, keys.read]);
  const [first = [], second = []] = answers;
  await connect('cursor', first);
  const before = JSON.parse(await readFile(hostFile(), 'utf8'));
  const mine = { CPQ_GRANTS: 'company:read', CPQ_ALLOWED_STAGES: 'Lead', CPQ_LOG_LEVEL: 'info' };
  Object.assign(before.mcpServers['cpq-mcp'].env, mine, { CPQ_API_KEY: 'a-key-of-before-012345' });
  await writeFile(hostFile(), JSON.stringify(before));
  const { stderr } = await connect('cursor', second);
  expect(stderr).toContain(`Kept from the previous entry: ${Object.keys(mine).join(', ')}.\n`);
  const own = { CPQ_BASE_URL: second[0], CPQ_API_KEY_FILE: expect.any(String) };
  expect(await variables()).toEqual({ ...mine, ...own });
  await connect('cursor', second, '--grants', 'contact:read');
  expect(await variables()).toMatchObject({ CPQ_GRANTS: 'contact:read' });
});

test('stores nothing of a key that does not work', async () => {
  const { baseUrl } = await address();
  const wrong = 'WrongKey0123456789';
  const { status, stdout, stderr } = await connect('cursor', [baseUrl, wrong]);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/FAIL +key +not accepted/);
  expect(stderr).not.toContain(wrong);
  expect(await readdir(home)).toEqual([]);
});

test.each([
  [[], 'CPQ_BASE_URL: is not a web address'],
  [['http://127.0.0.1:9'], 'No answer'],
  [['ftp://x'], 'CPQ_BASE_URL: is not a web address'],
  [['not an address', 'key'], 'CPQ_BASE_URL'],
])('refuses %j', async (lines, message) => {
  const { status, stderr } = await connect('cursor', lines);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('names the hosts where one is unknown', async () => {
  const { status, stderr } = await connect('claude', []);
  expect([status, stderr]).toEqual([2, expect.stringContaining('Known: claude-desktop, ')]);
});
