import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { inject } from 'vitest';
import { type Answer, answerOf } from '../hosts.ts';
import { newFolder, shared } from '../shared.ts';
import { type Service, startService } from './service.ts';
import type { Variation } from './variations.ts';

/** A service, the server that reads it, and a real client of that server. */
export interface Session {
  service: Service;
  ask(tool: string, args?: Record<string, unknown>): Promise<Answer>;
  close(): Promise<void>;
}

type Shipped = typeof import('../../../src/index.ts');

/** The built module. */
const shipped = shared(async (): Promise<Shipped> => {
  if (inject('buildError') !== '') throw new Error(inject('buildError'));
  return import(pathToFileURL(join(dirname(inject('bundle')), 'index.js')).href);
});

/** Enough for every probe, unless the variation is about the budget. */
const plentiful = 1_000_000;
const info = { name: 'compatibility', version: '1' };
const agreed = { action: 'accept' as const, content: { agree: true } };

/** The person at the client agrees to every question. */
async function connected(transport: InMemoryTransport): Promise<Client> {
  const client = new Client(info, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  });
  client.setRequestHandler('elicitation/create', () => agreed);
  await client.connect(transport);
  return client;
}

interface Opened extends Pick<Variation, 'set' | 'rateLimit'> {
  /** The lines of the file of fields. */
  fields?: readonly string[] | undefined;
}

export const openSession = async (opened: Opened) => connectSession(opened, await shipped());

/** The same with the server from a module of its own. */
async function connectSession(
  { set, rateLimit = plentiful, fields = [] }: Opened,
  { createCpqServer }: Pick<Shipped, 'createCpqServer'>,
): Promise<Session> {
  const service = await startService(set);
  const stateDir = newFolder();
  const fieldsFile = join(stateDir, 'fields.txt');
  await writeFile(fieldsFile, fields.join('\n'));
  const server = await createCpqServer({
    fieldsFile,
    baseUrl: service.url,
    apiKey: service.key,
    grants: ['read', 'opportunity:write'],
    toolsets: ['routes', 'briefs'],
    logLevel: 'silent',
    stateDir,
    rateLimit,
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  server.connect(theirs);
  const client = await connected(ours);
  return {
    service,
    ask: async (name, args = {}) => answerOf(await client.callTool({ name, arguments: args })),
    async close() {
      await client.close();
      await server.close();
      await service.close();
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
