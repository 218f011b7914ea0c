import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, inject, test } from 'vitest';
import { type ConfigHost, hosts } from '../../src/commands/config/hosts.ts';
import { writeEntry } from '../../src/commands/config/write.ts';
import fc from '../support/fast-check.ts';
import type { Row } from '../support/hosts.ts';
import { runHere } from '../support/process.ts';
import { sample } from '../support/sampling.ts';
import { newFolder } from '../support/shared.ts';

const key = 'SecretKeyThatNobodyMaySee0123456789';
const baseUrl = 'https://tenant.example.com';
const names = Object.keys(hosts);
/** Those with a command of their own that adds an entry. */
const withCommand = ['claude-code', 'vscode', 'codex', 'gemini'];
const editedHosts = names.filter((name) => !withCommand.includes(name));
const editedForms = ['claude-desktop', 'cursor', 'windsurf', 'zed'];
const placeholder = 'YOUR_API_KEY';

const folder = newFolder();

const parsers: Record<ConfigHost['format'], (text: string) => unknown> = {
  json: (text) => JSON.parse(text),
  toml: (text) => parseToml(text),
};
const parse = (name: string, text: string): Row =>
  JSON.parse(JSON.stringify(parsers[hosts[name]?.format ?? 'json'](text)));

const serversIn = (name: string, document: Row): Row => document[hosts[name]?.root ?? ''] as Row;

/** The printed entry, parsed as the host would parse it. */
async function printed(name: string, ...words: string[]): Promise<Row> {
  const { stdout, status } = await runHere(['config', name, ...words], { CPQ_API_KEY: key });
  expect(status).toBe(0);
  return serversIn(name, parse(name, stdout))['cpq-mcp'] as Row;
}

/** Runs `config --write` on a file with this content. */
async function written(name: string, before: string | undefined, ...words: string[]) {
  const home = newFolder();
  const file = join(home, 'host.conf');
  if (before !== undefined) await writeFile(file, before);
  const finished = await runHere(['config', name, '--write', '--file', file, ...words]);
  const after = await readFile(file, 'utf8').catch(() => undefined);
  return { ...finished, home, file, after, left: await readdir(home) };
}

const bundle = realpathSync(inject('bundle'));
const where: Row = { command: process.execPath, args: [bundle] };
const settings = { CPQ_BASE_URL: baseUrl };
const withKey = (CPQ_API_KEY: string): Row => ({ ...where, env: { ...settings, CPQ_API_KEY } });

/** The entry for each host, with the key where that host keeps it. */
const stdioEntries: Record<string, Row> = {
  'claude-desktop': withKey(placeholder),
  'claude-code': { type: 'stdio', ...withKey(placeholder) },
  vscode: { type: 'stdio', ...withKey('$' + '{input:cpq-api-key}') },
  cursor: withKey('$' + '{env:CPQ_API_KEY}'),
  codex: { ...where, env: settings, env_vars: ['CPQ_API_KEY'] },
  gemini: withKey('$CPQ_API_KEY'),
  'lm-studio': withKey(placeholder),
  windsurf: withKey('$' + '{env:CPQ_API_KEY}'),
  zed: withKey(placeholder),
  cline: withKey(placeholder),
  'copilot-cli': { type: 'stdio', ...withKey('$' + '{CPQ_API_KEY}'), tools: ['*'] },
};

const url = 'http://127.0.0.1:3333/mcp';
const httpEntries: Record<string, Row> = {
  'claude-code': { type: 'http', url },
  vscode: { type: 'http', url },
  cursor: { url },
  codex: { url },
  gemini: { httpUrl: url },
  'lm-studio': { url },
  windsurf: { serverUrl: url },
  zed: { url },
  cline: { type: 'streamableHttp', url },
  'copilot-cli': { type: 'http', tools: ['*'], url },
};

const bearer = (token: string): Row => ({ headers: { Authorization: `Bearer ${token}` } });
/** The fields with which each host authenticates at a server with access tokens. */
const tokenParts: Record<string, Row> = {
  'claude-code': bearer('YOUR_ACCESS_TOKEN'),
  vscode: bearer('$' + '{input:cpq-access-token}'),
  cursor: bearer('$' + '{env:CPQ_ACCESS_TOKEN}'),
  codex: { bearer_token_env_var: 'CPQ_ACCESS_TOKEN' },
  gemini: bearer('$CPQ_ACCESS_TOKEN'),
  'lm-studio': bearer('YOUR_ACCESS_TOKEN'),
  windsurf: bearer('$' + '{env:CPQ_ACCESS_TOKEN}'),
  zed: bearer('YOUR_ACCESS_TOKEN'),
  cline: bearer('YOUR_ACCESS_TOKEN'),
  'copilot-cli': bearer('$' + '{CPQ_ACCESS_TOKEN}'),
};

describe('a printed configuration', () => {
  test.each(names)(
    '%s: has an entry that starts the server, without the key or a download by npm',
    async (name) => {
      const words = ['--base-url', baseUrl];
      const { stdout, stderr } = await runHere(['config', name, ...words], { CPQ_API_KEY: key });
      expect(serversIn(name, parse(name, stdout))['cpq-mcp']).toEqual(stdioEntries[name]);
      const shown = stdout + stderr;
      expect(shown).not.toContain('npx');
      expect(shown).not.toContain(key);
    },
  );

  test.each(Object.keys(httpEntries))('%s: has an entry for a running server', async (name) => {
    const open = await printed(name, '--http', 'http://127.0.0.1:3333');
    expect(open).toEqual(httpEntries[name]);
    const team = await printed(name, '--http', url, '--auth', 'token');
    expect(team).toEqual({ ...httpEntries[name], ...tokenParts[name] });
  });

  // In JSON, with questions of the host, and in TOML.
  test.each(['cursor', 'vscode', 'codex'])(
    '%s: asks for no key where none is needed',
    async (name) => {
      const embedded = await printed(name, '--sandbox');
      expect(embedded).toMatchObject({ ...where, args: [bundle, '--sandbox'] });
      // The whole path, since a host starts the server in another folder.
      const entry = await printed(name, '--base-url', baseUrl, '--api-key-file', 'own/key');
      const env = { ...settings, CPQ_API_KEY_FILE: resolve('own/key') };
      expect(entry).toMatchObject({ ...where, env });
      expect(embedded).not.toHaveProperty('env');
      expect(Object.keys(entry.env as Row)).toEqual(Object.keys(env));
      for (const it of [embedded, entry]) expect(it).not.toHaveProperty('env_vars');
    },
  );
});

test('takes no address, grants or key file from an empty variable', async () => {
  const empty = { CPQ_BASE_URL: '', CPQ_GRANTS: '', CPQ_API_KEY_FILE: '' };
  const { stdout } = await runHere(['config', 'cursor'], empty);
  expect(stdout).toBe((await runHere(['config', 'cursor'])).stdout);
});

describe('the configuration for a server of a team', () => {
  const team = 'https://mcp.example.com';
  const remote = `${team}/mcp`;

  test('has a token for other machines, unless callers sign in', async () => {
    const withToken = { url: remote, ...tokenParts.cursor };
    for (const more of [[], ['--base-url', baseUrl]]) {
      expect(await printed('cursor', '--http', team, ...more)).toEqual(withToken);
      const signingIn = await printed('cursor', '--http', team, '--auth', 'oauth', ...more);
      expect(signingIn).toEqual({ url: remote });
    }
  });

  test("has the caller's own key and address where the server asks for them", async () => {
    const words = ['--http', team, '--auth', 'key', '--base-url', baseUrl];
    expect(await printed('vscode', ...words)).toMatchObject({
      headers: { 'api-key': '$' + '{input:cpq-api-key}', 'cpq-base-url': baseUrl },
    });
    expect(await printed('gemini', ...words)).toEqual({
      httpUrl: remote,
      headers: { 'api-key': '$CPQ_API_KEY', 'cpq-base-url': baseUrl },
    });
    expect(await printed('codex', ...words)).toEqual({
      url: remote,
      env_http_headers: { 'api-key': 'CPQ_API_KEY' },
      http_headers: { 'cpq-base-url': baseUrl },
    });
  });

  test('starts a bridge for Claude Desktop, which sends no headers itself', async () => {
    const args = ['-y', 'mcp-remote@0.15.1', remote];
    expect(await printed('claude-desktop', '--http', team)).toEqual({
      command: 'npx',
      args: [...args, '--header', 'Authorization:$' + '{CPQ_LOGIN}'],
      env: { CPQ_LOGIN: 'Bearer YOUR_ACCESS_TOKEN' },
    });
    const signingIn = await printed('claude-desktop', '--http', team, '--auth', 'oauth');
    expect(signingIn).toEqual({ command: 'npx', args });
  });

  test('says what to do with the token', async () => {
    const saidFor = async (name: string) =>
      (await runHere(['config', name, '--http', team])).stderr;
    expect(await saidFor('zed')).toContain('Replace YOUR_ACCESS_TOKEN with your access token');
    expect(await saidFor('vscode')).toContain('asks for the access token');
    expect(await saidFor('codex')).toContain('with CPQ_ACCESS_TOKEN in its environment');
  });

  test('leaves a token that a person inserted', async () => {
    const { file, after = '' } = await written('zed', '{}', '--http', team);
    const filled = after.replace('YOUR_ACCESS_TOKEN', 'cpq_mine');
    await writeFile(file, filled);
    const again = await runHere(['config', 'zed', '--write', '--file', file, '--http', team]);
    expect(again.stderr).toContain('has another entry "cpq-mcp". It was not changed.');
    expect(again.stdout + again.stderr).not.toContain('cpq_mine');
    expect(await readFile(file, 'utf8')).toBe(filled);
  });
});

describe('the printed configuration of one host', () => {
  test.each([
    [[], 'cpq-api-key'],
    [['--http', 'https://mcp.example.com'], 'cpq-access-token'],
  ])('makes VS Code ask for the key or token once, hidden: %j', async (words, id) => {
    const { stdout } = await runHere(['config', 'vscode', ...words]);
    const { inputs, servers } = JSON.parse(stdout);
    expect(inputs).toMatchObject([{ id, type: 'promptString', password: true }]);
    expect(JSON.stringify(servers)).toContain(`\${input:${id}}`);
  });

  test('refers to the variable in the shared project file of Claude Code', async () => {
    const file = join(folder, '.mcp.json');
    const { stdout } = await runHere(['config', 'claude-code', '--file', file]);
    expect(JSON.parse(stdout).mcpServers['cpq-mcp'].env.CPQ_API_KEY).toBe('$' + '{CPQ_API_KEY}');
  });

  test('names the command that asks for the key, where one is to be filled in', async () => {
    const told = async (...words: string[]) =>
      (await runHere(['config', 'cursor', ...words])).stderr.includes('cpq-mcp connect');
    expect(await told('--base-url', baseUrl)).toBe(true);
    expect(await told('--sandbox')).toBe(false);
    expect(await told('--http', url)).toBe(false);
  });

  test('tells how it is written, where it can be', async () => {
    const told = async (host: string) => (await runHere(['config', host, '--sandbox'])).stderr;
    expect(await told('cursor')).toContain(', or run this command again with --write\n');
    expect(await told('vscode')).not.toContain('--write');
  });

  test('starts a server that a client can use', async () => {
    const { command, args } = await printed('cursor', '--sandbox');
    const client = new Client({ name: 'test', version: '1' });
    const env = { CPQ_STATE_DIR: folder };
    await client.connect(
      new StdioClientTransport({ command: String(command), args: args as string[], env }),
    );
    const { tools } = await client.listTools();
    const brief = await client.callTool({ name: 'cpq_brief_pipeline', arguments: {} });
    const told = client.getInstructions() ?? '';
    await client.close();
    expect(told).toMatch(/^This is a made-up tenant/);
    expect(tools.map((tool) => tool.name)).toContain('cpq_list_companies');
    expect(JSON.stringify(brief.content)).toContain('Made-up data of the embedded tenant.');
    expect(JSON.stringify(brief.structuredContent)).toContain('Made-up data');
  });
});

describe('the configuration of a host with a command that adds entries', () => {
  const start = `${process.execPath} ${bundle}`;
  const codeEntry = JSON.stringify({
    ...{ name: 'cpq-mcp', ...stdioEntries.vscode },
    inputs: [
      {
        ...{ type: 'promptString', id: 'cpq-api-key' },
        ...{ description: 'API key (Settings → Integrations → API Key)', password: true },
      },
    ],
  });
  const team = 'https://mcp.example.com/mcp';
  const codeTeam = JSON.stringify({
    ...{ name: 'cpq-mcp', type: 'http', url: team },
    headers: { Authorization: `Bearer \${input:cpq-access-token}` },
    inputs: [
      {
        ...{ type: 'promptString', id: 'cpq-access-token' },
        ...{ description: 'access token (cpq_…)', password: true },
      },
    ],
  });
  const settingsOf = (flag: string, ofKey = `CPQ_API_KEY=${placeholder}`) =>
    `${flag} CPQ_BASE_URL=${baseUrl} ${flag} ${ofKey}`;
  const commands: Record<string, [local: string, ofTeam: string]> = {
    'claude-code': [
      `claude mcp add --scope user cpq-mcp ${settingsOf('--env')} -- ${start}`,
      `claude mcp add --scope user --transport http cpq-mcp ${team} --header 'Authorization: Bearer YOUR_ACCESS_TOKEN'`,
    ],
    vscode: [`code --add-mcp '${codeEntry}'`, `code --add-mcp '${codeTeam}'`],
    codex: [
      `codex mcp add cpq-mcp ${settingsOf('--env')} -- ${start}`,
      `codex mcp add cpq-mcp --url ${team} --bearer-token-env-var CPQ_ACCESS_TOKEN`,
    ],
    gemini: [
      `gemini mcp add --scope user ${settingsOf('-e', "'CPQ_API_KEY=$CPQ_API_KEY'")} cpq-mcp ${process.execPath} -- ${bundle}`,
      `gemini mcp add --scope user --transport http --header 'Authorization: Bearer $CPQ_ACCESS_TOKEN' cpq-mcp ${team}`,
    ],
  };

  test.each(withCommand)('is added by it, and not written into its file: %s', async (name) => {
    const [local = '', ofTeam = ''] = commands[name] ?? [];
    const shown = await runHere(['config', name, '--base-url', baseUrl]);
    expect(shown.stderr).toContain(`Or run this command:\n  ${local}\n`);
    expect(shown.stderr).not.toContain('--write');
    expect(/replace YOUR/i.test(shown.stderr)).toBe(local.includes(placeholder));
    const refused = await written(name, '{}', '--base-url', baseUrl);
    expect([refused.status, refused.stdout, refused.left]).toEqual([2, '', ['host.conf']]);
    expect(refused.stderr).toContain(`of ${hosts[name]?.title}: run ${local}\n`);
    expect(refused.after).toBe('{}');
    expect((await runHere(['config', name, '--http', team])).stderr).toContain(`  ${ofTeam}\n`);
  });

  const odd = ['/keys/it\'s a "key" of $HOME', '/keys/a\\b'];
  test.skipIf(process.platform === 'win32').each(odd)(
    'is the same to a shell: %s',
    async (file) => {
      const env = { CPQ_API_KEY_FILE: file };
      const { stderr } = await runHere(['config', 'claude-code', '--base-url', baseUrl], env);
      const [, words = ''] = /^ {2}claude (.*)$/m.exec(stderr) ?? [];
      const shown = execFileSync('sh', ['-c', `printf '%s\\n' ${words}`], { encoding: 'utf8' });
      expect(shown.split('\n')).toContain(`CPQ_API_KEY_FILE=${file}`);
    },
  );

  test('is added by hand where the command cannot express it', async () => {
    const byHand = await written('codex', undefined, '--http', team, '--auth', 'key');
    expect([byHand.status, byHand.left]).toEqual([2, []]);
    expect(byHand.stderr).toContain('add the entry that is printed without it');
  });
});

describe('wrong use of config', () => {
  test.each([
    [[], 'Name one host'],
    [['emacs'], `There is no host "emacs". Known: ${names.join(', ')}`],
    [['constructor'], 'There is no host "constructor"'],
    [['vscode', 'cursor'], 'Name one host'],
    [['cursor', 'codex'], 'Name one host'],
    [['cursor', '--auth', 'token'], '--auth is for a running server'],
    [['cursor', '--http', url, '--auth', 'basic'], '"basic" is none of none, token'],
    [['cursor', '--http', 'ftp://127.0.0.1'], '--http: "ftp://127.0.0.1" is not an address'],
    [['cursor', '--base-url', 'tenant'], 'CPQ_BASE_URL: is not a web address'],
    [['cursor', '--grants', 'everything'], 'unknown: everything'],
    [['cursor', '--api-key=abcdefgh'], 'There is no flag --api-key'],
  ])('reports wrong use: %j', async (words, said) => {
    const { status, stdout, stderr } = await runHere(['config', ...words]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('abcdefgh');
  });
  test('lists the hosts in its help', async () => {
    const { stdout } = await runHere(['config', '--help']);
    const listed = [...stdout.matchAll(/^ {2}([a-z]\S*) {2,}\S/gm)].map(([, name]) => name);
    expect(listed).toEqual(names);
  });
});

/** docs/hosts.md, which is generated and tested to be fresh, has the file of each host and platform. */
describe('the configuration file of each host', () => {
  test('is found where environment variables of the host move it', () => {
    const environment = { CODEX_HOME: '/x', CLAUDE_CONFIG_DIR: '/y', APPDATA: '/z' };
    const fileOf = (name: string, platform: NodeJS.Platform) =>
      hosts[name]?.file({ platform, home: folder, env: environment });
    expect(fileOf('codex', 'linux')).toBe(join('/x/config.toml'));
    expect(fileOf('claude-code', 'linux')).toBe(join('/y/.claude.json'));
    expect(fileOf('vscode', 'win32')).toBe(join('/z/Code/User/mcp.json'));
  });
});

describe('a written configuration file', () => {
  test.each(sample(editedHosts, 3))(
    '%s: is created for its owner only, and unchanged when the entry is there already',
    async (name) => {
      const words = ['--base-url', baseUrl];
      const { status, stdout, file, home, after, left } = await written(name, undefined, ...words);
      expect([status, left]).toEqual([0, ['host.conf']]);
      expect(stdout).toContain(`Added cpq-mcp to ${file}.`);
      expect(serversIn(name, parse(name, after ?? ''))['cpq-mcp']).toEqual(stdioEntries[name]);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const again = await runHere(['config', name, '--write', '--file', file, ...words]);
      expect(again.stdout).toContain('is already up to date.');
      expect(await readFile(file, 'utf8')).toBe(after);
      expect(await readdir(home)).toEqual(['host.conf']);
    },
  );

  test.each(sample(editedForms, 3, 1))(
    '%s: keeps other servers, unknown keys and the indentation',
    async (name) => {
      const root = hosts[name]?.root ?? '';
      const document = { theme: 'dark', [root]: { other: { command: 'x' } }, last: [1, 2] };
      const before = JSON.stringify(document, undefined, '\t');
      const { after = '', home, left, stdout } = await written(name, before);
      const servers = { other: { command: 'x' }, 'cpq-mcp': expect.anything() };
      expect(JSON.parse(after)).toEqual({ ...document, [root]: servers });
      expect(after).toMatch(/\n\t\t"cpq-mcp": \{\n\t\t\t"/);
      const backup = left.find((one) => one.endsWith('.bak')) ?? '';
      expect(left.toSorted()).toEqual(['host.conf', backup].toSorted());
      expect(stdout).toContain(join(home, backup));
      expect(await readFile(join(home, backup), 'utf8')).toBe(before);
    },
  );
});

describe('an existing configuration file', () => {
  test('keeps its permissions, byte order mark and line ends', async () => {
    const home = newFolder();
    const file = join(home, 'mcp.json');
    await writeFile(file, '\uFEFF{\r\n  "size": 15.0\r\n}\r\n');
    await chmod(file, 0o640);
    await runHere(['config', 'cursor', '--write', '--file', file]);
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    expect(await readFile(file, 'utf8')).toMatch(/^\uFEFF\{\r\n {2}"size": 15,(\r\n.+)*\r\n$/);
    const backup = (await readdir(home)).find((one) => one.endsWith('.bak')) ?? '';
    expect((await stat(join(home, backup))).mode & 0o777).toBe(0o640);
  });

  test('is written through a symbolic link', async () => {
    const home = newFolder();
    await mkdir(join(home, 'dotfiles'));
    await writeFile(join(home, 'dotfiles', 'real.json'), '{"a":1}');
    await symlink(join(home, 'dotfiles', 'real.json'), join(home, 'mcp.json'));
    await runHere(['config', 'cursor', '--write', '--file', join(home, 'mcp.json')]);
    expect(JSON.parse(await readFile(join(home, 'dotfiles', 'real.json'), 'utf8'))).toMatchObject({
      a: 1,
      mcpServers: { 'cpq-mcp': { command: process.execPath } },
    });
    expect(await readlink(join(home, 'mcp.json'))).toContain('real.json');
  });

  test.each(['', ' \n'])('may be empty: %j', async (before) => {
    const { after = '' } = await written('cursor', before);
    expect(Object.keys(JSON.parse(after).mcpServers)).toEqual(['cpq-mcp']);
  });

  test.each(sample(editedForms, 3))('%s: is unchanged if it has another entry', async (name) => {
    const mine = { [hosts[name]?.root ?? '']: { 'cpq-mcp': { env: { CPQ_API_KEY: key } } } };
    const before = JSON.stringify(mine);
    const { status, stdout, stderr, after, left } = await written(name, before);
    expect([status, stdout, after, left]).toEqual([1, '', before, ['host.conf']]);
    expect(stderr).toContain('has another entry "cpq-mcp"');
    expect(stderr).not.toContain(key);
    const entry = stderr.slice(stderr.indexOf('{'), stderr.lastIndexOf('}') + 1);
    expect(serversIn(name, parse(name, entry))['cpq-mcp']).toMatchObject(where);
  });
});

describe('a configuration file that cannot be edited safely', () => {
  test.each([
    ['cursor', '{"mcpServers": {', 'is not a JSON object'],
    ['cursor', '{\n"a": 1,\n"b": }\n', 'is not a JSON object'],
    ['cursor', '[]', 'is not a JSON object'],
    ['zed', '// Mine\n{}\n', 'has comments'],
    ['cursor', '{"mcpServers": []}', 'a value that is not an object at "mcpServers"'],
    ['cursor', '{"id": 12345678901234567890}', 'a number or a repeated name that would be lost'],
    ['cursor', '{"a": 1, "a": 2}', 'a number or a repeated name that would be lost'],
  ])('is left unchanged: %s with %j', async (name, before, said) => {
    const { status, stdout, stderr, after, left } = await written(name, before);
    expect([status, stdout, after, left]).toEqual([1, '', before, ['host.conf']]);
    expect(stderr).toContain(said);
    expect(stderr).toContain('Add this by hand:\n\n{');
  });

  test('is left unchanged in another encoding', async () => {
    const file = join(newFolder(), 'mcp.json');
    await writeFile(file, '{"name": "Zürich"}', 'latin1');
    const { status, stderr } = await runHere(['config', 'cursor', '--write', '--file', file]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('is not in UTF-8')]);
    expect(await readFile(file, 'latin1')).toBe('{"name": "Zürich"}');
  });

  test('is left unchanged when it cannot be written whole', async () => {
    const file = join(newFolder(), 'mcp.json');
    await writeFile(file, '{}');
    await mkdir(`${file}.${process.pid}.draft`); // In the place of the new file.
    const { status, stderr } = await runHere(['config', 'cursor', '--write', '--file', file]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('It was not changed')]);
    expect(await readFile(file, 'utf8')).toBe('{}');
  });

  test('may not be a folder', async () => {
    const { status, stderr } = await runHere(['config', 'cursor', '--write', '--file', folder]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('It was not changed')]);
  });
});

const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const leaf = fc.oneof(text, fc.integer(), fc.boolean());
const document = fc.dictionary(text, fc.oneof(leaf, fc.array(leaf), fc.dictionary(text, leaf)));
const entry = { command: 'npx', args: ['-y'], env: { A: 'b' } };
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('any file', () => {
  test('of JSON gets the entry and keeps everything else; a second time changes nothing', async () => {
    const file = join(newFolder(), 'any.json');
    await fc.assert(
      fc.asyncProperty(
        document,
        document,
        fc.constantFrom(0, 2, '\t'),
        async (rest, of, indent) => {
          const before = plain({ ...rest, servers: { ...of } }) as Row;
          await writeFile(file, JSON.stringify(before, undefined, indent));
          await writeEntry(file, 'servers', entry);
          const ours = { ...(before.servers as Row), 'cpq-mcp': entry };
          const after = await readFile(file, 'utf8');
          expect(JSON.parse(after)).toEqual({ ...before, servers: ours });
          expect(await writeEntry(file, 'servers', entry)).toBeUndefined();
          expect(await readFile(file, 'utf8')).toBe(after);
        },
      ),
    );
  });
});
