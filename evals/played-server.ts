import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Sandbox } from '../src/sandbox/index.ts';
import { clockAt } from '../test/support/clock.ts';
import { day } from './truth.ts';

/** The program and its arguments, from anywhere. */
export const commandOf = (server: string): [string, ...string[]] => [
  process.execPath,
  resolve(server),
  'stdio',
];

/** The built server over stdio, its clock at the day of the questions, with a person who agrees or declines. */
export interface PlayedServer {
  client: Client;
  /** What the person answers from now on; `decline` at first. */
  person: 'accept' | 'decline';
  close(): Promise<void>;
}

export async function startServer(sandbox: Sandbox, server: string): Promise<PlayedServer> {
  const home = await mkdtemp(join(tmpdir(), 'cpq-mcp-evals-'));
  const client = new Client(
    { name: 'cpq-mcp-evals', version: '1' },
    { capabilities: { elicitation: { form: {} } } },
  );
  const played: PlayedServer = {
    client,
    person: 'decline',
    async close() {
      await client.close();
      await rm(home, { recursive: true, force: true });
    },
  };
  client.setRequestHandler('elicitation/create', ({ params }) => {
    if (played.person === 'decline') return { action: 'decline' };
    return { action: 'accept', content: agreement(params) };
  });
  const [command, ...args] = commandOf(server);
  await client.connect(
    new StdioClientTransport({
      command,
      args,
      env: { HOME: home, PATH: process.env.PATH ?? '', ...settings(sandbox), ...clockAt(day) },
      stderr: 'ignore',
    }),
  );
  return played;
}

/** The environment of a server that reads this tenant and may write its opportunities. */
export function settings({ tenants }: Sandbox): Record<string, string> {
  const [{ baseUrl, keys }] = tenants;
  return {
    CPQ_BASE_URL: baseUrl,
    CPQ_API_KEY: keys.all,
    CPQ_GRANTS: 'read,opportunity:write',
    CPQ_RATE_LIMIT: '1000000',
  };
}

/** Every box of the form ticked: the person agrees to what is shown. */
function agreement(params: object): Record<string, boolean> {
  const schema = 'requestedSchema' in params ? params.requestedSchema : undefined;
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, { type?: string }> };
  const boxes = Object.entries(properties).filter(([, { type }]) => type === 'boolean');
  return Object.fromEntries(boxes.map(([name]) => [name, true]));
}
