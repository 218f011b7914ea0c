import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { visible } from '../../src/text/characters.ts';
import { type Service, startService } from '../support/compatibility/service.ts';
import { open, type Row } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, newFolder, shared, useDay } from '../support/shared.ts';

/** Snapshots hold what the records themselves say: neither names of other collections nor the key. */

const [yesterday, today] = ['2026-06-16', '2026-06-17'];

/** The text of all files of snapshots. */
async function storedTexts(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const snapshots = files.filter((file) => file.isFile() && /\d{4}-\d\d-\d\d/.test(file.name));
  expect(snapshots.length).toBeGreaterThan(0);
  const bodies = snapshots.map(({ parentPath, name }) => readFile(join(parentPath, name)));
  const texts = (await Promise.all(bodies)).map((body) => promisify(brotliDecompress)(body));
  return (await Promise.all(texts)).join('\n');
}

const start = (
  service: Service,
  { grants, folder, day }: { grants: string; folder: string; day: string },
) => {
  useDay(day, 'UTC');
  return open({ at: service, grants, folder });
};

describe.each(['flat ids', 'bare ids'] as const)('of a service that sends %s', (references) => {
  const hiddenNames = ({ storedData }: Service): string[] =>
    [...storedData['/company'], ...storedData['/category']].map(({ name }) => name);

  const withYesterday = shared(async () => {
    const service = closing(await startService({ references }));
    // Deals are named after the companies.
    for (const [at, deal] of service.storedData['/opportunity'].entries()) deal.name = `Deal ${at}`;
    const folder = newFolder();
    const all = await start(service, { grants: 'read', folder, day: yesterday });
    for (const tool of ['cpq_brief_quotes', 'cpq_brief_pipeline', 'cpq_brief_company'])
      await all.ask(tool, { company: service.storedData['/company'][0]?.name });
    await all.call('cpq_pipeline_changes');
    await all.close();
    for (const deal of service.storedData['/opportunity'].slice(0, 150))
      deal.onetimeRevenue = (deal.onetimeRevenue ?? 0) + 100_000;
    // Today only the snapshot has them.
    service.storedData['/opportunity'].splice(150, 20);
    return { service, folder };
  });

  test('the snapshots have no name of another collection', async () => {
    const { service, folder } = await withYesterday();
    const stored = await storedTexts(folder);
    expect(hiddenNames(service).filter((name) => stored.includes(`"${name}"`))).toEqual([]);
  });

  test('a caller is told the names that it may read, whoever asked before the restart', async () => {
    const { service, folder } = await withYesterday();
    const asked: Row[] = [
      { movement: 'valueUp', rows: 100 },
      { movement: 'removed', rows: 100 },
      { by: 'company' },
      { by: 'category' },
      { company: hiddenNames(service)[0] },
    ];
    const namesTold = async (grants: string) => {
      const server = await start(service, { grants, folder, day: today });
      const texts: string[] = [];
      const removed: unknown[] = [];
      for (const args of asked) {
        const { text, data } = await server.ask('cpq_pipeline_changes', args);
        texts.push(text, JSON.stringify(data));
        const { rows = [] } = (data.deals ?? {}) as { rows?: Row[] };
        if (args.movement === 'removed') removed.push(...rows.map(({ company }) => company));
      }
      const uri = 'cpq://export/cpq_pipeline_changes?by=day';
      const history = await server.request('resources/read', { uri });
      await server.close();
      const all = [...texts, JSON.stringify(history)].join('\n');
      expect(removed.length).toBeGreaterThan(3);
      // The last question names the first one itself.
      const [, ...names] = hiddenNames(service);
      return {
        told: names.filter((name) => all.includes(name)),
        ofRemoved: names.filter((name) => removed.includes(name)),
      };
    };
    expect(await namesTold('opportunity:read')).toEqual({ told: [], ofRemoved: [] });
    const { told, ofRemoved } = await namesTold('opportunity:read,company:read');
    expect(told.length).toBeGreaterThan(3);
    expect(ofRemoved).not.toEqual([]);
    expect(await namesTold('opportunity:read')).toEqual({ told: [], ofRemoved: [] });
  });
});

test('a key that is split by invisible characters in a record is in no snapshot', async () => {
  useDay(today, 'UTC');
  const sandbox = await startSandbox({ scale: 0.1, now: new Date(`${today}T09:00:00Z`) });
  const address = addressIn(sandbox);
  const split = [...address.key].join('\u200B');
  sandbox.database
    .prepare('update opportunity set name = ? where tenant = ?')
    .run(`Deal with ${split}`, sandbox.tenants[0].name);
  const folder = newFolder();
  const server = await open({ at: address, folder });
  await server.call('cpq_brief_pipeline');
  await server.close();
  expect(visible(await storedTexts(folder))).not.toContain(address.key);
});
