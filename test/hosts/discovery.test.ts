import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get as getOverHttp, type IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { icon } from '../../src/mcp/icon.ts';
import { newFolder, newToken, type Reply, send, startTeam } from '../support/access.ts';
import { everyHost, startHttpServer } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';

const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const address = async () => addressIn(await sandbox());

const team = shared(async () => {
  const { baseUrl, key } = await address();
  const env = { CPQ_STATE_DIR: newFolder(), CPQ_AUTH: 'token' };
  const token = await newToken(['anna'], env);
  const publicUrl = 'https://mcp.example.com/cpq/mcp';
  const where = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_PUBLIC_URL: publicUrl };
  return { server: await startTeam({ ...where, ...env }, [token]), publicUrl };
});

const local = shared(async () => startHttpServer(await address()));

const get = async (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
  send((await team()).server, { method: 'GET', path, headers });

const getLocal = async (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, (await local()).url), { headers });

/** fetch sets the Host header itself. */
async function requestWithHost(url: URL, host: string): Promise<IncomingMessage> {
  const [response] = await once(getOverHttp(url, { headers: { host } }), 'response');
  return response.resume();
}

/** The published schema of a server card, without what this server does not use. */
const card = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
  name: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  version: z.string().max(255),
  title: z.string().max(100),
  description: z.string().max(100),
  icons: z.array(
    z.strictObject({
      src: z.url(),
      mimeType: z.literal('image/png'),
      sizes: z.array(z.string().regex(/^\d+x\d+$/)),
    }),
  ),
  remotes: z.tuple([
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.url(),
      headers: z
        .array(
          z.strictObject({
            name: z.string(),
            description: z.string(),
            isRequired: z.boolean(),
            isSecret: z.literal(true),
          }),
        )
        .optional(),
      supportedProtocolVersions: z.array(z.iso.date()),
    }),
  ]),
});

const cardPath = '/mcp/server-card';

describe('the server card', () => {
  test('is public, says how to connect, and nothing of the tenant', async () => {
    const { publicUrl } = await team();
    const { status, headers, text } = await get(cardPath, { origin: 'https://page.example' });
    expect([status, headers['content-type']]).toEqual([200, 'application/mcp-server-card+json']);
    expect(headers['access-control-allow-origin']).toBe('*');
    const { remotes, name } = card.parse(JSON.parse(text));
    expect(name).toBe(JSON.parse(await readFile('package.json', 'utf8')).mcpName);
    expect(remotes[0]).toMatchObject({
      url: publicUrl,
      headers: [{ name: 'Authorization', isRequired: true }],
    });
    expect(remotes[0].supportedProtocolVersions).toContain('2026-07-28');
    const { baseUrl } = await address();
    for (const hidden of [new URL(baseUrl).host, 'default', 'cpq_list']) {
      expect(text).not.toContain(hidden);
    }
  });

  test('is not made without a public URL', async () => {
    expect((await getLocal(cardPath)).status).toBe(404);
    expect((await getLocal(cardPath, { origin: 'https://page.example' })).status).toBe(403);
  });

  test.each([cardPath])('is not made for a Host header that is no address: %s', async (path) => {
    const { url } = await local();
    for (const host of ['127.0.0.1:99999', '[::1]:70000', 'localhost:', 'evil.com@localhost'])
      expect((await requestWithHost(new URL(path, url), host)).statusCode, host).toBeOneOf([
        403, 404,
      ]);
    expect((await getLocal('/healthz')).status).toBe(200);
  });
});

test('the icon is the one in the folder of icons', async () => {
  const png = await readFile('icons/icon-64.png', 'base64');
  expect(icon.src).toBe(`data:image/png;base64,${png}`);
});

describe.each(everyHost.filter(({ era }) => era !== 'first line'))('$name', (host) => {
  const server = host.serving(address);

  test('shows an icon when the connection is opened, and in no list', async () => {
    const { request, output } = await server();
    await request('tools/list');
    const written = output.stdout + output.http;
    expect(written.match(/data:image\/png/g)).toHaveLength(1);
  });
});
