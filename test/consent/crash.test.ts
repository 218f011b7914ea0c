import { expect, test } from 'vitest';
import type { Person } from '../support/clients.ts';
import {
  answerNever,
  type CallReport,
  journalIn,
  personAnswers,
  reportOf,
} from '../support/consent.ts';
import { type Connection, everything, modernStdio, open, type Row } from '../support/hosts.ts';
import { closing, newFolder } from '../support/shared.ts';
import { hold, polling } from '../support/until.ts';
import { limit, type Upstream } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { writeFaults } from '../support/upstream/write-faults.ts';

const rename = { external_id: 'opp-3', name: 'Named anew' };

interface Scene {
  upstream: Upstream;
  folder: string;
  /** Starts a server with the same state folder, as a host does after the other one ended. */
  start(person?: Person): Promise<Connection>;
}

async function scene(): Promise<Scene> {
  const upstream = closing(await startUpstream({ counts: { '/opportunity': 12 } }));
  const folder = newFolder();
  const start = (person: Person = personAnswers.accepts) =>
    open({ at: upstream, on: modernStdio, ...everything, person, folder });
  return { upstream, folder, start };
}

async function kill({ process }: Connection): Promise<void> {
  process.kill('SIGKILL');
  await process.exited;
}

const record = ({ upstream }: Scene): Row =>
  upstream.records['/opportunity'].find((it) => it.externalIdentifier === 'opp-3') ?? {};
const puts = ({ upstream }: Scene): number =>
  upstream.requests.filter(({ method }) => method === 'PUT').length;
const phases = async ({ folder }: Scene) => (await journalIn(folder)).map(({ phase }) => phase);
const call = async (it: Connection, name: string, args: Row = {}): Promise<CallReport> =>
  reportOf((await it.ask(name, args)).result);
const listed = async (it: Connection): Promise<Row[]> =>
  (await call(it, 'cpq_list_changes')).data.records as Row[];
const revert = async (it: Connection): Promise<CallReport> =>
  call(it, 'cpq_revert_change', { change_id: (await listed(it))[0]?.change_id });

test('killed while the person is asked: no intent in the journal, nothing written', async () => {
  const it = await scene();
  const asked = hold();
  const first = await it.start((question) => {
    asked.release();
    return answerNever(question);
  });
  first.ask('cpq_upsert_opportunity', rename).catch(() => {});
  await asked.held;
  await kill(first);
  expect(await listed(await it.start())).toEqual([]);
  expect(puts(it)).toBe(0);
});

test('killed after the intent, nothing stored: outcome unknown, the record is unchanged', async () => {
  const it = await scene();
  const before = { ...record(it) };
  const first = await it.start();
  const reached = new Promise<void>((resolve) => {
    it.upstream.set({
      onRequest: (_n, _upstream, { method }) => {
        if (method !== 'PUT') return undefined;
        resolve();
        return new Promise(() => {});
      },
    });
  });
  first.ask('cpq_upsert_opportunity', rename).catch(() => {});
  await reached;
  await kill(first);
  it.upstream.set({ onRequest: undefined });
  expect(await phases(it)).toEqual(['sending']);
  expect(record(it)).toEqual(before);
  const again = await it.start();
  expect(await listed(again)).toMatchObject([
    { outcome: 'cannot_tell', record_now: 'is as before', consent: 'asked' },
  ]);
  expect((await revert(again)).outcome).toBe('no_change');
  // Another change after the crash is reported, and nothing is reverted.
  record(it).name = 'Somebody else’s';
  expect(await listed(again)).toMatchObject([{ record_now: 'holds other values' }]);
  const refused = await revert(again);
  expect(refused).toMatchObject({ isError: true });
  expect(refused.text).toMatch(/This opportunity was changed since[\s\S]*Somebody else’s/);
  expect(puts(it)).toBe(1);
  // The same request again needs another consent, and writes again.
  expect((await call(again, 'cpq_upsert_opportunity', rename)).outcome).toBe('written');
  expect(record(it).name).toBe(rename.name);
});

test('killed before the answer to the write: outcome unknown, the record is changed', async () => {
  const it = await scene();
  const { name } = record(it);
  const first = await it.start();
  it.upstream.set(limit(writeFaults['hang-after-applying'], { method: 'PUT' }));
  first.ask('cpq_upsert_opportunity', rename).catch(() => {});
  await expect.poll(() => record(it).name, polling).toBe(rename.name);
  await kill(first);
  it.upstream.set({ cut: undefined });
  expect(await phases(it)).toEqual(['sending']);
  const again = await it.start();
  expect(await listed(again)).toMatchObject([
    { outcome: 'cannot_tell', record_now: 'holds the change' },
  ]);
  expect((await call(again, 'cpq_upsert_opportunity', rename)).outcome).toBe('no_change');
  expect((await revert(again)).outcome).toBe('written');
  expect(record(it).name).toBe(name);
  expect(await listed(again)).toMatchObject([
    { what: 'revert', outcome: 'written' },
    { outcome: 'cannot_tell', record_now: 'is as before', reverted_by: expect.any(String) },
  ]);
});
