import { describe, expect, test } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import {
  Answering,
  announcingJournal,
  answerSlowly,
  anyOpportunity,
  editRecord,
  openWriter,
  personAnswers,
  putsOf,
  recordOf,
  reportOf,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { addressIn, askService, type Sandbox, startSandbox } from '../support/sandbox.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const sandbox = shared(() => startSandbox({ scale: 0.2 }));
const at = async () => addressIn(await sandbox(), 'all');
const puts = async () => (await putsOf(await sandbox())).length;
const fresh = async () => {
  const address = await at();
  const { id } = await anyOpportunity(address);
  return (await recordOf(address, id)) as Row & { id: string; name: string };
};

let count = 0;
const newName = () => {
  count += 1;
  return `Step by step ${count}`;
};
const newId = () => `STEP-${newName().replaceAll(' ', '-')}`;

describe.each(['modern', 'legacy'] as const)('the record changes (%s)', (era) => {
  const answering = new Answering();
  const writer = shared(async () => openWriter(await at(), { era, person: answering.person }));

  test('while the person is asked: nothing is written, and the new difference is shown', async () => {
    const [it, before] = [await writer(), await fresh()];
    const sent = (await puts()) + 1;
    answering.next = answerSlowly(async () => {
      await editRecord(await at(), before.externalIdentifier, { name: 'Somebody was faster' });
      return personAnswers.accepts();
    });
    const name = newName();
    const answer = await it.upsert({ opportunity_id: before.id, name });
    expect(answer.outcome).toBe('moved');
    expect(answer.text).toMatch(/^Nothing was written: .* is not as it was when the person agreed/);
    expect(answer.changes).toMatchObject([{ from: 'Somebody was faster', to: name }]);
    expect(await puts()).toBe(sent);
    answering.next = personAnswers.accepts;
    expect((await it.upsert({ opportunity_id: before.id, name })).outcome).toBe('written');
    expect(answering.asked.at(-1)).toContain('“Somebody was faster” →');
  });

  test('and already has the wanted values: nothing to write', async () => {
    const [it, before, name] = [await writer(), await fresh(), newName()];
    const sent = (await puts()) + 1;
    answering.next = answerSlowly(async () => {
      await editRecord(await at(), before.externalIdentifier, { name });
      return personAnswers.accepts();
    });
    expect((await it.upsert({ opportunity_id: before.id, name })).outcome).toBe('no_change');
    expect(await puts()).toBe(sent);
  });

  test('and is deleted', async () => {
    const it = await writer();
    const external_id = newId();
    answering.next = personAnswers.accepts;
    await it.upsert({ external_id, create: true, name: newName() });
    const sent = await puts();
    answering.next = answerSlowly(async () => {
      const { database } = await sandbox();
      const sql = 'update opportunity set deletedAt = ? where externalIdentifier = ?';
      database.prepare(sql).run('2026-01-01T00:00:00Z', external_id);
      return personAnswers.accepts();
    });
    const answer = await it.upsert({ external_id, name: newName() });
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toMatch(/^Nothing was written\. This opportunity has been deleted/);
    expect(await puts()).toBe(sent);
  });
});

describe('the record changes between the two readings', () => {
  /** Changes the record at the last read before the write. */
  async function movedBy(change: (row: Row) => void) {
    const upstream = closing(await startUpstream({ counts: { '/opportunity': 12 } }));
    const [row] = upstream.records['/opportunity'];
    const path = `/public-api/opportunity/${row?.id}`;
    let reads = 0;
    upstream.set({
      onRequest: (_n, _upstream, request) => {
        if (request.path === path) reads += 1;
        if (request.path === path && reads === 2 && row) change(row);
      },
    });
    const it = await openWriter(
      { baseUrl: upstream.url, key: 'any' },
      { person: personAnswers.accepts },
    );
    const answer = await it.upsert({ opportunity_id: row?.id, name: 'Named anew' });
    const sent = upstream.requests.filter(({ method }) => method === 'PUT');
    return { answer, sent };
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
    expect(sent).toEqual([]);
  });
});

describe('two concurrent calls', () => {
  test.each([[['modern', 'legacy']], [['modern', 'modern']]] as const)(
    'on one record (%j): one writes, the other is refused',
    async ([one, two]) => {
      const it = await openWriter(await at(), { era: one, person: personAnswers.accepts });
      const other = await it.another({ era: two, person: personAnswers.accepts });
      const [{ id }, sent] = [await fresh(), await puts()];
      const [first, second] = await Promise.all([
        it.upsert({ opportunity_id: id, name: newName() }),
        other
          .callTool({
            name: 'cpq_upsert_opportunity',
            arguments: { opportunity_id: id, name: newName() },
          })
          .then(reportOf),
      ]);
      expect([first.outcome, second.outcome].sort()).toEqual(['moved', 'written']);
      expect(await puts()).toBe(sent + 1);
      const won = first.outcome === 'written' ? first : second;
      expect((await recordOf(await at(), id)).name).toBe(won.changes[0]?.to);
    },
  );

  test('that create the same record: one creates it, the other is refused', async () => {
    const it = await openWriter(await at(), { person: personAnswers.accepts });
    const [external_id, sent] = [newId(), await puts()];
    const answers = await Promise.all(
      ['One', 'Other'].map((name) => it.upsert({ external_id, create: true, name })),
    );
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['written', undefined]);
    expect(answers.map(({ text }) => text).join()).toMatch(
      /is taken, so nothing new would be made/,
    );
    expect(await puts()).toBe(sent + 1);
  });

  test('that create the same record where search does not find external identifiers', async () => {
    const upstream = closing(await startUpstream({ counts: { '/opportunity': 12 } }));
    const hide = ({ query }: { query: URLSearchParams }) => query.has('query');
    upstream.set({
      onRequest: (_n, _upstream, request) => {
        if (hide(request)) request.query.set('query', 'finds nothing at all');
      },
    });
    const it = await openWriter(
      { baseUrl: upstream.url, key: 'any' },
      { person: personAnswers.accepts },
    );
    const answers = await Promise.all(
      ['One', 'Other'].map((name) => it.upsert({ external_id: 'ASK-1', create: true, name })),
    );
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['written', undefined]);
    const made = upstream.records['/opportunity'].filter((it) => it.externalIdentifier === 'ASK-1');
    expect(made).toHaveLength(1);
  });
});

describe('a cancelled call', () => {
  const slowUpstream = async () => {
    const upstream = closing(await startUpstream({ counts: { '/opportunity': 12 } }));
    const sent = () => upstream.requests.filter(({ method }) => method === 'PUT');
    const opportunity_id = upstream.records['/opportunity'][0]?.id;
    return { upstream, sent, rename: { opportunity_id, name: 'Named anew' } };
  };

  /**
   * Cancels the call when the service receives this request, and continues once the server has received the
   * cancellation.
   */
  async function cancelAt(
    era: 'modern' | 'legacy',
    which: (method: string, reads: number) => boolean,
  ) {
    const { upstream, sent, rename } = await slowUpstream();
    const stop = new AbortController();
    let reads = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.set({
      onRequest: (_n, _upstream, { method, path }) => {
        if (path.endsWith(`/${rename.opportunity_id}`)) reads += 1;
        if (stop.signal.aborted || !which(method, reads)) return undefined;
        stop.abort();
        return released;
      },
    });
    const it = await openWriter(
      { baseUrl: upstream.url, key: 'any' },
      { era, person: personAnswers.accepts },
    );
    await expect(it.upsert(rename, stop.signal)).rejects.toThrow();
    // When this call is answered, the server has received the cancellation before it.
    await it.call('cpq_list_changes', {});
    release();
    return { it, sent, upstream };
  }

  test.each(['modern', 'legacy'] as const)('before the person is asked (%s)', async (era) => {
    const { it, sent } = await cancelAt(era, (method, reads) => method === 'GET' && reads === 1);
    await it.call('cpq_list_changes', {});
    expect(sent()).toEqual([]);
    expect(await it.journal()).toEqual([]);
  });

  test.each(['modern', 'legacy'] as const)('after the person agreed (%s)', async (era) => {
    const { it, sent } = await cancelAt(era, (method, reads) => method === 'GET' && reads === 2);
    await it.call('cpq_list_changes', {});
    expect(sent()).toEqual([]);
    expect(await it.journal()).toEqual([]);
  });

  test.each(['modern', 'legacy'] as const)(
    'while it is written (%s): it is completed and recorded in the journal',
    async (era) => {
      const { it, sent, upstream } = await cancelAt(era, (method) => method === 'PUT');
      await until(async () => (await it.journal()).map(({ phase }) => phase)).toEqual([
        'sending',
        'done',
      ]);
      expect((await it.journal()).at(-1)).toMatchObject({ outcome: 'written' });
      expect(sent()).toHaveLength(1);
      expect(upstream.records['/opportunity'][0]?.name).toBe('Named anew');
      const { records } = (await it.call('cpq_list_changes', {})).data as { records: Row[] };
      expect(records).toMatchObject([{ outcome: 'written' }]);
    },
  );

  test('after the intent: it is too late', async () => {
    const { upstream, sent, rename } = await slowUpstream();
    const [folder, stop] = [newFolder(), new AbortController()];
    const state = announcingJournal(localState(folder), async () => stop.abort());
    const it = await openWriter(
      { baseUrl: upstream.url, key: 'any' },
      { folder, state, person: personAnswers.accepts },
    );
    await expect(it.upsert(rename, stop.signal)).rejects.toThrow();
    await until(async () => (await it.journal()).at(-1)).toMatchObject({ outcome: 'written' });
    expect(sent()).toHaveLength(1);
  });
});

/** The record without the times of its changes. */
const settled = ({ updatedAt, stageUpdatedAt, ...rest }: Row): Row => rest;

async function changed(own: Sandbox, args: Row, tenant = 0): Promise<{ before: Row; after: Row }> {
  const { baseUrl, keys } = own.tenants[tenant] ?? own.tenants[0];
  const address = { baseUrl, key: keys.all };
  const it = await openWriter(address, { person: personAnswers.accepts });
  const { id } = await anyOpportunity(address);
  const before = await recordOf(address, id);
  const answer = await it.upsert({ opportunity_id: id, ...args });
  expect(answer).toMatchObject({ outcome: 'written' });
  expect(answer.data.differs).toBeUndefined();
  return { before, after: await recordOf(address, id) };
}

describe('the stored record', () => {
  test.each([
    [{ name: 'Only a name' }],
    [{ probability: 0.33, expected_close_date: '2031-05-06' }],
    [{ custom_fields: ['region=Overseas'] }],
  ])('is the same whether the service keeps or clears what is left out: %j', async (args) => {
    const results: Row[] = [];
    for (const upsertOmitted of ['keep', 'clear'] as const) {
      const own = await startSandbox({ scale: 0.1, upsertOmitted, now: new Date('2026-06-01') });
      const { database, tenants } = own;
      const sql = 'update opportunity set monthlyChurn = 12.5 where tenant = ?';
      database.prepare(sql).run(tenants[0].name);
      const { before, after } = await changed(own, args);
      expect(before.monthlyChurn).toBe(12.5);
      const kept = Object.keys(settled(before)).filter((name) => name !== 'customFields');
      expect(Object.keys(after)).toEqual(expect.arrayContaining(kept));
      results.push(settled(after));
    }
    expect(results[0]).toEqual(results[1]);
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

describe('stored values', () => {
  test('keep their meaning where probabilities are 0–100', async () => {
    const own = await startSandbox({ scale: 0.2, upsertOmitted: 'clear' });
    const touched = await changed(own, { name: 'Not about probability' }, 1);
    expect(touched.before.probability).toBeGreaterThan(1);
    expect(touched.after.probability).toBe(touched.before.probability);
    const set = await changed(own, { probability: 0.29 }, 1);
    expect(set.after.probability).toBe(29);
  });

  test('include every field that the API can write', async () => {
    const own = await startSandbox({ scale: 0.2 });
    const address = addressIn(own, 'all');
    const it = await openWriter(address, { person: personAnswers.accepts });
    const from = await anyOpportunity(address);
    const { results } = (await askService(address, '/contact?size=100')) as { results: Row[] };
    const contact = results.find((one) => one.companyId && !one.deleted);
    const args = {
      name: 'Complete',
      description: 'They ask for everything',
      company: from.company.id,
      contact: contact?.id,
      stage: from.pipelineStage.name,
      probability: 0.5,
      onetime_revenue: 1000.25,
      monthly_revenue: 99.9,
      value_months: 36,
      start_date: '2031-01-31',
      expected_close_date: '2031-03-01',
      custom_fields: ['region=North', 'note=a=b'],
    };
    const { outcome, data } = await it.upsert({
      external_id: 'ALL-1',
      create: true,
      ...args,
    });
    expect(outcome).toBe('written');
    expect(data.differs).toBeUndefined();
    const { id } = data.opportunity as Row;
    expect(await recordOf(address, id)).toMatchObject({
      externalIdentifier: 'ALL-1',
      name: 'Complete',
      description: 'They ask for everything',
      company: { id: from.company.id },
      contact: { id: contact?.id },
      pipelineStage: { id: from.pipelineStage.id },
      probability: 0.5,
      onetimeRevenue: 1000.25,
      monthlyRevenue: 99.9,
      valueMonths: 36,
      startDate: '2031-01-31',
      expectedCloseDate: '2031-03-01',
      customFields: { region: 'North', note: 'a=b' },
    });
  });
});

test('a stage that closes the deal or opens it again is as agreed, and the answer says so', async () => {
  const it = await openWriter(await at(), { person: personAnswers.accepts });
  const { id } = await fresh();
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
    const upstream = closing(await startUpstream({ counts: { '/opportunity': 12 } }));
    const [row = {}] = upstream.records['/opportunity'];
    const puts = () => upstream.requests.filter(({ method }) => method === 'PUT').length;
    Object.defineProperty(row, 'riskScore', { enumerable: true, get: puts });
    upstream.set(behaviour);
    const it = await openWriter(
      { baseUrl: upstream.url, key: 'any' },
      { person: personAnswers.accepts },
    );
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
