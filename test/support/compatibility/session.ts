import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { connectClient } from '../clients.ts';
import { type Answer, answerOf } from '../hosts.ts';
import { shipped } from '../in-process.ts';
import { newFolder } from '../shared.ts';
import type { Active } from '../upstream/behaviour.ts';
import { type Service, startService } from './service.ts';
import type { Variation } from './variations.ts';

/** A service, the server that reads it, and a real client of that server. */
export interface Session {
  service: Service;
  writeRule: Active['writeRule'];
  ask(tool: string, args?: Record<string, unknown>): Promise<Answer>;
  close(): Promise<void>;
}

/** Enough for every probe, unless the variation is about the budget. */
const plentiful = 1_000_000;
/** The person at the client agrees to every question. */
const agreed = { action: 'accept' as const, content: { agree: true } };

export interface Opened extends Pick<Variation, 'set' | 'rateLimit'> {
  /** The lines of the file of fields. */
  fields?: readonly string[] | undefined;
}

export async function openSession({
  set,
  rateLimit = plentiful,
  fields = [],
}: Opened): Promise<Session> {
  const { createCpqServer } = await shipped();
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
  const client = await connectClient(ours, { person: () => agreed });
  return {
    service,
    writeRule: set.writeRule,
    ask: async (name, args = {}) => answerOf(await client.callTool({ name, arguments: args })),
    async close() {
      await client.close();
      await server.close();
      await service.close();
      await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
