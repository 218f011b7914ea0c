import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { toRecord } from '../../src/service/records/recognition.ts';
import { localState } from '../../src/state/files/local.ts';
import { namespaceOf } from '../../src/tenant/shared-state.ts';
import { applying } from '../../src/text/untrusted-text.ts';
import { quoteChangesAnswer } from '../../src/tool-kit/pipeline-change-answers.ts';
import { type Connection, open, type Row, serving } from '../support/hosts.ts';
import { expectedChanges, expectedDays } from '../support/oracle/pipeline-changes.ts';
import type { Rows } from '../support/oracle/sql.ts';
import { addressIn, requestsTo, startSandbox } from '../support/sandbox.ts';
import { newFolder, shared, useDay } from '../support/shared.ts';
import { storedHistory } from '../support/stored-history.ts';
import { until } from '../support/until.ts';

/** A Wednesday. */
const today = '2026-06-17';
useDay(today, 'UTC');

/** A service with a generated history, and a server that has kept some days of it. */
const kept = ['2026-04-20', '2026-05-18', '2026-06-10', '2026-06-12', '2026-06-14', '2026-06-16'];
const started = shared(async () => {
  const sandbox = await startSandbox({ scale: 0.4, now: new Date(`${today}T09:00:00Z`) });
  const [{ name }] = sandbox.tenants;
  const address = addressIn(sandbox, 'limited');
  const folder = newFolder();
  const state = localState(folder);
  const namespace = namespaceOf(new URL(address.baseUrl), undefined);
  const history = storedHistory(state.snapshots(namespace), 400, () => new Date(today));
  for (const day of kept) {
    const records = sandbox.past(name).recordsAt(day);
    await history.save(
      records.map((text) => toRecord('opportunity', JSON.parse(text))),
      new Date(`${day}T18:00:00Z`),
    );
  }
  const server = await open({ at: address, folder });
  const ask = (sql: string, ...more: (string | number | null)[]) =>
    sandbox.database.prepare(sql).all(name, ...more) as Rows;
  return { sandbox, name, address, folder, server, ask, state, namespace };
});

const ofEmbedded = serving();

const changes = async (server: Connection, args: Row = {}) =>
  (await server.call('cpq_pipeline_changes', args)).data as Row & {
    summary?: string;
    compared: { from: string; to: string };
    pipeline: (Row & { step: string })[];
    deals: { total: number; shown: number; rows: Row[] };
  };

const uri = 'cpq://export/cpq_pipeline_changes?by=day&since=2020-01-01';
const readHistory = async ({ request }: Connection) => {
  const { contents } = (await request('resources/read', { uri })) as {
    contents: { text: string }[];
  };
  const [header = '', ...lines] = contents[0]?.text.slice(1).trimEnd().split('\r\n') ?? [];
  const columns = header.split(',');
  const rows = lines.map((line) => {
    const cells = line.split(',').map((cell, at): [string, string] => [columns[at] ?? '', cell]);
    return Object.fromEntries(cells.filter(([, cell]) => cell !== ''));
  });
  return { rows, notes: contents[1]?.text };
};

describe('a comparison', () => {
  test.each([
    ['2026-06-15', '2026-06-14'],
    ['2w', '2026-05-18'],
    ['2020-01-01', '2026-04-20'],
  ])('since %s starts from the end of %s', async (since, day) => {
    const { server } = await started();
    const { compared } = await changes(server, { since });
    expect(compared).toEqual({
      from: `${day}T18:00:00Z`,
      to: expect.stringMatching(/^2026-06-17T.*\(now\)$/),
    });
  });

  test.each([{}, { currency: 'USD' }])(
    'of two kept days has the figures of the database, with the filters %o',
    async (asked) => {
      const { server, ask } = await started();
      const args = { since: '2026-05-19', until: '2026-06-14', ...asked };
      const { pipeline, compared, summary } = await changes(server, args);
      expect(summary?.startsWith('Only currency "USD". ')).toBe(asked.currency !== undefined);
      expect(compared).toEqual({ from: '2026-05-18T18:00:00Z', to: '2026-06-14T18:00:00Z' });
      const { opening, closing, steps } = expectedChanges(ask, '2026-05-18', '2026-06-14', asked);
      const found = Object.fromEntries(pipeline.map(({ step, ...row }) => [step, row]));
      expect(found).toEqual({ opening, ...steps, closing });
      expect(Object.keys(steps).length).toBeGreaterThan(4);
    },
  );

  test('says that the snapshots it has cannot be read', async () => {
    const { address, namespace } = await started();
    const folder = newFolder();
    const store = localState(folder).snapshots(namespace);
    await store.write('2026-06-10', Buffer.from('of a later version'));
    const server = await open({ at: address, folder });
    const { text } = await server.call('cpq_pipeline_changes');
    expect(text).toContain('the first snapshot is of 2026-06-10, and no two states can be read');
  });

  test('says what it cannot know', async () => {
    const { server } = await started();
    const early = await server.call('cpq_pipeline_changes', { since: '2026-01-01' });
    // The server's own snapshot of today may be there already.
    const { from, days } = early.data.history as { from: string; days: number };
    expect([from, days - kept.length]).toEqual([
      '2026-04-20',
      expect.toSatisfy((more) => more < 2),
    ]);
  });
});

describe('a named period', () => {
  test.each([
    ['last_month', '2026-04-20', '2026-05-18'],
    ['last_week', '2026-05-18', '2026-06-14'],
  ])('of %s is about a whole past period', async (since, from, to) => {
    const { server } = await started();
    const { compared, summary } = await changes(server, { since });
    expect(compared).toEqual({ from: `${from}T18:00:00Z`, to: `${to}T18:00:00Z` });
    expect(summary).toMatch(/^\w{3}, \d+ \w{3} 2026 18:00 UTC to \w{3}, \d+ \w{3} 2026 18:00 UTC:/);
  });
});

describe('its first sentence', () => {
  /** What is said of the changes since a day on which the records were others. */
  const since = async (change: (record: Row) => Row) => {
    const { address, namespace, sandbox, name } = await started();
    const folder = newFolder();
    const store = localState(folder).snapshots(namespace);
    const history = storedHistory(store, 400, () => new Date(today));
    const records = sandbox.past(name).recordsAt('2026-06-16');
    await history.save(
      records.map((text) => toRecord('opportunity', change(JSON.parse(text)))),
      new Date('2026-06-16T18:00:00Z'),
    );
    const server = await open({ at: address, folder });
    return changes(server, { since: 'yesterday' });
  };

  test('says first how many deals lost value, or changed stage, owner and currency', async () => {
    const other = { id: 'another', name: 'Another' };
    const { summary = '', pipeline } = await since((record) => ({
      ...record,
      onetimeRevenue: Number(record.onetimeRevenue ?? 0) * 4 + 10,
      owner: other,
      pipelineStage: other,
    }));
    const count = pipeline.find(({ step }) => step === 'valueDown')?.count;
    expect(Number(count)).toBeGreaterThan(20);
    expect(summary).toContain(`${count} worth less`);
    expect(summary).toMatch(/\d+ in another stage, \d+ with another owner/);
  });

  test('names a field that nearly every deal lost at once', async () => {
    const { summary = '', pipeline } = await since(
      ({ owner: _, pipelineStage: __, ...record }) => record,
    );
    expect(summary).toMatch(
      /^These figures count changes that may be none, .* since 2026-06-16: owner \(0 had it, now \d+\), pipelineStage \(0 had/,
    );
    expect(pipeline.at(-1)?.count).toBe((await since((record) => record)).pipeline.at(-1)?.count);
  });
});

describe('its parts', () => {
  test('says in its first sentence all that changes the number of deals', async () => {
    const { server } = await started();
    const entering = ['new', 'reopened', 'moved into the period', 'came in'];
    const leaving = ['won', 'lost', 'closed with unknown outcome', 'removed'];
    const outside = ['moved out of the period', 'went out'];
    for (const filter of [{}, { close_to: '2026-07-15' }, { min_value: 10_000 }]) {
      const args = { since: '2026-04-21', until: '2026-06-16', ...filter };
      const { summary = '', pipeline } = await changes(server, args);
      const count = (words: string[]) =>
        words.reduce((sum, noun) => sum + Number(summary.match(`(\\d+) ${noun}`)?.[1] ?? 0), 0);
      const [opening, closing] = [pipeline[0]?.count, pipeline.at(-1)?.count];
      expect(Number(opening) + count(entering) - count([...leaving, ...outside])).toBe(closing);
    }
  });

  test('has the totals of days, evenly spread where not all are asked for', async () => {
    const { server, ask } = await started();
    const args = { since: '2026-04-21', until: '2026-06-16', by: 'day' };
    const { days } = await changes(server, { ...args, rows: 50 });
    expect(days).toEqual({ shown: 6, total: 6, rows: expectedDays(ask, kept, {}) });
    const { days: few } = await changes(server, { ...args, rows: 3 });
    expect(few).toMatchObject({
      shown: 3,
      total: 6,
      rows: [{ day: kept[0] }, { day: kept[3] }, { day: kept[5] }],
    });
  });

  test('costs at most 1,500 tokens', async () => {
    const embedded = await ofEmbedded();
    for (const args of [
      {},
      { since: 'last_month' },
      { since: '2020-01-01' },
      { by: 'owner' },
      { by: 'quote' },
      { since: '2020-01-01', by: 'day' },
    ]) {
      const { text, data } = await embedded.call('cpq_pipeline_changes', args);
      expect(countTokens(text)).toBeLessThanOrEqual(1_500);
      expect(countTokens(JSON.stringify(data))).toBeLessThanOrEqual(1_500);
      expect((data.history as Row).days).toBe(200);
    }
  });
});

describe('quotes', () => {
  test('says which quotes were sent, answered and repriced, by some filters only', async () => {
    const embedded = await ofEmbedded();
    const { quotes, summary, deals } = await changes(embedded, { since: 'last_month' });
    const { rows } = quotes as { rows: Row[] };
    const accepted = rows.find(({ movement }) => movement === 'accepted');
    expect(accepted?.firstYearValue).toEqual({ USD: expect.toSatisfy((amount) => amount > 0) });
    expect(summary).toContain(`${accepted?.count} accepted`);
    expect(deals.rows.length).toBeGreaterThan(0);
    const listed = await changes(embedded, {
      since: 'last_month',
      movement: 'accepted',
      rows: 100,
    });
    const { changed, rows: steps } = listed.quotes as {
      rows: Row[];
      changed: { total: number; rows: Row[] };
    };
    expect([steps[0]?.step, steps.at(-1)?.step]).toEqual(['opening', 'closing']);
    expect([changed.total, changed.rows.length, listed.deals]).toEqual([
      accepted?.count,
      accepted?.count,
      undefined,
    ]);
    for (const { movement } of changed.rows) expect(movement).toContain('accepted');
    const [{ owner } = {}] = changed.rows;
    const ofOne = await changes(embedded, { since: 'last_month', by: 'quote', owner, rows: 100 });
    const { changed: own } = ofOne.quotes as { changed: { rows: Row[] } };
    for (const row of own.rows) expect(row.owner).toContain(owner);
    const [stage, category, source] = ['Won', 'Voice', 'Web'];
    const [close_from, close_to, min_value] = [today, today, 1];
    for (const [filter, value] of Object.entries({
      ...{ stage, category, source, close_from, close_to, min_value },
    }))
      for (const asked of [{ by: 'quote' }, { movement: 'accepted' }])
        expect(
          await embedded.refused('cpq_pipeline_changes', { ...asked, [filter]: value }),
        ).toContain(`${filter}: must be left out: quotes can be filtered by owner, company and`);
  });
});

test('a comparison of other states than were asked for says so', () => {
  const [from, to] = ['2026-06-10', '2026-06-12'];
  type Of = { day?: string; isOthers?: true };
  const notesOf = (opening: Of, closing: Of, isLive = false) => {
    const state = (day: string, more: Of) => ({
      day,
      takenAt: new Date(day),
      records: [],
      ...more,
    });
    const states = { opening: state(from, opening), closing: state(to, closing), isLive };
    const quotes = { total: 0, shown: 0, rows: [] };
    const requested = { opening: from, closing: to };
    const { notes = [] } = quoteChangesAnswer(
      { states, rows: [], moves: [], quotes },
      { requested, days: [], filters: {}, coverage: {}, notes: [], asked: {} },
    );
    return applying(notes);
  };
  const others = [expect.stringContaining('rules for fields have changed')];
  expect(notesOf({}, {})).toEqual([]);
  expect(notesOf({ isOthers: true }, {})).toEqual(others);
  expect(notesOf({}, { isOthers: true })).toEqual(others);
  expect(notesOf({ day: '2026-06-11' }, {})).toEqual([
    'The first snapshot is of 2026-06-11: what changed before cannot be known.',
  ]);
  expect(notesOf({ day: '2026-06-09' }, {})).toEqual([
    'There is no readable snapshot of 2026-06-10: compared with the last one before it.',
  ]);
  expect(notesOf({}, { day: '2026-06-11' })).toEqual([
    'There is no later snapshot than that of 2026-06-11 for the end of the period.',
  ]);
  expect(notesOf({}, { day: '2026-06-11' }, true)).toEqual([]);
});

describe('snapshots', () => {
  const namesIn = async (folder: string): Promise<string[]> => {
    const [own = ''] = (await readdir(folder)).filter((name) => name.startsWith('history-'));
    return own === '' ? [] : (await readdir(join(folder, own))).sort();
  };

  test('are made after a complete reading, without a request of their own, and hold no key', async () => {
    const sandbox = await startSandbox({ scale: 0.1, now: new Date(`${today}T09:00:00Z`) });
    const address = addressIn(sandbox);
    const requests = async (days: string) => {
      const folder = newFolder();
      const env = { CPQ_HISTORY_DAYS: days };
      const before = requestsTo(sandbox).length;
      const server = await open({ at: address, folder, env });
      const { text } = await server.call('cpq_pipeline_changes');
      await server.call('cpq_brief_pipeline');
      await server.close();
      return { folder, text, count: requestsTo(sandbox).length - before };
    };
    const on = await requests('400');
    const off = await requests('0');
    expect(on.count).toBe(off.count);
    expect(on.text).toContain('Nothing to compare yet');
    expect(off.text).toContain('No history of the pipeline is kept');
    expect(await namesIn(off.folder)).toEqual([]);
    expect(await namesIn(on.folder)).toEqual([today]);
    for (const name of await readdir(on.folder, { recursive: true, withFileTypes: true })) {
      expect(name.name).not.toContain(address.key);
      if (!name.isFile()) continue;
      const bytes = await readFile(join(name.parentPath, name.name));
      expect(bytes.includes(address.key)).toBe(false);
    }
  });

  test('are made of quotes, once these were read completely', async () => {
    const sandbox = await startSandbox({ scale: 0.1, now: new Date(`${today}T09:00:00Z`) });
    const folder = newFolder();
    const server = await open({ at: sandbox, folder });
    const none = await server.call('cpq_pipeline_changes', { by: 'quote' });
    expect(none.text).toContain('Nothing to compare yet');
    await server.close();
    expect(await namesIn(folder)).toEqual([`quotes-${today}`]);
  });

  test('of the quotes are compared without a request after the brief of all quotes', async () => {
    const sandbox = await startSandbox({ scale: 0.1, now: new Date(`${today}T09:00:00Z`) });
    const folder = newFolder();
    const start = () => open({ at: sandbox, folder });
    useDay('2026-06-15', 'UTC');
    const before = await start();
    await before.call('cpq_brief_quotes');
    await before.close();
    useDay(today, 'UTC');
    const server = await start();
    await server.call('cpq_brief_quotes');
    const requests = requestsTo(sandbox).length;
    const { text } = await server.call('cpq_pipeline_changes', {
      since: '2026-06-15',
      by: 'quote',
    });
    expect(text).toContain('Quotes: none sent, answered or expired.');
    expect(requestsTo(sandbox)).toHaveLength(requests);
  });

  test('are made while the server runs', async () => {
    const sandbox = await startSandbox({ scale: 0.1 });
    const folder = newFolder();
    const server = await open({ at: sandbox, folder });
    await server.call('cpq_brief_pipeline');
    await until(async () => (await namesIn(folder)).length).toBe(1);
  });

  test('are never made of an incomplete reading', async () => {
    const rateLimit = { requests: 3, windowSeconds: 600 };
    const sandbox = await startSandbox({ scale: 1, rateLimit });
    const folder = newFolder();
    const server = await open({ at: sandbox, folder });
    const { coverage } = await server.call('cpq_brief_pipeline');
    expect(coverage.complete).toBe(false);
    await server.close();
    expect(await namesIn(folder)).toEqual([]);
  });
});

describe('the file of the days', () => {
  const flat = (row: object): Row =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) =>
        typeof value === 'object'
          ? Object.entries(value).map(([currency, sum]) => [`${name} ${currency}`, String(sum)])
          : [[name, String(value)]],
      ),
    );

  test('has each kept day, and today, with the totals of the database', async () => {
    const { server, ask } = await started();
    const { rows } = await readHistory(server);
    expect(rows).toEqual(expectedDays(ask, [...kept, today], {}).map(flat));
  });
});
