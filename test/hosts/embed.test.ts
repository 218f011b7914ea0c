import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as FirstInMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { describe, expect, test, vi } from 'vitest';
import { settings } from '../../src/config/settings.ts';
import type { CpqServer, CpqServerOptions } from '../../src/index.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { legacy } from '../support/fast-path-requests.ts';
import { connectTo, shipped } from '../support/in-process.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const key = 'SecretKeyThatNobodyMaySee0123456789';

const { address } = embeddedTenant();
const stateDir = shared(async () => newFolder());

async function open(options: CpqServerOptions = {}): Promise<CpqServer> {
  const { createCpqServer } = await shipped();
  const { baseUrl, key: apiKey } = await address();
  const defaults = { baseUrl, apiKey, stateDir: await stateDir(), logLevel: 'silent' as const };
  return closing(await createCpqServer({ ...defaults, ...options }));
}

const info = { name: 'test', version: '1' };

const textOf = (result: unknown): string =>
  JSON.stringify((result as { content: unknown }).content);
const call = { name: 'cpq_list_companies', arguments: { size: 2 } };

describe('a server inside a program', () => {
  test.each(['legacy', 'modern'] as const)('serves a client of the %s era', async (era) => {
    const cpq = await open();
    const client = await connectTo(cpq, { era });
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(cpq.tools.map((tool) => tool.name));
    expect(textOf(await client.callTool(call))).toContain('2 of');
    await client.close();
  });

  test("serves the client of the SDK's first line", async () => {
    const cpq = await open();
    const [ours, theirs] = FirstInMemoryTransport.createLinkedPair();
    cpq.connect(theirs);
    const client = new FirstClient(info);
    await client.connect(ours);
    expect((await client.listTools()).tools).toHaveLength(cpq.tools.length);
    expect(textOf(await client.callTool(call))).toContain('2 of');
    await client.close();
  });

  test('serves HTTP requests that the program passes on', async () => {
    const cpq = await open();
    const client = new Client(info);
    const fetch = (url: string | URL, init?: RequestInit) => cpq.fetch(new Request(url, init));
    await client.connect(new StreamableHTTPClientTransport(new URL('http://host/mcp'), { fetch }));
    expect((await client.listTools()).tools).toHaveLength(cpq.tools.length);
    expect(textOf(await client.callTool(call))).toContain('2 of');
    await client.close();
  });

  test('serves many clients, each until it or the server closes', async () => {
    const cpq = await open();
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const connection = cpq.connect(theirs);
    const first = new Client(info);
    await first.connect(ours);
    const [second, third] = [await connectTo(cpq), await connectTo(cpq)];
    const gone: string[] = [];
    for (const [name, client] of Object.entries({ first, second, third })) {
      client.onclose = () => gone.push(name);
    }
    await connection.close();
    expect(gone).toEqual(['first']);
    expect(textOf(await second.callTool(call))).toContain('2 of');
    await cpq.close();
    expect(gone.toSorted()).toEqual(['first', 'second', 'third']);
  });

  test('lists what is granted and selected, and no write by default', async () => {
    const names = async (options: CpqServerOptions) =>
      (await open(options)).tools.map(({ name }) => name);
    expect(await names({})).not.toContain('cpq_upsert_opportunity');
    const writing = await names({ grants: ['read', 'opportunity:write'] });
    expect(writing).toContain('cpq_upsert_opportunity');
    const few = await names({ grants: ['quote:read'], toolsets: ['routes'] });
    expect(few).toEqual(['cpq_list_quotes']);
  });
});

test('a server says that it is closed, and blames no service', async () => {
  const upstream = closing(await startUpstream({ seed: 1 }));
  const cpq = await open({ baseUrl: upstream.url });
  upstream.set({ onRequest: () => new Promise(() => {}) });
  const { headers, body } = legacy('tools/call', call);
  const ask = () => cpq.fetch(new Request('http://host/mcp', { method: 'POST', headers, body }));
  const asked = ask();
  await until(() => upstream.requests.length).toBeGreaterThan(0);
  await cpq.close();
  expect(await (await asked).text()).toContain('This server is being closed');
  expect((await ask()).status).toBe(503);
  expect(() => cpq.connect(InMemoryTransport.createLinkedPair()[0])).toThrow('closed');
});

const refusedValues: [options: unknown, words: string][] = [
  // These are settings of the commands.
  ...Object.entries({ allowWrites: true, auth: 'token', tenantsFile: '/x', port: 1 }).map(
    ([name, value]): [unknown, string] => [{ sandbox: true, [name]: value }, `no option "${name}"`],
  ),
  // What is empty or no list would become the default, which may allow everything.
  ...['grants', 'toolsets', 'tools', 'writeFields', 'allowedStages'].flatMap((name) =>
    [[], [''], ['read', ' '], '', null, [null], new Set(['read']), {}, 1].map(
      (value): [unknown, string] => [{ sandbox: true, [name]: value }, `${name} must be a text`],
    ),
  ),
  ...[null, '', ['a'], 1].map((apiKey): [unknown, string] => [
    { baseUrl: 'https://a.example', apiKey },
    'apiKey must be a text',
  ]),
];

describe('options', () => {
  const refused = async (options: unknown): Promise<Error> => {
    const { createCpqServer, CpqOptionError } = await shipped();
    const error = await createCpqServer(options as CpqServerOptions).then(
      () => new Error('was opened'),
      (thrown: Error) => thrown,
    );
    expect(error).toBeInstanceOf(CpqOptionError);
    expect(error.name).toBe('CpqOptionError');
    expect(error.message).not.toContain('CPQ_');
    return error;
  };

  test.each<[unknown, string]>([
    [{}, 'Missing: baseUrl'],
    [undefined, 'Missing: baseUrl'],
    [{ baseUrl: 'https://a.example' }, 'Missing: apiKey or apiKeyFile'],
    [{ baseUrl: 'nowhere', apiKey: key }, 'baseUrl: is not a web address'],
    [{ sandbox: true, grants: ['all'] }, 'grants: unknown: all'],
    [{ sandbox: true, rateLimit: 0 }, 'rateLimit: '],
    [{ sandbox: true, colour: 'red' }, 'There is no option "colour"'],
    [null, 'Missing: baseUrl'],
    ...refusedValues,
    [{ sandbox: 'yes' }, 'sandbox must be a boolean'],
    [{ sandbox: true, rateLimit: '500' }, 'rateLimit must be a number'],
    [
      { apiKeyFile: '/nowhere/key', baseUrl: 'https://a.example' },
      'apiKeyFile: /nowhere/key cannot',
    ],
  ])('%j are refused with their names', async (options, output) => {
    expect((await refused(options)).message).toContain(output);
  });

  test('never reveal the key', async () => {
    const { message } = await refused({ baseUrl: 'https://a.example', apiKey: `${key} ${key}` });
    expect(message).toContain('apiKey: holds a character');
    expect(message).not.toContain(key);
  });

  test('are named in errors of a call, instead of environment variables', async () => {
    const { url } = closing(await startUpstream({ seed: 1 }));
    const wrongAddress = new URL('/elsewhere', url);
    const client = await connectTo(await open({ baseUrl: wrongAddress, grants: ['read'] }));
    const { content } = await client.callTool(call);
    expect(textOf({ content })).toContain('baseUrl');
    expect(textOf({ content })).not.toContain('CPQ_');
  });

  test('are not read from the environment', async () => {
    vi.stubEnv('CPQ_BASE_URL', 'https://a.example');
    vi.stubEnv('CPQ_API_KEY', key);
    vi.stubEnv('CPQ_SANDBOX', '1');
    expect((await refused({})).message).toContain('Missing: baseUrl');
    vi.unstubAllEnvs();
  });

  test('correspond to settings, and can all be given', async () => {
    const all: Required<Omit<CpqServerOptions, `${string}File` | 'redisUrl'>> = {
      name: 'all',
      baseUrl: new URL('https://a.example'),
      apiKey: key,
      sandbox: true,
      grants: ['read', 'opportunity:write'],
      toolsets: ['routes', 'briefs', 'changes'],
      tools: ['cpq_list_events'],
      pageParam: 'from',
      recordUrl: 'https://app.example/{resource}/{id}',
      stateDir: await stateDir(),
      logLevel: 'silent',
      rateLimit: 500,
      freshSeconds: 10,
      cacheMegabytes: 16,
      keepCollections: 'off',
      historyDays: 30,
      consent: 'ask',
      writesPerHour: 1,
      writeFields: ['name', 'stage'],
      allowedStages: ['Offer'],
      webhookSecret: 'a-secret-of-webhooks',
    };
    const { name: _, ...ofSettings } = all;
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(Object.keys(ofSettings)));
    const cpq = await open(all);
    expect(cpq.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['cpq_upsert_opportunity', 'cpq_list_events']),
    );
  });
});
