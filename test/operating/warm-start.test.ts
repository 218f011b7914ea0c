import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createCanary } from '../support/canary.ts';
import {
  type Connection,
  modernHttp,
  modernStdio,
  open,
  type ServerSettings,
} from '../support/hosts.ts';
import { keptReading } from '../support/kept-reading.ts';
import { describeWhere } from '../support/needs.ts';
import { runHere } from '../support/process.ts';
import { buildProgram, killAtFile } from '../support/program.ts';
import { closing, newFolder } from '../support/shared.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

/** Processes with one state folder, over real requests: the tests of the format are in test/state. */

const { key, findIn, findInFolder } = createCanary();
const otherKey = 'another-key-0123456789abcdef';

const startService = async (): Promise<Upstream> =>
  closing(await startUpstream({ keys: new Set([key, otherKey]), counts: { '/quote': 250 } }));

/** As users have it: the setting is on unless it is turned off. */
const asByDefault = { CPQ_KEEP_COLLECTIONS: undefined };

const serve = (
  service: Upstream,
  folder: string,
  { env, ...settings }: ServerSettings = {},
  { host = modernStdio, as = key } = {},
): Promise<Connection> =>
  open({ at: service, key: as, on: host, folder, ...settings, env: { ...asByDefault, ...env } });

/** The pages of quotes that were requested while `work` ran. */
async function pagesOfQuotes({ requests }: Upstream, work: () => Promise<unknown>) {
  const before = requests.length;
  await work();
  return requests.slice(before).filter(({ path }) => path.endsWith('/quote')).length;
}

const brief = (server: Connection) => server.call('cpq_brief_quotes');
const kept = async (folder: string): Promise<string[]> => {
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  return names.filter((name) => name.startsWith('collections-')).sort();
};

describe('a second process', () => {
  test('sends no request for what the first one has read, and answers the same', async () => {
    const service = await startService();
    const folder = newFolder();
    const [first, second] = [await serve(service, folder), await serve(service, folder)];
    let answers: unknown[] = [];
    const ask = async (server: Connection) => {
      const { data } = await brief(server);
      answers = [...answers, { ...data, coverage: { ...Object(data.coverage), asOf: '' } }];
    };
    expect(await pagesOfQuotes(service, () => ask(first))).toBeGreaterThan(0);
    expect(await pagesOfQuotes(service, () => ask(second))).toBe(0);
    await Promise.all([first.close(), second.close()]);
    const third = await serve(service, folder);
    expect(await pagesOfQuotes(service, () => ask(third))).toBe(0);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  test('waits for the first one instead of reading the same pages', async () => {
    const service = await startService();
    const folder = newFolder();
    const alone = await pagesOfQuotes(service, async () =>
      brief(await serve(service, newFolder())),
    );
    service.set({ delayHeaders: 50 });
    const both = [await serve(service, folder), await serve(service, folder)];
    expect(await pagesOfQuotes(service, () => Promise.all(both.map(brief)))).toBe(alone);
  });

  test('reads again what was changed, as a webhook of another process said', async () => {
    const service = await startService();
    const folder = newFolder();
    const env = { CPQ_WEBHOOK_SECRET: webhookSecret };
    const server = await serve(service, folder, { env }, { host: modernHttp });
    await brief(server);
    const payload = { event: 'quote.updated', eventId: 'e1', data: { id: 'q1' } };
    expect((await deliver(webhooksAt(server.url ?? '', 'default'), payload)).status).toBe(200);
    const second = await serve(service, folder);
    expect(await pagesOfQuotes(service, () => brief(second))).toBeGreaterThan(0);
  });

  test('gets nothing with another key or fields file, and shows nothing without the grant', async () => {
    const service = await startService();
    const folder = newFolder();
    await brief(await serve(service, folder));
    const other = await serve(service, folder, {}, { host: modernStdio, as: otherKey });
    expect(await pagesOfQuotes(service, () => brief(other))).toBeGreaterThan(0);
    const CPQ_FIELDS_FILE = join(newFolder(), 'fields');
    await writeFile(CPQ_FIELDS_FILE, 'quote.sentAt = sentOn');
    const mapped = await serve(service, folder, { env: { CPQ_FIELDS_FILE } });
    expect(await pagesOfQuotes(service, () => brief(mapped))).toBeGreaterThan(0);
    const ungranted = await serve(service, folder, { grants: 'company:read' });
    const title = String(service.records['/quote'][0]?.title);
    const found = await ungranted.ask('cpq_find', { query: title });
    expect(found.text).not.toMatch(/quotes? \(\d/);
    await expect(ungranted.ask('cpq_brief_quotes')).rejects.toThrow('Unknown tool');
    expect(await ungranted.refused('cpq_get_record', { resource: 'quote', id: 'q1' })).toContain(
      'quote:read',
    );
  });
});

describe('files of collections', () => {
  test('contain the key nowhere, also where records repeat it', async () => {
    const service = await startService();
    const [plain, hidden] = service.records['/quote'];
    Object.assign(plain ?? {}, { title: `the key ${key}` });
    Object.assign(hidden ?? {}, { title: [...key].join('\u200b') });
    const folder = newFolder();
    const { text } = await brief(await serve(service, folder));
    expect(text).toContain('quotes');
    const files = (await kept(folder)).filter((name) => name.endsWith('-quote'));
    expect(files).toHaveLength(1);
    const bytes = await readFile(join(folder, files[0] ?? ''));
    const content = brotliDecompressSync(bytes.subarray(1024)).toString();
    expect(content).toContain('[key]');
    expect(findIn('its content', content)).toEqual([]);
    expect(content.replaceAll('\u200b', '')).not.toContain(key);
    expect(await findInFolder(folder)).toEqual([]);
    expect((await stat(join(folder, files[0] ?? ''))).mode & 0o777).toBe(0o600);
  });

  test('are deleted by "forget", of the tenant that it names', async () => {
    const [service, other] = [await startService(), await startService()];
    const folder = newFolder();
    for (const each of [service, other]) await brief(await serve(each, folder));
    const env = { CPQ_STATE_DIR: folder, CPQ_BASE_URL: service.url };
    const before = await kept(folder);
    expect((await runHere(['forget', 'default', '--yes'], env)).status).toBe(0);
    const after = await kept(folder);
    expect([before.length > after.length, after.length > 0]).toEqual([true, true]);
    const [left] = after;
    expect(after.every((name) => name.startsWith(String(left)))).toBe(true);
    expect((await runHere(['forget', '--all', '--yes'], env)).status).toBe(0);
    expect(await kept(folder)).toEqual([]);
  });

  test('are not written if the setting is off, nor of the embedded tenant', async () => {
    const service = await startService();
    const folder = newFolder();
    const env = { CPQ_KEEP_COLLECTIONS: 'off' };
    await brief(await serve(service, folder, { env }));
    const ofSandbox = { folder, env: asByDefault };
    await brief(await open({ on: modernStdio, ...ofSandbox }));
    expect(await kept(folder)).toEqual([]);
    const second = await serve(service, folder, { env });
    expect(await pagesOfQuotes(service, () => brief(second))).toBeGreaterThan(0);
  });

  test('are whole after a process was killed while it wrote one', async () => {
    const folder = newFolder();
    const program = await buildProgram('keep-collection', folder);
    const own = join(folder, 'collections-abcdef0123456789');
    await mkdir(own, { mode: 0o700 });
    for (let round = 1; round <= 4; round++) {
      // The next process would wait until it expires.
      await rm(join(own, 'reader-quote-none.lock'), { force: true });
      const child = spawn(process.execPath, [program, folder, String(round * 100)]);
      await killAtFile(child, own, 4 * round + 1);
      const bytes = await readFile(join(own, 'reader-quote'));
      const [head = '', ...records] = brotliDecompressSync(bytes.subarray(1024))
        .toString()
        .trimEnd()
        .split('\n');
      const { number } = JSON.parse(head);
      expect(number).toBeGreaterThanOrEqual(round * 100);
      expect(records.flatMap((line) => JSON.parse(line))).toEqual(
        keptReading(number).value.records,
      );
    }
  });
});

describeWhere(canMount(), 'the right to mount a file system', 'on a full disk', () => {
  test('collections are cached in memory, and the log has one line', async () => {
    const folder = smallDisk();
    await expect(writeFile(join(folder, 'filler'), Buffer.alloc(1024 * 1024))).rejects.toThrow();
    const service = await startService();
    const env = { CPQ_HISTORY_DAYS: '0' };
    const server = await serve(service, folder, { env });
    await brief(server);
    await server.call('cpq_check_sales_data', { check: 'stale_quotes' });
    expect(await pagesOfQuotes(service, () => brief(server))).toBe(0);
    const lines = server.output.stderr.match(/state cannot be written.*/g) ?? [];
    expect(lines).toEqual([expect.stringContaining('ENOSPC')]);
    await rm(join(folder, 'filler'));
    const second = await serve(service, folder, { env });
    await brief(second);
    const third = await serve(service, folder, { env });
    expect(await pagesOfQuotes(service, () => brief(third))).toBe(0);
  });
});

test('a start does not wait for a large copy: lists are answered without it', async () => {
  const service = await startService();
  const folder = newFolder();
  await brief(await serve(service, folder));
  const [file = ''] = (await kept(folder)).filter((name) => name.endsWith('-quote'));
  const { atimeMs } = await stat(join(folder, file));
  const server = await serve(service, folder);
  await server.call('cpq_list_pricing_books');
  expect((await stat(join(folder, file))).atimeMs).toBe(atimeMs);
});
