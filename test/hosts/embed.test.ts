import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as FirstInMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterAll, describe, expect, inject, test, vi } from 'vitest';
import { settings } from '../../src/config.ts';
import type { CpqServer, CpqServerOptions } from '../../src/index.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const key = 'SecretKeyThatNobodyMaySee0123456789';

/** The built module. */
const shipped = shared(async (): Promise<typeof import('../../src/index.ts')> => {
  if (inject('buildError') !== '') throw new Error(inject('buildError'));
  return import(pathToFileURL(join(dirname(inject('bundle')), 'index.js')).href);
});
const sandbox = shared(() => startSandbox());
const stateDir = shared(() => mkdtemp(join(tmpdir(), 'cpq-mcp-embed-')));
afterAll(async () => rm(await stateDir(), { recursive: true, force: true, maxRetries: 5 }));

async function open(options: CpqServerOptions = {}): Promise<CpqServer> {
  const { createCpqServer } = await shipped();
  const { baseUrl, key: apiKey } = addressIn(await sandbox());
  const defaults = { baseUrl, apiKey, stateDir: await stateDir(), logLevel: 'silent' as const };
  return closing(await createCpqServer({ ...defaults, ...options }));
}

const info = { name: 'test', version: '1' };

async function connectTo(cpq: CpqServer, mode: 'legacy' | { pin: string } = 'legacy') {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const connection = cpq.connect(theirs);
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(ours);
  return { client, connection, transport: ours };
}

const textOf = (result: unknown): string =>
  JSON.stringify((result as { content: unknown }).content);
const call = { name: 'cpq_list_companies', arguments: { size: 2 } };

describe('a server inside a program', () => {
  test.each([
    ['the older era', 'legacy'],
    ['the modern era', { pin: '2026-07-28' }],
  ] as const)('serves a client of %s in memory', async (_, mode) => {
    const cpq = await open();
    const { client } = await connectTo(cpq, mode);
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
    const [first, second, third] = [
      await connectTo(cpq),
      await connectTo(cpq),
      await connectTo(cpq),
    ];
    const gone: string[] = [];
    for (const [name, { client }] of Object.entries({ first, second, third })) {
      client.onclose = () => gone.push(name);
    }
    await first.connection.close();
    expect(gone).toEqual(['first']);
    expect(textOf(await second.client.callTool(call))).toContain('2 of');
    await cpq.close();
    expect(gone.toSorted()).toEqual(['first', 'second', 'third']);
  });

  test('lists what is granted and selected, and no write by default', async () => {
    const names = async (options: CpqServerOptions) =>
      (await open(options)).tools.map(({ name }) => name);
    expect(await names({})).not.toContain('cpq_upsert_opportunity');
    expect(await names({ grants: ['read', 'opportunity:write'] })).toContain(
      'cpq_upsert_opportunity',
    );
    expect(await names({ grants: ['quote:read'], toolsets: ['routes'] })).toEqual([
      'cpq_list_quotes',
    ]);
  });

  test('separates several tenants of one program', async () => {
    const services = await Promise.all(
      [1, 2].map(async (seed) => closing(await startUpstream({ seed }))),
    );
    const [one, two] = await Promise.all(
      services.map(async ({ url }, at) =>
        connectTo(await open({ baseUrl: url, apiKey: `${key}${at}` })),
      ),
    );
    const answers = await Promise.all([one?.client.callTool(call), two?.client.callTool(call)]);
    expect(textOf(answers[0])).not.toBe(textOf(answers[1]));
    for (const [at, { requests }] of services.entries()) {
      expect(requests.length).toBeGreaterThan(0);
      expect(new Set(requests.map(({ headers }) => headers['api-key']))).toEqual(
        new Set([`${key}${at}`]),
      );
    }
  });
});

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
    const { client } = await connectTo(await open({ baseUrl: wrongAddress, grants: ['read'] }));
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
    const all: Required<Omit<CpqServerOptions, 'apiKeyFile' | 'redisUrl' | 'replicas'>> = {
      name: 'all',
      baseUrl: new URL('https://a.example'),
      apiKey: key,
      sandbox: true,
      grants: ['read', 'opportunity:write'],
      toolsets: ['routes', 'briefs', 'changes'],
      tools: ['cpq_list_events'],
      pageParam: 'from',
      stateDir: await stateDir(),
      logLevel: 'silent',
      rateLimit: 500,
      freshSeconds: 10,
      cacheMegabytes: 16,
      historyDays: 30,
      consent: 'ask',
      writesPerHour: 1,
      writeFields: ['name', 'stage'],
      barredStages: ['Won', 'Lost'],
      webhookSecret: 'a-secret-of-webhooks',
      webhookSigningSecret: 'a-secret-of-signatures',
    };
    const { name: _, ...ofSettings } = all;
    expect(Object.keys(settings)).toEqual(expect.arrayContaining(Object.keys(ofSettings)));
    const cpq = await open(all);
    expect(cpq.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['cpq_upsert_opportunity', 'cpq_list_events']),
    );
  });
});

/** A project with the package and its dependencies, as npm installs them. */
const project = shared(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cpq-mcp-project-'));
  const installed = join(folder, 'node_modules', 'cpq-mcp');
  await mkdir(installed, { recursive: true });
  await cp(dirname(inject('bundle')), join(installed, 'dist'), { recursive: true });
  await cp(join(root, 'package.json'), join(installed, 'package.json'));
  for (const name of [
    '@modelcontextprotocol',
    '@types',
    'libsql',
    '@libsql',
    '@neon-rs',
    'detect-libc',
    'undici-types',
  ]) {
    const from = join(root, 'node_modules', name);
    await symlink(from, join(folder, 'node_modules', name));
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
});
afterAll(async () => rm(await project(), { recursive: true, force: true, maxRetries: 5 }));

describe('the examples', () => {
  test('run in memory', async () => {
    const folder = await project();
    await cp(join(root, 'examples', 'embed.mjs'), join(folder, 'embed.mjs'));
    const { stdout } = await execute(process.execPath, ['embed.mjs'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder },
    });
    expect(stdout).toMatch(/^\d+ tools: cpq_list_companies, cpq_list_opportunities,/);
    expect(stdout).toMatch(/\n\n3 of \d+ opportunities/);
  });

  test('run for many tenants, and ask their user', async () => {
    const folder = await project();
    await cp(join(root, 'examples', 'many-tenants.mjs'), join(folder, 'many-tenants.mjs'));
    const env = { PATH: process.env.PATH, HOME: folder };
    const program = spawn(process.execPath, ['many-tenants.mjs'], { cwd: folder, env });
    closing({ close: async () => program.kill('SIGKILL') });
    let output = '';
    for (const reply of ['y\n', 'n\n']) {
      for await (const text of program.stdout.iterator({ destroyOnReturn: false })) {
        output += text;
        if (output.endsWith('[y/N] ')) break;
      }
      program.stdin.write(reply);
    }
    for await (const text of program.stdout) output += text;
    expect(output).toContain('acme: Written: new opportunity "Renewal of the support plan"');
    expect(output).toContain('globex: The person did not agree.');
  });

  test('run over HTTP, with a token', async () => {
    const folder = await project();
    await cp(join(root, 'examples', 'http.mjs'), join(folder, 'http.mjs'));
    const env = { PATH: process.env.PATH, HOME: folder, MCP_TOKEN: 'open', PORT: '0' };
    const service = spawn(process.execPath, ['http.mjs'], { cwd: folder, env });
    closing({ close: async () => service.kill('SIGKILL') });
    const [line] = await once(service.stdout, 'data');
    const url = new URL(String(line).trim());
    const clientWith = async (authorization: string) => {
      const client = new Client(info);
      const requestInit = { headers: { authorization } };
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      return client;
    };
    const client = await clientWith('Bearer open');
    expect(textOf(await client.callTool(call))).toContain('2 of');
    await client.close();
    await expect(clientWith('Bearer shut')).rejects.toThrow();
    const exited = once(service, 'exit');
    service.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});

describe('a program that has the package installed', () => {
  const strict = {
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
    },
  };
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin',
    'tsc',
  );

  async function compile(
    name: string,
    source: string,
    options: Record<string, unknown>,
  ): Promise<string> {
    const folder = join(await project(), name);
    await mkdir(folder);
    await writeFile(join(folder, 'use.ts'), source);
    const { compilerOptions } = strict;
    const config = { compilerOptions: { ...compilerOptions, ...options }, files: ['use.ts'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const compiled = execute(process.execPath, [compiler, '-p', folder]);
    return compiled.then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
  }

  test('compiles strictly against its types alone, with Node’s and with the browser’s', async () => {
    const source = `import { createCpqServer, CpqOptionError, type CpqServer } from 'cpq-mcp';
      const apiKey: string | undefined = undefined;
      const cpq: CpqServer = await createCpqServer({ apiKey, sandbox: true, grants: ['read'] });
      const response: Response = await cpq.fetch(new Request('http://host/mcp'));
      export const status: number = response.status;
      export const isOurs = (error: unknown): boolean => error instanceof CpqOptionError;
      await cpq.close();\n`;
    expect(await compile('node', source, { skipLibCheck: false })).toBe('');
    const dom = { skipLibCheck: false, types: [], lib: ['es2023', 'dom'] };
    expect(await compile('dom', source, dom)).toBe('');
  });

  test('compiles with the transports of both lines of the SDK', async () => {
    const source = `import { InMemoryTransport, type Transport } from '@modelcontextprotocol/client';
      import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
      import { InMemoryTransport as First } from '@modelcontextprotocol/sdk/inMemory.js';
      import type { Transport as FirstTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
      import { createCpqServer } from 'cpq-mcp';
      const cpq = await createCpqServer({ sandbox: true });
      cpq.connect(InMemoryTransport.createLinkedPair()[0]);
      cpq.connect(First.createLinkedPair()[0]);
      cpq.connect(new StdioServerTransport());
      export const both = (a: Transport, b: FirstTransport) => [cpq.connect(a), cpq.connect(b)];\n`;
    expect(await compile('transports', source, { skipLibCheck: true })).toBe('');
  });

  test('gets compiler errors for wrong options', async () => {
    const source = `import { createCpqServer } from 'cpq-mcp';
      await createCpqServer({ grants: ['everything'] });
      await createCpqServer({ colour: 'red' });\n`;
    const output = await compile('wrong', source, { skipLibCheck: true });
    expect(output.match(/error TS/g)).toHaveLength(2);
  });

  test('gets types without other dependencies', async () => {
    const types = await readFile(
      join(await project(), 'node_modules', 'cpq-mcp', 'dist', 'index.d.ts'),
      'utf8',
    );
    expect(types).not.toMatch(/\bimport\b|\bfrom\b ['"]/);
    expect(types).toContain('export declare function createCpqServer(');
  });
});
