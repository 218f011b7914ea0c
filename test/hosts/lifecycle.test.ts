import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { envelope, handshake } from '../support/fast-path-requests.ts';
import {
  environmentFor,
  everything,
  modernStdio,
  open,
  startServer,
  stdioHosts,
} from '../support/hosts.ts';
import { type Running, run, runHere, start } from '../support/process.ts';
import { askService } from '../support/sandbox.ts';
import { closing } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const { address } = embeddedTenant({ scale: 0.1, as: 'all' });
const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const ping = line({ id: 1, method: 'ping' });
const older = line({ id: 0, method: 'initialize', params: { ...handshake, capabilities: {} } });
const newer = { _meta: envelope };
const upsert = 'cpq_upsert_opportunity';

describe('stdout', () => {
  for (const host of stdioHosts) {
    test(`contains only protocol messages, ${host.name}`, async () => {
      const env = { CPQ_LOG_LEVEL: 'debug' };
      const server = await open({ at: address, on: host, ...everything, env });
      const tools = await server.tools();
      expect(tools.map(({ name }) => name)).toContain('cpq_list_opportunities');
      await server.call('cpq_list_opportunities', { size: 100, detail: 'full' });
      await server.refused('cpq_list_opportunities', { size: 'x' });
      await server.refused('cpq_list_companies', { nonsense: true });
      await expect(server.ask('cpq_nothing')).rejects.toThrow();
      await expect(server.request('no/such/method')).rejects.toThrow();
      server.process.stdin.write('this is no JSON\n{"jsonrpc":"2.0"\n\n{}\n[]\nnull\n');
      await server.call('cpq_list_companies', { size: 1 });
      await server.close();
      const { stdout } = server.output;
      expect(stdout.endsWith('\n')).toBe(true);
      for (const message of stdout.slice(0, -1).split('\n')) {
        expect(JSON.parse(message)).toMatchObject({ jsonrpc: '2.0' });
      }
    });
  }

  test('has an answer to each line that is no message, and none to an answer', async () => {
    const lines = [
      ...['{"jsonrpc":"2.0"', '[]', '{"id":1,"method":"ping"}', '{"jsonrpc":"1.0","id":"a"}'],
      ...['null', '1.5', '{}', 'true'].map((id) => `{"jsonrpc":"2.0","method":"ping","id":${id}}`),
      ...['', '{"jsonrpc":"2.0","id":null,"error":{}}'],
    ];
    const asked = lines.map((text) => `${text}\n`).join('');
    const { stdout, stderr } = await run(['stdio'], environmentFor(await address()), asked);
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    const found = answers.map(({ id, error }) => [error.code, id]);
    const invalid = [null, 1, 'a', null, null, null, null].map((id) => [-32600, id]);
    expect(found).toEqual([[-32700, null], ...invalid]);
    expect(stderr.match(/"event":"protocol"/g)).toHaveLength(9);
  });

  test('is empty without requests', async () => {
    const { status, stdout, stderr } = await run(['stdio'], environmentFor(await address()));
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

describe('over stdio', () => {
  test('a message that is too long ends it as a failure', async () => {
    const input = `${ping}"${'x'.repeat(10 * 1024 * 1024)}`;
    const { status, stderr } = await run(['stdio'], environmentFor(await address()), input);
    expect([status, stderr]).toEqual([1, expect.stringContaining('has more than 10485760')]);
  });

  test.each<[how: string, end: (running: Running) => void, 'embedded'?]>([
    ['when stdin ends', ({ stdin }) => stdin.end()],
    ['on SIGTERM', ({ kill }) => kill('SIGTERM')],
    ['on SIGINT', ({ kill }) => kill('SIGINT')],
    ['when stdin ends, with the embedded tenant', ({ stdin }) => stdin.end(), 'embedded'],
  ])('it ends %s', async (_, end, embedded) => {
    const running = await start(['stdio'], environmentFor(embedded ?? (await address())));
    running.stdin.write(ping);
    await running.says(/"id":1/);
    end(running);
    expect(await running.exited).toEqual({ status: 0, signal: undefined });
    expect(running.output.stderr).toBe('');
  });

  test.each([
    ['of the older era', [older, line({ method: 'notifications/initialized' })], {}],
    ['of the newer era', [line({ id: 0, method: 'server/discover', params: newer })], newer],
  ])('received requests are answered before it ends, %s', async (_, opening, params) => {
    const service = closing(await startUpstream({ delayHeaders: 1_000 }));
    const list = { name: 'cpq_list_companies', arguments: { size: 1 }, ...params };
    const one = { uri: 'cpq://company/company-1', ...params };
    const asked = [
      ...opening,
      line({ id: 1, method: 'tools/call', params: list }),
      line({ id: 2, method: 'resources/read', params: one }),
      line({ id: 3, method: 'prompts/get', params: { name: 'unknown', ...params } }),
      line({ id: 4, method: 'tools/call', params: list }).trimEnd(),
    ];
    const env = environmentFor({ baseUrl: service.url, key: 'any-key-at-all' });
    const { status, stdout } = await run(['stdio'], env, asked.join(''));
    expect(status).toBe(0);
    const answered = stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text).id);
    expect(answered.toSorted()).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('over stdio, with requests still open', () => {
  test('a question that can no longer be answered does not keep it running', async () => {
    const env = { ...environmentFor(await address()), CPQ_GRANTS: 'read,opportunity:write' };
    const write = { external_id: 'never-answered', name: 'Never answered', create: true };
    const asked = [
      older.replace('"capabilities":{}', '"capabilities":{"elicitation":{}}'),
      line({ method: 'notifications/initialized' }),
      line({ id: 1, method: 'tools/call', params: { name: upsert, arguments: write } }),
    ];
    const { status, stdout } = await run(['stdio'], env, asked.join(''));
    expect(status).toBe(0);
    expect(stdout).toContain('elicitation/create');
  });

  test('it ends on SIGTERM while a call waits for the service', async () => {
    const service = closing(await startUpstream({ delayHeaders: 20_000 }));
    const server = await open({ at: service, on: modernStdio });
    const waiting = server.ask('cpq_list_companies').catch(() => 'gone');
    await expect.poll(() => service.requests.length).toBe(1);
    server.process.stdin.end();
    server.process.kill('SIGTERM');
    expect(await server.process.exited).toEqual({ status: 0, signal: undefined });
    expect(await waiting).toBe('gone');
  });

  test('it ends when the host has closed its pipes', async () => {
    const running = await start(['stdio'], environmentFor(await address()));
    running.hangUp();
    running.stdin.write(ping);
    expect(await running.exited).toMatchObject({ status: 0 });
    expect(running.output.stderr).not.toMatch(/Unhandled|\n\s+at /);
  });

  test('a call that is cancelled cancels its request', async () => {
    const service = closing(await startUpstream({ delayHeaders: 20_000 }));
    const server = await open({ at: service, on: modernStdio });
    const stop = new AbortController();
    const waiting = server.ask('cpq_list_companies', {}, { signal: stop.signal });
    await expect.poll(() => service.requests.length).toBe(1);
    stop.abort('the person changed their mind');
    await expect(waiting).rejects.toThrow();
    await expect.poll(() => service.requests[0]?.outcome).toBe('aborted');
  });
});

describe('the stdio transports of the clients', () => {
  const parameters = () => ({
    command: process.execPath,
    args: [inject('bundle'), 'stdio', '--sandbox'],
    stderr: 'pipe' as const,
  });

  test('SDK 2, with version negotiation', async () => {
    const client = new Client(
      { name: 'auto', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    );
    onTestFinished(() => client.close());
    await client.connect(new StdioClientTransport(parameters()));
    expect(client.getProtocolEra()).toBe('modern');
    expect((await client.listTools()).tools.length).toBeGreaterThan(10);
  });

  test('SDK 1', async () => {
    const client = new FirstClient({ name: 'first', version: '1' });
    onTestFinished(() => client.close());
    await client.connect(new FirstStdioTransport(parameters()));
    expect(client.getServerVersion()).toMatchObject({ name: 'cpq-mcp' });
    expect((await client.callTool({ name: 'cpq_list_companies' })).isError).toBeFalsy();
  });
});

describe('over HTTP', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`it ends on ${signal} with open connections`, async () => {
      const { running, url } = await startServer({ at: address });
      const kept = await fetch(new URL('/healthz', url));
      expect(kept.status).toBe(200);
      running.kill(signal);
      expect(await running.exited).toEqual({ status: 0, signal: undefined });
      await expect(fetch(url)).rejects.toThrow();
      expect(running.output.stderr).toBe('');
    });
  }

  test('it does not wait for an idle connection', async () => {
    const { running, url } = await startServer({ at: address });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {}); // It is reset.
    await once(socket, 'connect');
    await fetch(new URL('/healthz', url)); // Accepted later, so that one was accepted before.
    expect(await running.stop()).toEqual({ status: 0, signal: undefined });
  });

  test('it answers received requests before it ends', async () => {
    const service = closing(await startUpstream({ counts: { '/company': 5 }, delayHeaders: 700 }));
    const { running, url } = await startServer({ at: service });
    const params = { name: 'cpq_list_companies', arguments: { size: 2 } };
    const asked = fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: line({ id: 7, method: 'tools/call', params }),
    });
    await expect.poll(() => service.requests.length).toBe(1);
    running.kill('SIGTERM');
    expect(await (await asked).text()).toContain('2 of 5 companies');
    expect(await running.exited).toEqual({ status: 0, signal: undefined });
  });

  test('signals while it starts neither kill it nor are lost', async () => {
    const silent = await listening();
    const { port } = silent.address() as { port: number };
    const env = { ...environmentFor(await address()), CPQ_REDIS_URL: `redis://127.0.0.1:${port}` };
    const running = await start(['http', '--port', '0'], env);
    await once(silent, 'connection');
    running.kill('SIGHUP');
    running.kill('SIGTERM');
    expect(await running.exited).toEqual({ status: 0, signal: undefined });
    expect(running.output.stdout).toContain('serves');
  });

  test('a port in use is reported, with what to do', async () => {
    const taken = await listening();
    const { port } = taken.address() as { port: number };
    const env = environmentFor(await address());
    const { status, stdout, stderr } = await run(['http', '--port', String(port)], env);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^cpq-mcp: .*${port}.*(taken|in use).*--port`));
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('it prints its address and how to connect an assistant', async () => {
    const { running, url } = await startServer();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const { stdout } = await running.says(/Stop with Ctrl-C/).then(() => running.output);
    expect(stdout).toContain(`claude mcp add --transport http cpq-mcp ${url}`);
    const [, words = ''] = /an assistant: +node (.*)/.exec(stdout) ?? [];
    const [program, ...argv] = words.replace('HOST', 'cursor').split(' ');
    expect([program, argv]).toEqual([inject('bundle'), ['config', 'cursor', '--http', url]]);
    expect((await runHere(argv)).stdout).toContain(`"url": "${url}"`);
  });
});

describe('the other commands', () => {
  test('sandbox serves a tenant, prints its address and key, and ends on SIGTERM', async () => {
    const running = await start(['sandbox', '--port', '0', '--scale', '0.1']);
    const [, baseUrl = '', key = ''] = await running.says(/CPQ_BASE_URL=(\S+)\s+CPQ_API_KEY=(\S+)/);
    const page = await askService({ baseUrl, key }, '/company?size=1');
    expect(page).toMatchObject({ results: [{ id: expect.any(String) }] });
    running.kill('SIGTERM');
    expect(await running.exited).toEqual({ status: 0, signal: undefined });
  });

  test.each([
    { flags: [], header: /^ {2}name {2,}company {2,}value {2,}closes$/m, call: false },
    { flags: ['--raw'], header: /^ {2}name\|company\|value\|closes\|id$/m, call: true },
  ])('demo $flags prints answers for a person, or as an assistant reads them', async (row) => {
    const { status, stdout, stderr } = await run(['demo', ...row.flags]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/\d+ tools:\n/);
    expect(stdout.match(/^> .*\?$/gm)?.length).toBeGreaterThanOrEqual(3);
    expect(stdout).not.toMatch(/isError|undefined/);
    expect(stdout).toMatch(row.header);
    expect(/^ {2}cpq_brief_pipeline \{"rows":2\}$/m.test(stdout)).toBe(row.call);
    expect(/\w\|\w/.test(stdout)).toBe(row.call);
  });
});

function listening(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
    onTestFinished(() => void server.close());
  });
}
