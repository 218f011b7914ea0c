import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { variableOf } from '../../src/config/settings.ts';
import { ConfigError, readSettings } from '../../src/config.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { environmentFor, open } from '../support/hosts.ts';
import {
  type Environment,
  type Finished,
  runHere as run,
  start,
  startHere,
} from '../support/process.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const key = 'canary0SettingsKey0canary0SettingsKey000';
const baseUrl = 'http://127.0.0.1:9';
const complete: Environment = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key };
const { address } = embeddedTenant({ scale: 0.1 });
const folder = shared(async () => newFolder());

async function fileWith(content: string): Promise<string> {
  const file = join(await folder(), `key-${Math.random()}`);
  await writeFile(file, content);
  return file;
}

/** Expects status 2, one line on stderr that contains these words, nothing on stdout, and the key nowhere. */
function expectWrongUse({ status, stdout, stderr }: Finished, ...words: (string | RegExp)[]): void {
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^cpq-mcp: [^\n]+\n$/);
  for (const word of words) expect(stderr).toMatch(word);
  expect(stderr).not.toContain(key);
  expect(stderr).not.toMatch(/\n\s+at |Error:/);
}

/** Expects that these settings are refused in one line that contains these words, and not the key. */
function expectRefused(settings: Environment, ...words: (string | RegExp)[]): void {
  const read = () => readSettings([], settings);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(/^[^\n]+$/);
  for (const word of words) expect(read).toThrow(word);
  expect(read).not.toThrow(key);
}

const remedy =
  /A key is issued in the product under Settings → Integrations → API Key\. To try it without either, set CPQ_SANDBOX \(--sandbox\)/;
const both = /Missing: CPQ_BASE_URL .* and CPQ_API_KEY or CPQ_API_KEY_FILE /;
const noKey: Environment = { CPQ_BASE_URL: baseUrl };
const noFlag = ['There is no flag --api-key', 'CPQ_API_KEY or CPQ_API_KEY_FILE'];

type WrongUse = [words: string[], env: Environment, ...said: (string | RegExp)[]];
const ofServing: WrongUse[] = [
  [[], {}, both, remedy],
  [[], { CPQ_API_KEY: key }, /Missing: CPQ_BASE_URL/, remedy],
  [[], noKey, /Missing: CPQ_API_KEY or CPQ_API_KEY_FILE/, remedy],
  [[], { CPQ_BASE_URL: '', CPQ_API_KEY: '' }, both],
  [['--api-key', key], noKey, ...noFlag],
  [[`--api-key=${key}`], noKey, ...noFlag],
  [[key], noKey, 'Unexpected argument. Its flags'],
  [
    [],
    { ...complete, CPQ_TOOLS: 'cpq_find cpq_list_company' },
    'CPQ_TOOLS: unknown: cpq_list_company. Nearest: cpq_list_companies',
  ],
  [['--base-ur', baseUrl], complete, '--base-ur', '--help'],
  [['extra'], complete, 'extra', '--help'],
  [['--grants'], complete, '--grants', '--help'],
  [['--grants', 'all'], complete, '--grants: unknown: all'],
];
const serving = (command: string) =>
  ofServing.map(([words, ...more]): WrongUse => [[command, ...words], ...more]);

test.each<WrongUse>([
  ...serving('stdio'),
  ...serving('http'),
  [['http', '--port', 'x'], complete, '--port: ', 'number'],
  [[key], noKey, 'There is no such command'],
  [['sandbox', '--port', '80.5'], {}, '--port: must be a whole number from 0 to 65535'],
  [['sandbox', '--scale', '0'], {}, '--scale: must be a number from 0.01 to 100'],
  [['sandbox', '--rate-limit', '0'], {}, '--rate-limit: must be a whole number from 1'],
  [['sandbox', '--webhook', 'http://'], {}, '--webhook: is not a web address'],
])('reports wrong use: %j with %j', async (argv, env, ...said) => {
  expectWrongUse(await run(argv, env), ...said);
});

const wrong: [name: string, value: string, ...said: (string | RegExp)[]][] = [
  ['CPQ_BASE_URL', 'tenant.example', 'http'],
  ['CPQ_BASE_URL', 'ftp://tenant.example', 'http'],
  ['CPQ_BASE_URL', `https://user:${key}@tenant.example`, /user|password|credential/],
  ['CPQ_API_KEY', `${key} second word`, 'character that a key cannot have', 'Settings'],
  ['CPQ_API_KEY', `${key}\nsecond`, 'character that a key cannot have'],
  ['CPQ_API_KEY', `${key}ü`, 'character that a key cannot have'],
  ['CPQ_API_KEY_FILE', '/nowhere/at/all', '/nowhere/at/all cannot be read', 'ENOENT'],
  ['CPQ_GRANTS', 'write', 'unknown: write', 'permissions: read, company:read', 'opportunity:write'],
  ['CPQ_GRANTS', ' , ', 'is empty'],
  ['CPQ_ALLOWED_STAGES', ' ', 'is empty'],
  ['CPQ_ALLOWED_STAGES', ';', 'is empty'],
  ['CPQ_TOOLSETS', 'briefs,all', 'unknown: all. Which tools are listed: routes, briefs, events'],
  ['CPQ_PAGE_PARAM', 'a b', 'parameter name'],
  ['CPQ_LOG_LEVEL', 'loud', /debug.*info.*warn.*error.*silent/],
  ['CPQ_RATE_LIMIT', 'many', 'number'],
  ['CPQ_RATE_LIMIT', '0', '1'],
  ['CPQ_FRESH_SECONDS', '-1', '0'],
  ['CPQ_CACHE_MB', '0', '1'],
  ['CPQ_SANDBOX', 'maybe', 'must be one of 1, true, yes, on, 0, false, no, off. Serve'],
  ['CPQ_HTTP_PORT', '70000', '65535'],
];

describe('an invalid value', () => {
  test.each(wrong)('of %s, "%s", is reported with its name and remedy', (name, value, ...said) => {
    const env = name === 'CPQ_API_KEY_FILE' ? { CPQ_BASE_URL: baseUrl } : complete;
    expectRefused({ ...env, [name]: value }, name, ...said);
  });

  test.each([
    ['closedAt = closeDate', 'line 1: "closedAt" is not a field of company, contact'],
    ['\n# ours\nquote.itmes = lines', 'line 3: "itmes" is not a known field. Known: id, name'],
    [
      'quote.items.trem = period',
      'line 1: "trem" is not a known field. Known: id, name',
      'monthly',
    ],
    ['opportunity.company.key = account', 'known parts of company are: id, name'],
    ['opportunity.name.id = x', 'known parts of name are: none'],
    ['opportunity.closedAt', 'must be as "quote.items.term = billingPeriod"'],
    ['opportunity.closedAt = .date', 'must be as'],
    ['opportunity.name = title in [a]', 'only a word such as won, or deleted'],
    ['won = statusId in [4]\nopportunity.won = isWon', 'line 2: another line says where that is'],
  ])('of the file of fields, %j, is reported with its line', async (content, ...words) => {
    const file = await fileWith(content);
    const refused = await run(['stdio'], { ...complete, CPQ_FIELDS_FILE: file });
    expectWrongUse(refused, 'CPQ_FIELDS_FILE: ', ...words);
  });

  test('of a key file does not reveal its content', async () => {
    const file = await fileWith(`${key} and more\n`);
    const env = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY_FILE: file };
    expectWrongUse(await run(['stdio'], env), 'character that a key cannot have');
  });

  test('of a key file that does not exist is reported', async () => {
    const env = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY_FILE: await folder() };
    expectWrongUse(await run(['stdio'], env), 'cannot be read', 'EISDIR');
  });
});

describe('the command line', () => {
  test('of the sandbox takes no file that is not a database', async () => {
    const file = await fileWith('no database, but a text of some length\n'.repeat(50));
    const { status, stderr } = await run(['sandbox', '--data', file]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('is not an SQLite database')]);
  });

  test('lists the commands', async () => {
    expect(await run(['version'])).toEqual(await run(['--version']));
    const help = await run(['--help']);
    expect(help.stdout).toMatch(/cpq-mcp http .*cpq-mcp demo .*CPQ_BASE_URL/s);
    for (const word of ['-h', 'help']) expect(await run([word])).toEqual(help);
  });

  test('explains a command', async () => {
    for (const [command, said] of [
      ['sandbox', '--scale N'],
      ['config', '--file PATH'],
      ['token', 'token revoke NAME'],
      ['http', '--port VALUE, CPQ_HTTP_PORT'],
      ['stdio', '--grants VALUE, CPQ_GRANTS'],
      ['doctor', '--json'],
      ['demo', '--raw'],
    ] as const) {
      const { status, stdout } = await run([command, '--help']);
      expect([command, status]).toEqual([command, 0]);
      expect(stdout).toContain(said);
      expect((await run(['help', command])).stdout).toBe(stdout);
    }
  });

  test.each([
    ['sandbox', []],
    ['config', ['--http']],
    ['token', ['--json']],
    ['demo', []],
  ])('says what each flag of %s means', async (command, needed) => {
    const { stdout } = await run([command, '--help']);
    const flags = [...stdout.matchAll(/\[(--[a-z-]+)/g)].map(([, flag]) => flag);
    const explained = [...stdout.matchAll(/^ {2}(--[a-z-]+).* {2}\S/gm)].map(([, flag]) => flag);
    expect(new Set(explained)).toEqual(new Set([...flags, ...needed]));
  });

  test('lists only flags that there are, and of stdio none that only HTTP uses', async () => {
    const { stdout } = await run(['stdio', '--help']);
    expect(stdout).not.toContain('--port');
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  test('ends quietly when its output is closed', async () => {
    const command = await start(['http', '--help']);
    command.hangUp();
    expect(await command.exited).toMatchObject({ status: 0 });
    expect(command.output.stderr).toBe('');
  });

  test.each([
    ['CPQ_BASE_URL', 'https://YOUR-TENANT'],
    ['CPQ_BASE_URL', '$' + '{input:cpq-base-url}'],
    ['CPQ_BASE_URL', '<your address>'],
    ['CPQ_API_KEY', 'YOUR_API_KEY'],
    ['CPQ_API_KEY', '$CPQ_API_KEY'],
    ['CPQ_API_KEY', '$' + '{env:CPQ_API_KEY}'],
    ['CPQ_API_KEY', '{env:CPQ_API_KEY}'],
    ['CPQ_API_KEY', '%CPQ_API_KEY%'],
    ['CPQ_WEBHOOK_SECRET', '$' + '{CPQ_WEBHOOK_SECRET}'],
    ['CPQ_OAUTH_ISSUER', 'https://YOUR-PROVIDER'],
  ])('refuses a placeholder before it connects: %s=%s', (name, value) => {
    const env = { CPQ_BASE_URL: 'https://tenant.example.com', CPQ_API_KEY: 'k'.repeat(30) };
    expectRefused({ ...env, [name]: value }, name, 'placeholder');
  });

  test('treats an empty optional field as absent', () => {
    const unfilled = {
      CPQ_GRANTS: '$' + '{user_config.grants}',
      CPQ_API_KEY: '$' + '{user_config.api_key}',
    };
    const read = readSettings([], unfilled);
    expect([read.grants.has('quote:read'), read.apiKey]).toEqual([true, undefined]);
  });

  test('prints the version of package.json', async () => {
    const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
    expect(await run(['--version'])).toMatchObject({
      status: 0,
      stdout: `${manifest.version}\n`,
    });
  });
});

describe('an address', () => {
  const address = 'https://a.example.com/t/acme';
  const read = (text: string) => readSettings([], { ...complete, CPQ_BASE_URL: text }).baseUrl;

  test.each(['/', '/public-api', '/public-api/', '//', '/public-api?x=1#y', ' \n'])(
    'may end with %j',
    (ending) => expect(read(` ${address}${ending}`)).toEqual(read(address)),
  );
});

describe('a key', () => {
  test('may have spaces around it, as pasted', () => {
    expect(readSettings([], { ...complete, CPQ_API_KEY: ` ${key}\n` }).apiKey).toBe(key);
  });

  test('may be in a file, with a line break at its end', async () => {
    const { key } = await address();
    const env = { CPQ_API_KEY: undefined, CPQ_API_KEY_FILE: await fileWith(`${key}\n`) };
    const { call, output } = await open({ at: address, env });
    output.guard(key);
    expect((await call('cpq_list_companies', { size: 1 })).records).toHaveLength(1);
  });
});

test.each(['apiKey', 'webhookSecret', 'metricsToken'] as const)(
  '%s may be in a file, which is not read where the environment has it',
  async (name) => {
    const file = { [variableOf(`${name}File`)]: await fileWith(`${key}\n`) };
    expect(readSettings([], file)[name]).toBe(key);
    const both = { [variableOf(`${name}File`)]: '/nowhere/at/all', [variableOf(name)]: key };
    expect(readSettings([], both)[name]).toBe(key);
  },
);

test('collections are brought up to date as often as a setting says', async () => {
  const upstream = closing(await startUpstream());
  const env = { CPQ_FRESH_SECONDS: '0' };
  const { call } = await open({ at: upstream, key, env });
  await call('cpq_brief_pipeline');
  const before = upstream.requests.length;
  await call('cpq_brief_pipeline');
  expect(upstream.requests.length).toBeGreaterThan(before);
});

describe('a flag', () => {
  test('takes precedence over the environment', () => {
    const env = { CPQ_BASE_URL: baseUrl, CPQ_GRANTS: 'quote:read', CPQ_PAGE_PARAM: 'start' };
    const address = ['--base-url', 'https://a.example.com'];
    const flags = [...address, '--grants', 'company:read,contact:read', '--page-param', 'none'];
    const read = readSettings(flags, env);
    expect(read.baseUrl).toEqual(readSettings(address, {}).baseUrl);
    expect(read.grants).toEqual(new Set(['company:read', 'contact:read']));
    expect(read.pageParam).toEqual(readSettings([], { CPQ_PAGE_PARAM: 'none' }).pageParam);
  });

  test('--sandbox or CPQ_SANDBOX needs neither address nor key', async () => {
    const flag = await startHere(['http', '--port', '0', '--sandbox']);
    await flag.says(/serves the embedded tenant at http/);
    const variable = await startHere(['http', '--port', '0'], { CPQ_SANDBOX: 'true' });
    await variable.says(/serves the embedded tenant at http/);
  });

  test('without a command starts stdio', async () => {
    const running = await startHere([], environmentFor('embedded'));
    running.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    await running.says(/"id":1/);
    running.stdin.end();
    expect(await running.exited).toEqual({ status: 0, signal: undefined });
  });
});
