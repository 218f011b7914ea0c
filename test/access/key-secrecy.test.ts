import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCommon, openHandle } from '../../src/commands/tenant-handle.ts';
import { readSettings, requireTenant } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { withoutSecrets } from '../../src/text/secrets.ts';
import { catalog } from '../../tools/catalog.ts';
import { createCanary } from '../support/canary.ts';
import { wordsOf } from '../support/hardening-tenant.ts';
import {
  type Connection,
  everything,
  type Host,
  modernHttp,
  open,
  stdioHere,
} from '../support/hosts.ts';
import { type Environment, runHere } from '../support/process.ts';
import { sample } from '../support/sampling.ts';
import { newFolder } from '../support/shared.ts';
import type { Behaviour, Upstream } from '../support/upstream/behaviour.ts';
import { type FaultName, faults } from '../support/upstream/faults.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/**
 * Searches every byte that leaves a server for the key: results, errors, protocol, log, files. The services of
 * these tests repeat the key in their answers.
 */

const canary = createCanary();
const { key } = canary;
let folder: string;
let upstream: Upstream;
/** In another folder than the server's files, which are searched for the key. */
const keyFile = join(newFolder(), 'key');

beforeAll(async () => {
  folder = newFolder();
  upstream = await startUpstream({ counts: { '/opportunity': 30 } });
});

afterAll(async () => {
  await upstream.close();
});

const start = (host: Host = stdioHere): Promise<Connection> =>
  open({
    at: upstream,
    key,
    on: host,
    ...everything,
    env: { ...ofServer(), CPQ_CONSENT: 'token' },
  });

const ofServer = () => ({ CPQ_STATE_DIR: join(folder, 'state'), CPQ_LOG_LEVEL: 'debug' });

const given: Readonly<Record<string, Record<string, unknown>>> = {
  cpq_get_record: { resource: 'company', id: 'com-1' },
  cpq_find: { query: 'Acme' },
  cpq_brief_company: { company: 'com-1' },
  cpq_brief_quote: { quote: 'Q-1001' },
  cpq_check_sales_data: { check: 'thin_margins' },
  cpq_revert_change: { change_id: 'none' },
  cpq_upsert_opportunity: { external_id: 'opp-1', name: 'New', description: 'Asked for' },
};

/** The result of a call, or its error, as text. */
const textOf = (server: Connection, name: string, signal?: AbortSignal): Promise<string> =>
  server.ask(name, given[name] ?? {}, signal ? { signal } : {}).then(
    ({ result }) => JSON.stringify(result),
    (error: unknown) => `${error} ${JSON.stringify(error)}`,
  );

async function expectNoKey(server: Connection, results: readonly string[]): Promise<void> {
  expect(results.flatMap((result, at) => canary.findIn(`result ${at}`, result))).toEqual([]);
  expect(canary.findInOutput(server.output)).toEqual([]);
  expect(await canary.findInFolder(folder)).toEqual([]);
}

/** JSON in which every character of the key is written as an escape. */
const escaped = [...key]
  .map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  .join('');
const record = (text: string): string =>
  `{"id":"com-1","externalIdentifier":"opp-1","name":"${text}","${text}":"x","customFields":{"k":["${text}"]},"createdAt":"2026-01-01T00:00:00Z"}`;
const envelope = (text: string): Behaviour => ({
  instead: { text: `{"results":[${record(text)}],"total":1,"filters":[{"key":"${text}"}]}` },
});

/** Services that repeat the key in records and in refusals. */
const echoes: Record<string, Behaviour> = {
  'in records': envelope(key),
  'in records, within a text': envelope(`the key ${key} is mine`),
  'in records, escaped': envelope(escaped),
  'in records, with invisible characters between its letters': envelope([...key].join('\u200b')),
  'in records, with variation selectors': envelope([...key].join('\ufe01')),
  'in records, with markup between its letters': envelope([...key].join('<b></b>')),
  'in records, as entities': envelope(
    [...key].map((character) => `&#${character.charCodeAt(0)};`).join(''),
  ),
  'in records, with a solidus escaped': envelope(key.replaceAll('/', '\\/')),
  'in one record': { instead: { text: record(key) } },
  'as text that is not JSON': { instead: { text: `api-key: ${key}` } },
  'as JSON of the wrong shape': { instead: { text: `"${key}"` } },
  'in an unknown envelope': { instead: { text: `{"${key}":["${key}"]}` } },
  'in a web page': { instead: { text: `<html><title>${key}</title></html>`, type: 'text/html' } },
  'in a message': { status: { code: 400, message: `bad key ${key}` } },
  'in messages': { status: { code: 400, message: [key, `${key}${key}`] } },
  'in a refusal': { status: { code: 403, message: `${key} may not read this` } },
  'in a long message': { status: { code: 400, message: `${'x'.repeat(270)}${key}` } },
  'in an error': { status: { code: 401, message: key } },
  'in a header': { headers: { 'x-your-key': key, 'set-cookie': `key=${key}` } },
  'as the content encoding': { headers: { 'content-encoding': key } },
  'in Retry-After': { status: { code: 429, retryAfter: key } },
  'in a redirect': { headers: { location: `http://example.com/${key}` }, status: { code: 404 } },
};

describe('a service that repeats the key', () => {
  test.each(sample(Object.entries(echoes), 3))('%s', async (_, behaviour) => {
    upstream.reset();
    upstream.set(behaviour);
    const server = await start();
    const results = await Promise.all(catalog.map(({ name }) => textOf(server, name)));
    expect(upstream.requests.some(({ headers }) => headers['api-key'] === key)).toBe(true);
    await expectNoKey(server, results);
    await server.close();
    expect(upstream.elsewhere.requests).toEqual([]);
  });

  const company = { type: 'ref/resource', uri: 'cpq://company/{id}' };
  const besides: readonly (readonly [method: string, params: Record<string, unknown>])[] = [
    ['resources/read', { uri: 'cpq://company/com-1' }],
    ['resources/read', { uri: 'cpq://export/cpq_list_companies' }],
    ['resources/read', { uri: 'cpq://export/cpq_list_companies?format=json' }],
    ['completion/complete', { ref: company, argument: { name: 'id', value: '' } }],
  ];

  test.each(['invisible characters', 'variation selectors', 'markup', 'as entities'])(
    'is not repeated by resources, files and completions, %s',
    async (how) => {
      upstream.reset();
      const [[, behaviour] = []] = Object.entries(echoes).filter(([name]) => name.includes(how));
      upstream.set(behaviour ?? expect.unreachable(how));
      const server = await start();
      const results = besides.map(async ([method, params]) =>
        JSON.stringify(await server.request(method, params)),
      );
      const read = await Promise.all(results);
      // A name is completed with its markup, by which it is found.
      for (const result of read.slice(0, 3)) expect(result).toContain('[key]');
      expect(read.join('')).not.toMatch(/\u200b|\ufe01/);
      await expectNoKey(server, read);
      await server.close();
    },
  );

  test('is not repeated by what asks with it', async () => {
    upstream.reset();
    upstream.set({ status: { code: 400, message: `bad key ${key}` } });
    const server = await start();
    const asked: readonly (readonly [string, Record<string, unknown>])[] = [
      ['resources/read', { uri: 'cpq://company/com-1' }],
      ['resources/read', { uri: `cpq://company/${key}` }],
      ['resources/read', { uri: `cpq://nothing/${key}` }],
      ['resources/read', { uri: `cpq://export/${key}` }],
      ['prompts/get', { name: key }],
      ['tools/call', { name: key, arguments: {} }],
    ];
    const errors = asked.map(async ([method, params]) =>
      server.request(method, params).then(
        () => expect.unreachable(`${method} succeeded`),
        (error: unknown) => `${error} ${JSON.stringify(error)}`,
      ),
    );
    await expectNoKey(server, await Promise.all(errors));
    await server.close();
  });

  test('records are still shown, without the key', async () => {
    upstream.reset();
    upstream.set(envelope(`the key ${key} is mine`));
    const server = await start();
    const { records, text } = await server.call('cpq_list_companies', { detail: 'full' });
    expect(records).toMatchObject([{ id: 'com-1', name: 'the key [key] is mine' }]);
    expect(text).toContain('the key [key] is mine');
    await server.close();
  });
});

/** One fault of each kind. */
const wrong: readonly FaultName[] = [
  ...(['key-missing', 'key-wrong', 'no-permission', '400-messages', '404', '429-an-hour'] as const),
  ...(['500', '502-html', '302-other-host', 'redirect-loop', 'reset', 'close-in-body'] as const),
  ...(['truncated', 'html-200', 'empty-body', 'error-with-200', 'json-text'] as const),
  ...(['false-gzip', 'gzip-bomb', 'deeply-nested'] as const),
];
/** Cancelled by the client, because three attempts of twenty seconds take too long. */
const hanging: readonly FaultName[] = ['never-answers', 'stops-in-headers', 'stops-in-body'];

/** A sample for HTTP, where headers and bodies are searched too. */
const onHttp: readonly FaultName[] = ['key-wrong', '302-other-host', 'truncated'];

describe.each([stdioHere, modernHttp])('errors of every kind, $name', (host) => {
  test.each(sample(host === stdioHere ? wrong : onHttp, 3))('%s', async (name) => {
    upstream.reset();
    upstream.set(faults[name]);
    const server = await start(host);
    const tools = ['cpq_list_quotes', 'cpq_list_categories', 'cpq_upsert_opportunity'];
    const results = await Promise.all(tools.map((tool) => textOf(server, tool)));
    const kinds = faults[name].kinds ?? [];
    expect(kinds.some((kind) => wordsOf[kind].test(results.join()))).toBe(true);
    await expectNoKey(server, results);
    await server.close();
    await expectNoKey(server, []);
    expect(upstream.elsewhere.sawKey()).toBe(false);
  });
});

test('cancelled calls do not reveal the key', async () => {
  const server = await start();
  const results: string[] = [];
  for (const name of hanging) {
    upstream.reset();
    upstream.set(faults[name]);
    results.push(await textOf(server, 'cpq_list_quotes', AbortSignal.timeout(300)));
  }
  await expectNoKey(server, results);
  await server.close();
});

describe('the key does not appear in', () => {
  test('the journal of a change to a record that contains it', async () => {
    upstream.reset();
    for (const row of upstream.records['/opportunity']) row.description = `my key is ${key}`;
    const server = await start();
    const named = { external_id: 'opp-2', name: 'N' };
    // The description cannot be sent back as it is stored, so it has to be replaced.
    const refusal = await server.refused('cpq_upsert_opportunity', named);
    const args = { ...named, description: 'Without it' };
    const preview = await server.call('cpq_upsert_opportunity', args);
    const confirm = String(preview.data.confirm);
    const written = await server.ask('cpq_upsert_opportunity', { ...args, confirm });
    const changes = await server.call('cpq_list_changes');
    expect(changes.records).toHaveLength(1);
    const answers = [preview, written, changes].map(({ result }) => JSON.stringify(result));
    const results = [JSON.stringify(refusal), ...answers];
    await expectNoKey(server, results);
    await server.close();
  });

  test.each<[what: string, Environment, ...flags: string[]]>([
    ['a wrong address', { CPQ_BASE_URL: 'nonsense', CPQ_API_KEY: key }],
    ['an impossible key', { CPQ_BASE_URL: 'http://127.0.0.1:9', CPQ_API_KEY: `${key} ${key}` }],
    ['an invalid setting', { CPQ_RATE_LIMIT: 'x', CPQ_API_KEY: key }],
    ['a key in the address', { CPQ_BASE_URL: `http://x:${key}@127.0.0.1`, CPQ_API_KEY: key }],
    ['no address', { CPQ_API_KEY: key }],
    ['a malformed key file', { CPQ_BASE_URL: 'http://127.0.0.1:9', CPQ_API_KEY_FILE: keyFile }],
    ['a key as a flag', {}, `--api-key=${key}`],
  ])('the refusal to start with %s', async (_, env, ...flags) => {
    await writeFile(keyFile, `${key}\n${key}`);
    const { status, stdout, stderr } = await runHere(['stdio', ...flags], env);
    expect(status).toBe(2);
    expect(canary.findIn('output', stdout + stderr)).toEqual([]);
  });

  test.each(Object.entries(echoes).filter((_, at) => at % 4 === 0))(
    'the output of doctor, where the service repeats it %s',
    async (_, on) => {
      upstream.reset();
      upstream.set(on);
      const env = { CPQ_BASE_URL: upstream.url, CPQ_API_KEY: key, ...ofServer() };
      const { stdout, stderr } = await runHere(['doctor'], env);
      expect(stdout.length + stderr.length).toBeGreaterThan(100);
      expect(canary.findIn('output', stdout + stderr)).toEqual([]);
    },
  );
});

test('the search for the key finds every encoding of it', async () => {
  const base64 = Buffer.from(`x${key}`).toString('base64');
  const forms = [key, encodeURIComponent(key), escaped, base64];
  for (const form of forms) expect(canary.findIn('it', `before ${form} after`)).not.toEqual([]);
  const file = join(folder, 'with-a-key');
  await writeFile(file, Buffer.from(key).toString('hex'));
  expect(await canary.findInFolder(folder)).toEqual([`hexadecimal in ${file}`]);
  await writeFile(file, '');
  expect(canary.findIn('it', 'nothing')).toEqual([]);
});

test('every secret of the settings is taken out of texts, as long as it is used', async () => {
  const secrets = ['key', 'hook', 'metrics', 'red%20is', 'red is'].map(
    (of) => `${of}-of-settings-01`,
  );
  const [CPQ_API_KEY, CPQ_WEBHOOK_SECRET, CPQ_METRICS_TOKEN, password] = secrets;
  const settings = readSettings([], {
    ...{ CPQ_BASE_URL: 'http://127.0.0.1:9', CPQ_STATE_DIR: newFolder() },
    ...{ CPQ_API_KEY, CPQ_WEBHOOK_SECRET, CPQ_METRICS_TOKEN },
    CPQ_REDIS_URL: `redis://:${password}@127.0.0.1:9`,
  });
  const common = await openCommon(settings, createLog('silent'));
  const handle = openHandle('one', settings, requireTenant(settings), common);
  expect(withoutSecrets(secrets)).toEqual(secrets.map(() => '[key]'));
  await handle.close();
  await common.state.close();
  expect(withoutSecrets(secrets)).toEqual(secrets);
});
