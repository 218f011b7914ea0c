import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, inject, test } from 'vitest';
import type { CpqHost } from '../../src/index.ts';
import { expectNoLeaks, leftOverResources, usedHeap } from '../support/leaks.ts';
import { closing, newFolder } from '../support/shared.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';

const kibibyte = 1024;

/** As many events as the index in memory holds. */
const eventsOf = (name: string) =>
  Array.from({ length: 100 }, (_, at) => ({
    id: `${name} ${at}`,
    type: 'quote.approved',
    data: { id: `Quote ${at}` },
  }));

/** Opens tenants at once, each with a client that lists, reads a collection and receives a webhook; closes them all. */
async function useTenants(host: CpqHost, upstream: Upstream, names: readonly string[]) {
  const webhookSecret = 'many0tenants0webhook0secret';
  const close = names.map(async (name) => {
    const options = { baseUrl: upstream.url, apiKey: `key0of0${name}`, rateLimit: 1_000_000 };
    const cpq = await host.tenant({ ...options, name, webhookSecret });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    cpq.connect(theirs);
    const client = new Client({ name: 'many-tenants', version: '1' });
    await client.connect(ours);
    for (const tool of ['cpq_list_companies', 'cpq_brief_pipeline', 'cpq_list_events'])
      expect(await client.callTool({ name: tool, arguments: {} })).not.toHaveProperty('isError');
    const url = `http://host.example/${webhookSecret}`;
    const body = JSON.stringify(eventsOf(name));
    const received = await cpq.receiveWebhook(new Request(url, { method: 'POST', body }));
    expect(received.status).toBe(200);
    return { client, cpq };
  });
  for (const { client, cpq } of await Promise.all(close)) {
    await client.close();
    await cpq.close();
  }
  upstream.reset();
}

test('200 tenants that were opened, used and closed leave nothing behind', async () => {
  const stateDir = newFolder();
  const upstream = closing(await startUpstream({ seed: 1 }));
  const { createCpqHost }: typeof import('../../src/index.ts') = await import(
    pathToFileURL(join(dirname(inject('bundle')), 'index.js')).href
  );
  const host = createCpqHost({ stateDir, logLevel: 'silent' });
  const names = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `tenant-${from + at}`);
  await useTenants(host, upstream, names(0, 40));
  const resources = leftOverResources();
  const before = await usedHeap();
  for (let from = 40; from < 240; from += 40)
    await useTenants(host, upstream, names(from, from + 40));
  const grown = (await usedHeap()) - before;
  process.stderr.write(`200 tenants: ${Math.round(grown / kibibyte)} KiB more\n`);
  await expectNoLeaks(resources);
  expect(grown).toBeLessThan(200 * 10 * kibibyte);
  await host.close();
}, 300_000);
