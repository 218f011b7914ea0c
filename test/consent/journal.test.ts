import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { journalFile } from '../../src/state/files/json-files.ts';
import { localState } from '../../src/state/files/local.ts';
import {
  announcingJournal,
  type CallReport,
  journalIn,
  openWriter,
  personAnswers,
  sandboxToWrite,
  type Writer,
  type WriterOptions,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { newFolder, shared } from '../support/shared.ts';

const { at, opportunity, another, puts } = sandboxToWrite('Journaled');
const posix = process.platform !== 'win32';

const open = async (options: WriterOptions = {}): Promise<Writer> =>
  openWriter(await at(), { person: personAnswers.accepts, ...options });
const rename = async (it: Writer): Promise<CallReport> => it.upsert(await another());
const listed = async (it: Writer, args: Row = {}): Promise<Row[]> =>
  (await it.call('cpq_list_changes', args)).data.records as Row[];
const fileIn = async (folder: string): Promise<string> => {
  const [name = ''] = (await readdir(folder)).filter((it) => it.startsWith('changes-'));
  return join(folder, name);
};

describe('the journal', () => {
  test.runIf(posix)('is readable by its owner only, and so is its folder', async () => {
    const folder = join(newFolder(), 'made', 'when needed');
    await rename(await open({ folder }));
    expect((await stat(await fileIn(folder))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test('is append-only, and never contains the key', async () => {
    const it = await open();
    await rename(it);
    const before = await readFile(await fileIn(it.folder), 'utf8');
    await rename(it);
    const after = await readFile(await fileIn(it.folder), 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(after).not.toContain((await at()).key);
  });
});

describe('a damaged journal', () => {
  test('with a line torn by a crash keeps the other lines, and the next one is complete', async () => {
    const it = await open();
    await rename(it);
    await appendFile(await fileIn(it.folder), '{"phase":"sending","id":"chg_torn","at":"2026-0');
    const { data, text } = await it.call('cpq_list_changes', {});
    expect(data.records).toHaveLength(1);
    expect(data.coverage).toMatchObject({
      complete: false,
      reason: 'unreadable lines in the journal',
    });
    expect(text).toContain('unreadable lines');
    await rename(it);
    expect(await listed(it)).toMatchObject([{ outcome: 'written' }, { outcome: 'written' }]);
  });

  test('with lines that are not entries keeps the others', async () => {
    const it = await open();
    await rename(it);
    const lines = ['null', '[]', '"text"', '{}', '{"phase":"sending","id":"chg_1"}'];
    await appendFile(await fileIn(it.folder), `${lines.join('\n')}\n{"phase":"done"}\n`);
    const { data } = await it.call('cpq_list_changes', {});
    expect(data.records).toHaveLength(1);
    expect(data.coverage).toMatchObject({ complete: false, read: 1, total: 7 });
    expect((await rename(it)).outcome).toBe('written');
  });
});

describe('a journal that cannot be written', () => {
  test('prevents any write', async () => {
    const folder = join(newFolder(), 'a file in the way');
    await writeFile(folder, '');
    const [it, sent] = [await open({ folder }), await puts()];
    const answer = await rename(it);
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toMatch(
      /^Nothing was written\. The journal of changes cannot be (read|kept) \(\w+\)\. .*CPQ_STATE_DIR/,
    );
    expect(await puts()).toBe(sent);
  });

  test('from the intent on: nothing is sent', async () => {
    const folder = newFolder();
    const state = announcingJournal(localState(folder), async () => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    });
    const [it, sent] = [await open({ folder, state }), await puts()];
    const answer = await rename(it);
    expect(answer.text).toMatch(/^Nothing was written\. .*cannot be written \(ENOSPC\)/);
    expect(await puts()).toBe(sent);
  });

  test('from the write on: it is written, and the answer says that it is not recorded', async () => {
    const folder = newFolder();
    const real = localState(folder);
    const journal: typeof real.journal = (tenant) => {
      const kept = real.journal(tenant);
      return {
        read: () => kept.read(),
        append: (entry) =>
          entry.phase === 'done' ? Promise.reject(new Error('full')) : kept.append(entry),
      };
    };
    const it = await open({ folder, state: { ...real, journal } });
    const answer = await rename(it);
    expect(answer.outcome).toBe('written');
    expect(answer.text).toMatch(/outcome of this change could not be recorded/);
    expect(await listed(it)).toMatchObject([
      { outcome: 'cannot_tell', record_now: 'holds the change' },
    ]);
    // Of more of them only the newest are read again.
    for (let at = 0; at < 5; at += 1) await rename(it);
    const read = (await listed(it)).map(({ record_now }) => record_now !== undefined);
    expect(read).toEqual([true, true, true, true, true, false]);
  });

  test('or read is reported, not listed as empty', async () => {
    const folder = newFolder();
    const it = await open({ folder });
    await rename(it);
    const path = await fileIn(folder);
    await writeFile(path, '');
    await mkdir(`${path}.d`);
    const broken = journalFile(`${path}.d`);
    await expect(broken.read()).rejects.toThrow();
    const answer = await (
      await open({ state: { ...localState(folder), journal: () => broken } })
    ).call('cpq_list_changes', {});
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toMatch(/cannot be read \(EISDIR\)/);
  });
});

describe('cpq_list_changes', () => {
  const history = shared(async () => {
    const it = await open();
    await rename(it);
    await it.upsert({ external_id: 'LISTED-1', create: true, name: 'Listed' });
    await rename(it);
    return it;
  });

  test('lists changes of one opportunity, by id or external identifier', async () => {
    const it = await history();
    const [, made] = await listed(it);
    for (const wanted of ['LISTED-1', made?.opportunity_id]) {
      const { records, page } = (await it.call('cpq_list_changes', { opportunity: wanted })).data;
      expect([records, page]).toEqual([[made], { shown: 1, from: 0, total: 1 }]);
    }
    expect(await listed(it, { opportunity: (await opportunity()).id })).toHaveLength(2);
    expect(await listed(it, { opportunity: 'nothing' })).toEqual([]);
  });

  test('lists changes of a period', async () => {
    const it = await history();
    const day = (offset: number) =>
      new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
    expect(await listed(it, { since: day(-1), until: day(0) })).toHaveLength(3);
    expect(await listed(it, { since: day(1) })).toEqual([]);
    expect(await listed(it, { until: day(-1) })).toEqual([]);
  });

  test.each([
    [{ since: 'yesterday' }, 'since: must be a date that exists, as YYYY-MM-DD.'],
    [{ until: '2026-02-30' }, 'until: must be a date that exists, as YYYY-MM-DD.'],
    [{ since: '2026-03-02', until: '2026-03-01' }, 'since: must not be after until.'],
  ])('refuses a period that is none: %j', async (args, message) => {
    const it = await history();
    const { isError, text } = await it.call('cpq_list_changes', args);
    expect({ isError, text }).toEqual({ isError: true, text: message });
  });

  test('lists changes a page at a time, newest first', async () => {
    const it = await history();
    const all = await listed(it);
    expect(all.map(({ what }) => what)).toEqual(['change', 'create', 'change']);
    const first = await it.call('cpq_list_changes', { size: 2 });
    expect(first.data.page).toEqual({ shown: 2, from: 0, total: 3, next: 2 });
    expect(await listed(it, { size: 2, from: 2 })).toEqual(all.slice(2));
  });

  test('says that there are none', async () => {
    const { text } = await (await open()).call('cpq_list_changes', {});
    expect(text).toMatch(/^No changes\.[\s\S]*Only what this server wrote is listed/);
  });
});

describe('the hourly limit of writes', () => {
  test('counts reverts too, and is shared by servers with one state folder', async () => {
    const folder = newFolder();
    const { change_id } = await rename(await open({ folder, rules: { perHour: 2 } }));
    const second = await open({ folder, rules: { perHour: 2 } });
    expect((await second.revert(change_id)).outcome).toBe('written');
    const third = await open({ folder, rules: { perHour: 2 } });
    expect((await rename(third)).text).toMatch(/limit of 2 writes an hour/);
    expect(await journalIn(folder)).toHaveLength(4);
  });

  test('is not exceeded by concurrent calls', async () => {
    const it = await open({ rules: { perHour: 2 } });
    const sent = await puts();
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((n) =>
        it.upsert({ external_id: `HOURLY-${n}`, create: true, name: `Hourly ${n}` }),
      ),
    );
    expect(answers.filter(({ outcome }) => outcome === 'written')).toHaveLength(2);
    expect(await puts()).toBe(sent + 2);
    for (const { isError, text } of answers.filter(({ outcome }) => outcome !== 'written'))
      expect([isError, text]).toEqual([
        true,
        expect.stringMatching(/limit of 2 writes an hour is reached\. .* in (59|60) minutes/),
      ]);
  });
});

test('a field that the operator does not allow is not reverted', async () => {
  const folder = newFolder();
  const { change_id } = await rename(await open({ folder }));
  const strict = await open({ folder, rules: { fields: new Set(['probability']) } });
  expect((await strict.revert(change_id)).text).toMatch(/does not let agents write name/);
});
