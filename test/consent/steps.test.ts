import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import type { State } from '../../src/state/port.ts';
import {
  Answering,
  announcingJournal,
  answerSlowly,
  anyOpportunity,
  editRecord,
  openOverService,
  openWriter,
  personAnswers,
  recordOf,
  reportOf,
  sandboxToWrite,
  type Writer,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { addressIn, type Sandbox, startSandbox } from '../support/sandbox.ts';
import { newFolder } from '../support/shared.ts';
import { hold, until } from '../support/until.ts';

const { at, opportunity, another, now, puts } = sandboxToWrite('Step by step');

test.each(['modern', 'legacy'] as const)(
  'a record that changes while the person is asked is not written, and the new difference is shown (%s)',
  async (era) => {
    const answering = new Answering();
    const it = await openWriter(await at(), { era, person: answering.person });
    const [args, { externalIdentifier }] = [await another(), await opportunity()];
    const sent = (await puts()) + 1;
    answering.next = answerSlowly(async () => {
      await editRecord(await at(), externalIdentifier, { name: `Somebody was faster, ${era}` });
      return personAnswers.accepts();
    });
    const answer = await it.upsert(args);
    expect(answer.outcome).toBe('moved');
    expect(answer.text).toMatch(/^Nothing was written: .* is not as it was when the person agreed/);
    expect(answer.changes).toMatchObject([{ from: `Somebody was faster, ${era}`, to: args.name }]);
    expect(await puts()).toBe(sent);
    answering.next = personAnswers.accepts;
    expect((await it.upsert(args)).outcome).toBe('written');
    expect(answering.asked.at(-1)).toContain(`“Somebody was faster, ${era}” →`);
  },
);

describe('the record changes between the two readings', () => {
  /** Changes the record at the last read before the write. */
  async function movedBy(change: (row: Row) => void) {
    const { upstream, it, puts } = await openOverService();
    const [row] = upstream.records['/opportunity'];
    const path = `/public-api/opportunity/${row?.id}`;
    let reads = 0;
    upstream.set({
      onRequest: (_n, _upstream, request) => {
        if (request.path === path) reads += 1;
        if (request.path === path && reads === 2 && row) change(row);
      },
    });
    const answer = await it.upsert({ opportunity_id: row?.id, name: 'Named anew' });
    return { answer, sent: puts() };
  }

  const notAsAgreed = /^Nothing was written: .* is not as it was when the person agreed/;
  test.each<[what: string, now: Row, why: RegExp]>([
    ['the same field', { name: 'Moved at the last moment' }, notAsAgreed],
    ['another field, which is sent too', { probability: 0.99 }, notAsAgreed],
    ['its time stamp, so that something unknown did', { updatedAt: '2031-01-01' }, notAsAgreed],
    [
      'its external identifier, so that a stray record would be created',
      { externalIdentifier: 'renamed' },
      /external identifier is no longer "opp-0"/,
    ],
  ])('in %s: refused', async (_, now, why) => {
    const { answer, sent } = await movedBy((row) => Object.assign(row, now));
    expect(answer.text).toMatch(why);
    if ('name' in now) expect(answer.changes).toMatchObject([{ from: now.name }]);
    expect(sent).toBe(0);
  });
});

describe('two concurrent calls', () => {
  const person = personAnswers.accepts;
  test.each<[who: string, open: (it: Writer) => Promise<Client>]>([
    ['a host of the modern era', (it) => it.connect({ person })],
    ['a host of the legacy era', (it) => it.connect({ era: 'legacy', person })],
    [
      'another server with the same state folder',
      async ({ folder }) => (await openWriter(await at(), { person, folder })).client,
    ],
  ])('on one record, the second of %s: one writes, the other is refused', async (_, open) => {
    const it = await openWriter(await at(), { person });
    const other = await open(it);
    const [first, second, sent] = [await another(), await another(), await puts()];
    const name = 'cpq_upsert_opportunity';
    const answers = await Promise.all([
      it.upsert(first),
      other.callTool({ name, arguments: second }).then(reportOf),
    ]);
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['moved', 'written']);
    expect(await puts()).toBe(sent + 1);
    const won = answers.find(({ outcome }) => outcome === 'written');
    expect((await now()).name).toBe(won?.changes[0]?.to);
  });

  test.each(['finds', 'does not find'])(
    'that create the same record where search %s external identifiers: one creates it',
    async (how) => {
      const { upstream, it } = await openOverService();
      upstream.set({
        onRequest: (_n, _upstream, { query }) => {
          if (how !== 'finds' && query.has('query')) query.set('query', 'finds nothing at all');
        },
      });
      const answers = await Promise.all(
        ['One', 'Other'].map((name) => it.upsert({ external_id: 'ASK-1', create: true, name })),
      );
      expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['written', undefined]);
      if (how === 'finds')
        expect(answers.map(({ text }) => text).join()).toMatch(
          /is taken, so nothing new would be made/,
        );
      const made = upstream.records['/opportunity'].filter(
        (row) => row.externalIdentifier === 'ASK-1',
      );
      expect(made).toHaveLength(1);
    },
  );
});

test('nothing is written where another process may have begun to write', async () => {
  const folder = newFolder();
  const lost: State['runExclusive'] = (_, work) => work(async () => false);
  const state = { ...localState(folder), runExclusive: lost };
  const { it, puts } = await openOverService({ folder, state });
  const { text } = await it.upsert({ external_id: 'opp-3', name: 'Named anew' });
  expect(text).toMatch(/^Nothing was written\. Another process may be writing meanwhile/);
  expect([puts(), await it.journal()]).toEqual([0, []]);
});

describe('a cancelled call', () => {
  /**
   * Cancels the call when the service receives this request, and continues once the server has received the
   * cancellation.
   */
  async function cancelAt(
    era: 'modern' | 'legacy',
    which: (method: string, reads: number) => boolean,
  ) {
    const { upstream, it, puts } = await openOverService({ era });
    const rename = { opportunity_id: upstream.records['/opportunity'][0]?.id, name: 'Named anew' };
    const stop = new AbortController();
    let reads = 0;
    const { held, release } = hold();
    upstream.set({
      onRequest: (_n, _upstream, { method, path }) => {
        if (path.endsWith(`/${rename.opportunity_id}`)) reads += 1;
        if (stop.signal.aborted || !which(method, reads)) return undefined;
        stop.abort();
        return held;
      },
    });
    await expect(it.upsert(rename, stop.signal)).rejects.toThrow();
    // When this call is answered, the server has received the cancellation before it.
    await it.call('cpq_list_changes', {});
    release();
    return { it, puts, upstream };
  }

  const eras = ['modern', 'legacy'] as const;
  test.each(
    eras.flatMap((era) => [
      ['before the person is asked', era, 1] as const,
      ['after the person agreed', era, 2] as const,
    ]),
  )('%s (%s): nothing is written', async (_, era, last) => {
    const { it, puts } = await cancelAt(era, (method, reads) => method === 'GET' && reads === last);
    await it.call('cpq_list_changes', {});
    expect(puts()).toBe(0);
    expect(await it.journal()).toEqual([]);
  });

  test.each(eras)(
    'while it is written (%s): it is completed and recorded in the journal',
    async (era) => {
      const { it, puts, upstream } = await cancelAt(era, (method) => method === 'PUT');
      await until(async () => (await it.journal()).map(({ phase }) => phase)).toEqual([
        'sending',
        'done',
      ]);
      expect((await it.journal()).at(-1)).toMatchObject({ outcome: 'written' });
      expect(puts()).toBe(1);
      expect(upstream.records['/opportunity'][0]?.name).toBe('Named anew');
      const { records } = (await it.call('cpq_list_changes', {})).data as { records: Row[] };
      expect(records).toMatchObject([{ outcome: 'written' }]);
    },
  );

  test('after the intent: it is too late', async () => {
    const [folder, stop] = [newFolder(), new AbortController()];
    const state = announcingJournal(localState(folder), async () => stop.abort());
    const { it, puts } = await openOverService({ folder, state });
    const rename = { external_id: 'opp-0', name: 'Named anew' };
    await expect(it.upsert(rename, stop.signal)).rejects.toThrow();
    await until(async () => (await it.journal()).at(-1)).toMatchObject({ outcome: 'written' });
    expect(puts()).toBe(1);
  });
});

/** The record without the times of its changes. */
const settled = ({ updatedAt, stageUpdatedAt, ...rest }: Row): Row => rest;

async function changed(own: Sandbox, args: Row): Promise<{ before: Row; after: Row }> {
  const address = addressIn(own, 'all');
  const it = await openWriter(address, { person: personAnswers.accepts });
  const { id } = await anyOpportunity(address);
  const before = await recordOf(address, id);
  const answer = await it.upsert({ opportunity_id: id, ...args });
  expect(answer).toMatchObject({ outcome: 'written' });
  expect(answer.data.differs).toBeUndefined();
  return { before, after: await recordOf(address, id) };
}

describe('the stored record', () => {
  test('is the same whether the service keeps or clears what is left out', async () => {
    const stored = { keep: [] as Row[], clear: [] as Row[] };
    for (const upsertOmitted of ['keep', 'clear'] as const) {
      const own = await startSandbox({ scale: 0.1, upsertOmitted, now: new Date('2026-06-01') });
      const { database, tenants } = own;
      const sql = 'update opportunity set monthlyChurn = 12.5 where tenant = ?';
      database.prepare(sql).run(tenants[0].name);
      for (const args of [
        { name: 'Only a name' },
        { probability: 0.33, expected_close_date: '2031-05-06' },
        { custom_fields: ['region=Overseas', 'note=a=b'] },
      ]) {
        const { before, after } = await changed(own, args);
        expect(before.monthlyChurn).toBe(12.5);
        const kept = Object.keys(settled(before)).filter((name) => name !== 'customFields');
        expect(Object.keys(after)).toEqual(expect.arrayContaining(kept));
        stored[upsertOmitted].push(settled(after));
      }
    }
    expect(stored.keep).toEqual(stored.clear);
    expect(stored.keep.at(-1)).toMatchObject({ customFields: { note: 'a=b' } });
  });

  test('is the same after a change and its way back, kept or cleared', async () => {
    for (const upsertOmitted of ['keep', 'clear'] as const) {
      const own = await startSandbox({ scale: 0.1, upsertOmitted });
      const address = addressIn(own, 'all');
      const it = await openWriter(address, { person: personAnswers.accepts });
      const { id } = await anyOpportunity(address);
      const before = await recordOf(address, id);
      const args = {
        name: 'x',
        description: 'y',
        probability: 0.01,
        onetime_revenue: 7,
        value_months: 1,
        start_date: '2031-01-01',
        expected_close_date: '2031-01-02',
        custom_fields: ['new=1', 'region='],
      };
      const { change_id } = await it.upsert({ opportunity_id: id, ...args });
      expect((await it.revert(change_id)).outcome).toBe('written');
      const after = await recordOf(address, id);
      const { new: emptied, ...custom } = after.customFields as Row;
      expect(emptied ?? null).toBeNull();
      expect(settled({ ...after, customFields: custom })).toEqual(settled(before));
    }
  });
});

test('a stage that closes the deal or opens it again is as agreed, and the answer says so', async () => {
  const it = await openWriter(await at(), { person: personAnswers.accepts });
  const { id } = await opportunity();
  for (const [stage, now] of [
    ['Discovery', 'open'],
    ['Lost', 'lost'],
    ['Won', 'won'],
  ]) {
    const answer = await it.upsert({ opportunity_id: id, stage });
    expect(answer.data.summary).toMatch(new RegExp(`^Written: .*, which is now ${now}\\.`));
    expect(answer.data).not.toHaveProperty('differs');
  }
});

describe('a field that changes unexpectedly', () => {
  /** A service that computes a new score with every write. */
  async function scoring(behaviour: object) {
    const { upstream, it, puts } = await openOverService();
    const [row = {}] = upstream.records['/opportunity'];
    Object.defineProperty(row, 'riskScore', { enumerable: true, get: puts });
    upstream.set(behaviour);
    return it.upsert({ external_id: 'opp-0', description: 'They ask for more' });
  }

  test('is reported first, also where this server never writes it', async () => {
    const answer = await scoring({});
    expect(answer.outcome).toBe('written');
    expect(answer.data.summary).toMatch(
      /^Written, but not as agreed: changed without being asked for: riskScore\./,
    );
    expect(answer.data.differs).toEqual([{ field: 'riskScore', intended: '0', stored: '1' }]);
  });

  test('makes a confirmed write without other effects a partial one', async () => {
    const answer = await scoring({ write: 'unapplied' });
    expect(answer.outcome).toBe('written');
    expect(answer.data.summary).toMatch(
      /^Written, but not as agreed: .*riskScore; stored differently: description\./,
    );
  });
});
