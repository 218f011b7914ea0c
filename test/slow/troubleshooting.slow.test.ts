import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { send, startTeam } from '../support/access.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { freePort } from '../support/free-port.ts';
import { anyHost, everything, type ServerSettings, startHttpServer } from '../support/hosts.ts';
import { type Environment, run } from '../support/process.ts';
import type { Address } from '../support/sandbox.ts';
import { closing, newFolder } from '../support/shared.ts';
import type { Behaviour } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** Each failure of docs/troubleshooting.md is provoked, and its text is the one that the page shows. */

const { address } = embeddedTenant({ scale: 0.1 });
const key = 'k'.repeat(30);
const settings = { CPQ_BASE_URL: 'https://tenant.example.com', CPQ_API_KEY: key };

async function atStart(env: Environment, ...argv: string[]): Promise<string> {
  const { status, stderr } = await run(argv, env);
  expect(status).toBeGreaterThan(0);
  return stderr;
}

/** The text of a tool's error. */
async function atCall(
  service: Address,
  tool = 'cpq_list_companies',
  args: object = {},
  more: ServerSettings = {},
): Promise<string> {
  const server = await anyHost.start(service, more);
  const text = await server.refused(tool, args);
  await server.close();
  return text;
}

async function overService(behaviour: Behaviour, calls = 1): Promise<string> {
  const service = closing(await startUpstream({ counts: { '/company': 30 } }));
  service.set(behaviour);
  const server = await anyHost.start({ baseUrl: service.url, key });
  let text = '';
  for (let at = 0; at < calls; at++) text = await server.refused('cpq_list_companies');
  await server.close();
  return text;
}

async function withoutNode(): Promise<string> {
  const child = spawn('node', [], { env: { PATH: newFolder() } });
  const [error] = await once(child, 'error');
  return String(error);
}

async function onBusyPort(): Promise<string> {
  const { url } = await startHttpServer('embedded');
  return atStart({ CPQ_SANDBOX: '1' }, 'http', '--port', new URL(url).port);
}

async function overBudget(): Promise<string> {
  const server = await anyHost.start(await address(), { env: { CPQ_RATE_LIMIT: '1' } });
  await server.call('cpq_list_companies', { size: 1 });
  const text = await server.refused('cpq_list_companies', { size: 1 });
  await server.close();
  return text;
}

async function incomplete(): Promise<string> {
  const service = closing(await startUpstream({ counts: { '/opportunity': 60 } }));
  service.set({ hidden: { oneIn: 11, counted: true } });
  return answered({ baseUrl: service.url, key }, 'cpq_brief_pipeline');
}

async function answered(service: Address, tool: string): Promise<string> {
  const server = await anyHost.start(service);
  const { text } = await server.ask(tool);
  await server.close();
  return text;
}

async function unfamiliar(): Promise<string> {
  const service = closing(await startUpstream());
  service.records['/company'] = [{ Titel: 'Eins' }, { Titel: 'Zwei' }];
  return answered({ baseUrl: service.url, key }, 'cpq_list_companies');
}

const change = { create: true, external_id: 'TROUBLE-1', name: 'Not written' };

async function unasked(args: object): Promise<string> {
  const service = await address('all');
  const env = { CPQ_CONSENT: 'token', CPQ_STATE_DIR: newFolder() };
  const server = await anyHost.start(service, { ...everything, env });
  const { text } = await server.ask('cpq_upsert_opportunity', args);
  await server.close();
  return text;
}

/** The body of the answer to a request with these headers. */
async function overHttp(headers: Record<string, string>, CPQ_AUTH = 'token'): Promise<string> {
  const env = { CPQ_SANDBOX: '1', CPQ_AUTH, CPQ_STATE_DIR: newFolder() };
  return (await send(await startTeam(env), { headers })).text;
}

const failures: Record<string, () => Promise<string>> = {
  'spawn node ENOENT': withoutNode,
  'Missing: … A key is issued in the product': () => atStart({}),
  'is a placeholder that was not replaced by your value': () =>
    atStart({ ...settings, CPQ_BASE_URL: 'https://YOUR-TENANT' }),
  '… cannot be read (…)': () =>
    atStart({ CPQ_BASE_URL: settings.CPQ_BASE_URL, CPQ_API_KEY_FILE: '~/cpq.key' }),
  '… is not a setting': () => atStart({ ...settings, CPQ_BARED_STAGES: 'Won' }),
  'unknown: …': () => atStart({ ...settings, CPQ_TOOLS: 'cpq_list_quote' }),
  'can be reached from other machines, so callers must authenticate': () =>
    atStart(settings, 'http', '--host', '0.0.0.0', '--port', '0'),
  '… is in use by another program': onBusyPort,
  'The key was not accepted by …': async () => atCall({ ...(await address()), key }),
  '… does not let this key read …': async () => atCall(await address('limited'), 'cpq_list_quotes'),
  '… answered with a web page: this looks like the web interface': async () => {
    const { baseUrl } = await address();
    return atCall({ baseUrl: `${baseUrl}/app`, key });
  },
  '… has no route …': () => overService({ status: { code: 404 } }),
  '… answered with a redirect': () => overService({ redirect: { code: 302, to: 'other' } }),
  '… cannot be reached (…)': async () =>
    atCall({ baseUrl: `http://127.0.0.1:${await freePort()}`, key }),
  '… also after trying again. It may be down': () => overService({ status: { code: 500 } }),
  '… failed several times in a row': () => overService({ status: { code: 500 } }, 6),
  'No complete answer from … in time': () => overService({ cut: { at: 'body', how: 'hang' } }),
  'request budget, which all its programs share, is used up': overBudget,
  '… accepts no more requests for now': () =>
    overService({ status: { code: 429, retryAfter: '300' } }),
  'Incomplete: …': incomplete,
  '… is not granted here': async () =>
    atCall(
      await address(),
      'cpq_get_record',
      { resource: 'quote', id: 'any' },
      { grants: 'company:read' },
    ),
  'There is no such record, or it has been deleted': async () =>
    atCall(await address(), 'cpq_get_record', { resource: 'company', id: 'NoSuchCompany0000000' }),
  'the … of … could not be read': unfamiliar,
  'nobody was asked, because …': () => unasked(change),
  'the consent does not count, because …': () => unasked({ ...change, confirm: 'invented' }),
  'This server requires authentication.': () => overHttp({}),
  'Unknown access token.': () => overHttp({ authorization: `Bearer cpq_${'x'.repeat(43)}` }),
  'The Host header does not name this server.': () => overHttp({ host: 'mcp.example.com' }),
  'A proxy forwarded this request (…), and this server does not authenticate callers.': () =>
    overHttp({ 'x-forwarded-for': '192.0.2.1' }, ''),
};

const page = fileURLToPath(new URL('../../docs/troubleshooting.md', import.meta.url));

test('every failure of the page is one of those below', async () => {
  const listed = (await readFile(page, 'utf8')).matchAll(/^- `([^`]+)`:/gm);
  expect([...listed].map(([, message]) => message).toSorted()).toEqual(
    Object.keys(failures).toSorted(),
  );
});

test.each(Object.entries(failures))('%s', async (message, provoke) => {
  const text = await provoke();
  const parts = message.split('…').map((part) => part.trim());
  const literal = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  expect(text).toMatch(new RegExp(literal.join('.*'), 's'));
});
