import { describe, expect, test } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import { parseGrants } from '../../src/tenant/grants.ts';
import {
  Answering,
  openOverService,
  openWriter,
  personAnswers,
  question,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { newFolder } from '../support/shared.ts';
import { serve } from '../support/tenant-server.ts';
import { only, type Upstream, type UpstreamRequest } from '../support/upstream/behaviour.ts';

const at = '2026-11-01T00:00:00Z';
const deal = (id: string, more: Row = {}): Row => ({
  ...{ id, externalIdentifier: id.toUpperCase(), name: `Deal ${id}`, updatedAt: at },
  ...more,
});

/** A writer over these opportunities and companies, with a person who agrees. */
async function open(opportunities: Row[], companies: Row[] = []) {
  const opened = await openOverService({ key: 'the-key-of-this-tenant' });
  Object.assign(opened.upstream.records, {
    '/opportunity': opportunities,
    '/company': companies,
  });
  return opened;
}

const renamed = { name: 'Renamed' };
const call = { name: 'cpq_upsert_opportunity' };

describe('what a service shows of a record beside the changed field', () => {
  const secret = { Region: 'EMEA', Portal: 'https://x.example/?key=the-key-of-this-tenant' };

  test('is not written where a custom field has the key', async () => {
    const { it, bodies } = await open([deal('o1', { customFields: secret })]);
    const answer = await it.upsert({ opportunity_id: 'o1', custom_fields: ['Region=US'] });
    expect(answer.text).toMatch(/^Nothing was written\. Custom fields .* contains the API key/);
    const given = ['Region=US', 'Portal=none'];
    const whole = await it.upsert({ opportunity_id: 'o1', custom_fields: given });
    expect(whole.outcome).toBe('written');
    expect(bodies()).toMatchObject([{ customFields: { Region: 'US', Portal: 'none' } }]);
  });

  test('is not sent as an id where it may be a name', async () => {
    const bare = { company: 'c1', owner: 'Ann Smith', pipelineStage: 'Proposal' };
    const { it, bodies } = await open(
      [deal('o1', bare), deal('o2', bare)],
      [{ id: 'c1', name: 'Acme' }],
    );
    const answer = await it.upsert({ opportunity_id: 'o1', ...renamed });
    expect(answer.text).toMatch(/Owner is "Ann Smith", and the service gives no id for it/);
    expect(bodies()).toEqual([]);
  });

  test('is no company of that name where not all companies could be read', async () => {
    const companies = Array.from({ length: 250 }, (_, at) => ({ id: `c${at}`, name: `C ${at}` }));
    Object.assign(companies[3] ?? {}, { name: 'Acme' });
    Object.assign(companies[240] ?? {}, { name: 'Acme' });
    const { it, upstream, bodies } = await open([deal('o1', { company: 'Acme' })], companies);
    const isBehind = ({ route, query }: UpstreamRequest) =>
      route === '/company' && Number(query.get('from')) > 150;
    upstream.set({ status: only({ code: 500 }, { if: isBehind }) });
    const answer = await it.upsert({ opportunity_id: 'o1', ...renamed });
    expect(answer.text).toMatch(/Company is "Acme", and the service gives no id for it/);
    expect(bodies()).toEqual([]);
  });
});

test('an opportunity that was created a moment ago is not overwritten where the search lags', async () => {
  const { it, upstream, bodies } = await open(
    Array.from({ length: 120 }, (_, at) => deal(`o${at}`)),
  );
  const args = { external_id: 'NEW-1', create: true };
  expect((await it.upsert({ ...args, name: 'First' })).outcome).toBe('written');
  const rows = upstream.records['/opportunity'];
  upstream.records['/opportunity'] = rows.filter((row) => row.externalIdentifier !== 'NEW-1');
  const again = await it.upsert({ ...args, name: 'Second' });
  expect(again.text).toMatch(/"NEW-1" just now, by chg_\w+\. To change that one, leave create out/);
  expect(bodies()).toHaveLength(1);
});

test('a new opportunity that the service refused can be made afterwards', async () => {
  const { it, upstream, bodies } = await open([deal('o1')]);
  const create = { external_id: 'NEW-1', create: true, name: 'First' };
  const isPut = ({ method }: UpstreamRequest) => method === 'PUT';
  upstream.set({ status: only({ code: 400, message: 'Not now' }, { if: isPut }) });
  expect((await it.upsert(create)).outcome).toBe('not_written');
  upstream.set({ status: undefined });
  expect((await it.upsert(create)).outcome).toBe('written');
  expect(bodies()).toHaveLength(2);
});

describe('the scale of probabilities', () => {
  test('is not learnt from a refusal for another reason', async () => {
    const { it, upstream, bodies } = await open([
      deal('o1', { probability: 50 }),
      deal('o2', { probability: 60 }),
    ]);
    const isPut = ({ method }: UpstreamRequest) => method === 'PUT';
    upstream.set({ status: only({ code: 409, message: 'It is being edited' }, { if: isPut }) });
    expect((await it.upsert({ opportunity_id: 'o1', ...renamed })).outcome).toBe('not_written');
    upstream.set({ status: undefined });
    expect((await it.upsert({ opportunity_id: 'o2', ...renamed })).outcome).toBe('written');
    expect(bodies().map(({ probability }) => probability)).toEqual([50, 60]);
  });

  test('is not learnt from a probability of 0, nor from one that is cleared', async () => {
    const { it, bodies } = await open([
      deal('o1', { probability: 0 }),
      deal('o2', { probability: 60 }),
    ]);
    expect((await it.upsert({ opportunity_id: 'o1', ...renamed })).outcome).toBe('written');
    expect((await it.upsert({ opportunity_id: 'o1', probability: 0.25 })).outcome).toBe('written');
    expect(bodies().map(({ probability }) => probability)).toEqual([0, 25]);
  });

  test('is that of all opportunities where the first do not show it', async () => {
    const { it, bodies } = await open(
      Array.from({ length: 150 }, (_, at) => deal(`o${at}`, { probability: at < 120 ? 0 : 40 })),
    );
    expect((await it.upsert({ opportunity_id: 'o2', ...renamed })).outcome).toBe('written');
    const { outcome, change_id } = await it.upsert({ opportunity_id: 'o2', probability: 0.5 });
    expect([outcome, (await it.revert(change_id)).outcome]).toEqual(['written', 'written']);
    expect(bodies().map(({ probability }) => probability)).toEqual([0, 50, 0]);
  });

  test('is not guessed where not all opportunities could be read, and none shows it', async () => {
    const { it, upstream, answering } = await open(
      Array.from({ length: 450 }, (_, at) => deal(`o${at}`, { probability: at < 420 ? 0 : 40 })),
    );
    const behind = ({ query }: { query: URLSearchParams }) => Number(query.get('from')) >= 200;
    upstream.set({ status: only({ code: 500 }, { if: behind }) });
    const { text } = await it.upsert({ opportunity_id: 'o2', probability: 0.5 });
    expect(text).toMatch(/^Nothing was written\. Only \d+ of 450 .* none shows whether prob/);
    expect(answering.asked).toEqual([]);
  });

  test('is that of the tenant where a change of a deal of 1 % is taken back', async () => {
    const { it } = await open([deal('o1', { probability: 1 }), deal('o2', { probability: 60 })]);
    const { change_id } = await it.upsert({ opportunity_id: 'o1', ...renamed });
    expect((await it.revert(change_id)).outcome).toBe('written');
  });

  test('is not learnt where the service closes a deal of 1 %', async () => {
    const rows = [
      deal('o1', { probability: 1, pipelineStage: { id: 's1', name: 'New' } }),
      deal('o2', { probability: 60, pipelineStage: { id: 's2', name: 'Won' } }),
    ];
    const { it, upstream, bodies } = await open(rows);
    upstream.set({
      onRequest: (_n, _up, request) => {
        if (request.method !== 'PUT') return;
        const body: Row = JSON.parse(request.body);
        if (body.pipelineStageId === 's2')
          request.body = JSON.stringify({ ...body, probability: 100 });
      },
    });
    const answer = await it.upsert({ opportunity_id: 'o1', stage: 'Won' });
    expect(answer.text).toMatch(/changed without being asked for: probability/);
    expect(bodies()).toHaveLength(1);
  });
});

test('the difference of a record that changed meanwhile is that of the record, not of a row', async () => {
  const { it, upstream, answering } = await open([deal('o1', { onetimeRevenue: 1_000 })]);
  const text = JSON.stringify({ results: [deal('o1', { onetimeRevenue: 1_000 })], total: 1 });
  upstream.set({ instead: only({ text }, { if: ({ query }) => query.has('query') }) });
  answering.next = () => {
    const [row] = upstream.records['/opportunity'];
    Object.assign(row ?? {}, { onetimeRevenue: 2_000, updatedAt: '2026-11-02T00:00:00Z' });
    return { action: 'accept', content: { agree: true } };
  };
  const answer = await it.upsert({ external_id: 'O1', onetime_revenue: 3_000 });
  expect(answer).toMatchObject({ outcome: 'moved', changes: [{ from: 2_000, to: 3_000 }] });
});

test('a row that lacks custom fields does not make a change of them needless', async () => {
  const { it, upstream } = await open([deal('o1', { customFields: { Region: 'EMEA' } })]);
  const text = JSON.stringify({ results: [deal('o1')], total: 1 });
  upstream.set({ instead: only({ text }, { if: ({ query }) => query.has('query') }) });
  const answer = await it.upsert({ external_id: 'O1', custom_fields: ['Region='] });
  expect(answer.outcome).toBe('written');
});

describe.each([10, 150])(
  'an identifier that changed since all %i opportunities were read',
  (count) => {
    test.each(['another', 'none'])('is not that of the same opportunity: %s', async (now) => {
      const { it, upstream, answering, puts } = await open(
        Array.from({ length: count }, (_, at) => deal(`o${at}`)),
      );
      await it.call('cpq_brief_pipeline', {});
      const rows = upstream.records['/opportunity'];
      if (now === 'none') rows.splice(3, 1);
      else Object.assign(rows[3] ?? {}, { externalIdentifier: 'OTHER' });
      const { text } = await it.upsert({ external_id: 'O3', ...renamed });
      expect(text).toMatch(/^Nothing was written\. .*identifier is no longer "O3"/);
      expect((await it.upsert({ external_id: 'O3', ...renamed })).text).toMatch(/"O3"\. To make/);
      expect([answering.asked, puts()]).toEqual([[], 0]);
      await it.call('cpq_brief_pipeline', {});
      expect((await it.upsert({ external_id: 'O3', create: true, ...renamed })).outcome).toBe(
        'written',
      );
    });
  },
);

describe('a row that differs from its record', () => {
  const args = { external_id: 'O1', ...renamed };
  const rowsAre = (upstream: Upstream, row: Row) => {
    const text = JSON.stringify({ results: [row], total: 1 });
    upstream.set({ instead: only({ text }, { if: ({ query }) => query.has('query') }) });
  };

  test('is planned from once, whatever time it has', async () => {
    const { it, upstream } = await open([deal('o1')]);
    rowsAre(upstream, deal('o1', { updatedAt: '2026-11-01T00:00:01Z' }));
    expect((await it.upsert(args)).outcome).toBe('moved');
    expect((await it.upsert(args)).outcome).toBe('written');
  });

  test('is not planned from where it has a value that cannot be read', async () => {
    const { it, upstream } = await open([deal('o1', { onetimeRevenue: 10 })]);
    rowsAre(upstream, deal('o1', { onetimeRevenue: 'ten' }));
    expect((await it.upsert(args)).outcome).toBe('written');
  });

  test('is planned from once where another process gets the answers', async () => {
    const folder = newFolder();
    const state = localState(folder);
    const key = 'the-key-of-this-tenant';
    const { it, upstream } = await openOverService({ key, state, folder });
    upstream.records['/opportunity'] = [deal('o1', { customFields: { Region: 'EMEA' } })];
    rowsAre(upstream, deal('o1'));
    const other = await openWriter(
      { baseUrl: upstream.url, key },
      { person: new Answering().person, state: { ...state }, folder },
    );
    const outcomes = [];
    for (let time = 0; time < 2; time++) {
      const { requestState } = await question(it, args);
      const answered = { requestState, inputResponses: { consent: personAnswers.accepts() } };
      const { structuredContent } = await other.raw({ ...call, arguments: args, ...answered });
      outcomes.push((structuredContent as Row).outcome);
    }
    expect(outcomes).toEqual(['moved', 'written']);
  });
});

test('a reference that had a name only cannot be restored', async () => {
  const { it } = await open([
    deal('o1', { owner: { name: 'Ann' } }),
    deal('o2', { owner: { id: 'u2', name: 'Bob' } }),
  ]);
  const { change_id } = await it.upsert({ opportunity_id: 'o1', owner: 'Bob' });
  const { text } = await it.revert(change_id);
  expect(text).toMatch(/^Nothing was written\. The service gave no id for the earlier owner/);
});

test('a change that holds again, as its revert was reverted, can be reverted again', async () => {
  const { it, upstream } = await open([deal('o1', { name: 'One' })]);
  const { change_id } = await it.upsert({ opportunity_id: 'o1', name: 'Two' });
  const undone = await it.revert(change_id);
  await it.revert(undone.change_id);
  expect(upstream.records['/opportunity'][0]?.name).toBe('Two');
  expect((await it.revert(change_id)).outcome).toBe('written');
  expect(upstream.records['/opportunity'][0]?.name).toBe('One');
  expect((await it.revert(change_id)).text).toMatch(/was reverted already/);
});

test('names of companies are in no change for a caller who may not read them', async () => {
  const companies = ['one', 'two'].map((id) => ({ id, name: `Kompanio ${id}` }));
  const { it, upstream } = await open([deal('o1', { company: { id: 'one' } })], companies);
  const { change_id, text } = await it.upsert({ opportunity_id: 'o1', company: 'two' });
  expect(text).toContain('Kompanio one (one)|Kompanio two (two)');
  const narrow = it.tenant.withGrants(parseGrants(['opportunity:write']));
  const client = await serve(narrow).connect();
  Object.assign(upstream.records['/opportunity'][0] ?? {}, {
    description: 'Since',
    company: { id: 'one' },
  });
  for (const [name, args] of [
    ['cpq_list_changes'],
    ['cpq_revert_change', { change_id }],
  ] as const) {
    const answer = JSON.stringify(await client.callTool({ name, arguments: args ?? {} }));
    expect(answer).toContain('two');
    expect(answer).not.toContain('Kompanio');
  }
});

test('an external identifier that has the key is refused', async () => {
  const { it, bodies } = await open([]);
  const external_id = 'for the-key-of-this-tenant';
  const { text } = await it.upsert({ external_id, create: true, name: 'New' });
  expect(text).toMatch(/contains the API key or another secret/);
  expect(bodies()).toEqual([]);
});
