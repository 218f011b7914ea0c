import { beforeEach, describe, expect, test } from 'vitest';
import {
  Answering,
  anyOpportunity,
  editRecord,
  hangingLimits,
  type Opportunity,
  openWriter,
  personAnswers,
  putsOf,
  recordOf,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';
import { limit } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { writeFaults } from '../support/upstream/write-faults.ts';

const sandbox = shared(() => startSandbox({ scale: 0.2 }));
const at = async () => addressIn(await sandbox(), 'all');
const puts = async () => (await putsOf(await sandbox())).length;
const answering = new Answering();
const writer = shared(async () => openWriter(await at(), { person: answering.person }));

let opportunity: Opportunity;
beforeEach(async () => {
  opportunity = await anyOpportunity(await at());
  answering.next = personAnswers.accepts;
});

const now = async () => recordOf(await at(), opportunity.id);
/** An edit by another person; the API requires the name. */
const edit = async (body: Row) =>
  editRecord(await at(), opportunity.externalIdentifier, { name: (await now()).name, ...body });

let count = 0;
/** Makes a change that can be reverted. @returns its id */
async function changed(args?: Row): Promise<string> {
  count += 1;
  const wanted = args ?? { name: `To be taken back ${count}` };
  const { outcome, change_id } = await (await writer()).upsert({
    opportunity_id: opportunity.id,
    ...wanted,
  });
  expect(outcome).toBe('written');
  return change_id;
}

async function refused(changeId: string): Promise<string> {
  const [it, sent, asked] = [await writer(), await puts(), answering.asked.length];
  const answer = await it.revert(changeId);
  expect(answer).toMatchObject({ isError: true });
  expect(answer.text).toMatch(/^Nothing was written\. /);
  expect(await puts()).toBe(sent);
  expect(answering.asked).toHaveLength(asked);
  return answer.text;
}

describe('reverting a change', () => {
  test('happens once the person agreed, and both changes refer to each other', async () => {
    const { name } = await now();
    const id = await changed();
    const sent = await puts();
    const answer = await (await writer()).revert(id);
    expect(answer).toMatchObject({ outcome: 'written', isError: false });
    expect(answering.asked.at(-1)).toMatch(/^Take back a change to the opportunity/);
    expect(answering.asked.at(-1)).toContain(`→ “${name}”`);
    expect((await now()).name).toBe(name);
    expect(await puts()).toBe(sent + 1);
    const { records } = (await (await writer()).call('cpq_list_changes', {})).data;
    expect(records).toMatchObject(
      [
        { what: 'revert', change_id: answer.change_id, reverts: id },
        { change_id: id, reverted_by: answer.change_id },
      ].concat((records as never[]).slice(2)),
    );
  });

  test('restores every kind of field', async () => {
    const before = await now();
    const id = await changed({
      description: 'Something else',
      probability: 0.02,
      onetime_revenue: 7,
      value_months: 1,
      start_date: '2031-01-01',
      expected_close_date: '2031-01-02',
      custom_fields: ['region=Elsewhere', 'made=now'],
    });
    expect((await (await writer()).revert(id)).outcome).toBe('written');
    const { updatedAt, customFields, ...after } = await now();
    const { made, ...custom } = customFields as Row;
    expect(made ?? null).toBeNull();
    const { updatedAt: _, customFields: theirs, ...rest } = before;
    expect(after).toEqual(rest);
    expect(custom).toEqual(theirs);
  });

  test('happens once; the revert can be reverted', async () => {
    const id = await changed();
    const { name } = await now();
    const { change_id } = await (await writer()).revert(id);
    expect(await refused(id)).toContain(`reverted already, by ${change_id}`);
    // Another person set the same value again, so it is now their change.
    await edit({ name });
    expect(await refused(id)).toContain('reverted already');
    await edit({ name: (await recordedBefore(id)) ?? '' });
    expect((await (await writer()).revert(change_id)).outcome).toBe('written');
    expect((await now()).name).toBe(name);
  });

  const recordedBefore = async (id: string): Promise<string | undefined> => {
    const entry = (await (await writer()).journal()).find((line) => line.id === id);
    return (entry?.before as { name: string } | undefined)?.name;
  };
});

test('a revert to a company that was deleted is refused', async () => {
  const { database, tenants } = await sandbox();
  const sql = 'select id from company where tenant = ? and id <> ? and deleted is null';
  const [other] = database.prepare(sql).all(tenants[0].name, opportunity.company.id) as Row[];
  const id = await changed({ company: other?.id });
  const mark = (at: string | null) =>
    database.prepare('update company set deleted = ? where id = ?').run(at, opportunity.company.id);
  mark('2026-01-01T00:00:00Z');
  expect(await refused(id)).toMatch(/The company ".*" has been deleted/);
  mark(null);
  expect((await (await writer()).revert(id)).outcome).toBe('written');
});

describe('a change of unknown outcome', () => {
  async function undecided(name: 'hang-before-reading' | 'reset-after-applying') {
    const upstream = closing(await startUpstream({ counts: { '/opportunity': 12 } }));
    const it = await openWriter(
      { baseUrl: upstream.url, key: 'any' },
      { person: personAnswers.accepts, tenant: { limits: hangingLimits } },
    );
    const before = { ...upstream.records['/opportunity'][1] };
    upstream.set({
      ...limit(writeFaults[name], { method: 'PUT' }),
      onRequest: (_n, _upstream, { method }) => {
        if (method === 'PUT') upstream.set(limit({ status: { code: 500 } }, { method: 'GET' }));
      },
    });
    const { outcome, change_id } = await it.upsert({ external_id: 'opp-1', name: 'Who knows' });
    expect(outcome).toBe('cannot_tell');
    upstream.reset();
    const record = () => upstream.records['/opportunity'][1];
    return { upstream, it, change_id, before, record };
  }

  test('that was not stored has nothing to revert', async () => {
    const { upstream, it, change_id } = await undecided('hang-before-reading');
    expect((await it.revert(change_id)).outcome).toBe('no_change');
    expect(upstream.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  test('that was stored can be reverted', async () => {
    const { it, change_id, before, record } = await undecided('reset-after-applying');
    expect(record()?.name).toBe('Who knows');
    expect((await it.revert(change_id)).outcome).toBe('written');
    expect(record()?.name).toBe(before.name);
  });
});
