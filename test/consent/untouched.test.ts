import { describe, expect, test } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import { Answering, openWriter, type WriterOptions } from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { closing, newFolder } from '../support/shared.ts';
import type { Behaviour, UpstreamRequest } from '../support/upstream/behaviour.ts';
import { only } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const at = '2026-11-01T00:00:00Z';
const deal = (id: string, more: Row = {}): Row => ({
  ...{ id, externalIdentifier: id.toUpperCase(), name: `Deal ${id}`, updatedAt: at },
  ...more,
});

/** A writer over these opportunities and companies, with a person who agrees. */
async function open(
  opportunities: Row[],
  { companies = [], ...options }: Partial<WriterOptions> & { companies?: Row[] } = {},
) {
  const upstream = closing(await startUpstream());
  upstream.records['/opportunity'] = opportunities;
  upstream.records['/company'] = companies;
  const answering = new Answering();
  const address = { baseUrl: upstream.url, key: 'the-key-of-this-tenant' };
  const it = await openWriter(address, { person: answering.person, ...options });
  const puts = () =>
    upstream.requests.flatMap(({ method, body }) => (method === 'PUT' ? [JSON.parse(body)] : []));
  return { upstream, answering, it, puts };
}

const renamed = { name: 'Renamed' };

describe('what a service shows of a record beside the changed field', () => {
  const secret = { Region: 'EMEA', Portal: 'https://x.example/?key=the-key-of-this-tenant' };

  test('is not written where a custom field has the key', async () => {
    const { it, puts } = await open([deal('o1', { customFields: secret })]);
    const answer = await it.upsert({ opportunity_id: 'o1', custom_fields: ['Region=US'] });
    expect(answer.text).toMatch(/^Nothing was written\. Custom fields .* contains the API key/);
    const given = ['Region=US', 'Portal=none'];
    const whole = await it.upsert({ opportunity_id: 'o1', custom_fields: given });
    expect(whole.outcome).toBe('written');
    expect(puts()).toMatchObject([{ customFields: { Region: 'US', Portal: 'none' } }]);
  });

  test('is not sent as an id where it may be a name', async () => {
    const bare = { company: 'c1', owner: 'Ann Smith', pipelineStage: 'Proposal' };
    const { it, puts } = await open([deal('o1', bare), deal('o2', bare)], {
      companies: [{ id: 'c1', name: 'Acme' }],
    });
    const answer = await it.upsert({ opportunity_id: 'o1', ...renamed });
    expect(answer.text).toMatch(/Owner is "Ann Smith", and the service gives no id for it/);
    expect(puts()).toEqual([]);
  });

  test('is no company of that name where not all companies could be read', async () => {
    const companies = Array.from({ length: 250 }, (_, at) => ({ id: `c${at}`, name: `C ${at}` }));
    Object.assign(companies[3] ?? {}, { name: 'Acme' });
    Object.assign(companies[240] ?? {}, { name: 'Acme' });
    const { it, upstream, puts } = await open([deal('o1', { company: 'Acme' })], { companies });
    const isBehind = ({ route, query }: UpstreamRequest) =>
      route === '/company' && Number(query.get('from')) > 150;
    upstream.set({ status: only({ code: 500 }, { if: isBehind }) });
    const answer = await it.upsert({ opportunity_id: 'o1', ...renamed });
    expect(answer.text).toMatch(/Company is "Acme", and the service gives no id for it/);
    expect(puts()).toEqual([]);
  });
});

describe('another opportunity of the same external identifier', () => {
  const many = () => {
    const rows = Array.from({ length: 120 }, (_, at) => deal(`o${at}`));
    Object.assign(rows[110] ?? {}, { externalIdentifier: 'O3', name: 'The other one' });
    return rows;
  };
  const ignoresQuery: Behaviour = { onRequest: (_n, _up, { query }) => query.delete('query') };
  const failsBehind: Behaviour = {
    status: only({ code: 500 }, { if: ({ query }) => Number(query.get('from')) > 50 }),
  };
  test.each<[string, Behaviour, RegExp]>([
    ['the service ignores a search text', ignoresQuery, /Another opportunity, o110/],
    [
      'and not all could be read',
      { ...ignoresQuery, ...failsBehind },
      /^Nothing was written\. Only \d+ of 120 .* no other has the external identifier "O3"/,
    ],
  ])('is not changed where %s', async (_, behaviour, told) => {
    for (const selector of [{ opportunity_id: 'o3' }, { external_id: 'O3' }]) {
      const { it, upstream, answering, puts } = await open(many());
      upstream.set(behaviour);
      const answer = await it.upsert({ ...selector, ...renamed });
      expect(answer.text).toMatch(told);
      expect([puts(), answering.asked]).toEqual([[], []]);
    }
  });

  test('that was created a moment ago is not overwritten where the search lags', async () => {
    const { it, upstream, puts } = await open(
      Array.from({ length: 120 }, (_, at) => deal(`o${at}`)),
    );
    const args = { external_id: 'NEW-1', create: true };
    expect((await it.upsert({ ...args, name: 'First' })).outcome).toBe('written');
    const rows = upstream.records['/opportunity'];
    upstream.records['/opportunity'] = rows.filter((row) => row.externalIdentifier !== 'NEW-1');
    const again = await it.upsert({ ...args, name: 'Second' });
    expect(again.text).toMatch(
      /"NEW-1" just now, by chg_\w+\. To change that one, leave create out/,
    );
    expect(puts()).toHaveLength(1);
  });
});

test('a new opportunity that the service refused can be made afterwards', async () => {
  const { it, upstream, puts } = await open([deal('o1')]);
  const create = { external_id: 'NEW-1', create: true, name: 'First' };
  const isPut = ({ method }: UpstreamRequest) => method === 'PUT';
  upstream.set({ status: only({ code: 400, message: 'Not now' }, { if: isPut }) });
  expect((await it.upsert(create)).outcome).toBe('not_written');
  upstream.set({ status: undefined });
  expect((await it.upsert(create)).outcome).toBe('written');
  expect(puts()).toHaveLength(2);
});

describe('the scale of probabilities', () => {
  test('is not learnt from a refusal for another reason', async () => {
    const { it, upstream, puts } = await open([
      deal('o1', { probability: 50 }),
      deal('o2', { probability: 60 }),
    ]);
    const isPut = ({ method }: UpstreamRequest) => method === 'PUT';
    upstream.set({ status: only({ code: 409, message: 'It is being edited' }, { if: isPut }) });
    expect((await it.upsert({ opportunity_id: 'o1', ...renamed })).outcome).toBe('not_written');
    upstream.set({ status: undefined });
    expect((await it.upsert({ opportunity_id: 'o2', ...renamed })).outcome).toBe('written');
    expect(puts().map(({ probability }) => probability)).toEqual([50, 60]);
  });

  test('is not learnt from a probability of 0, nor from one that is cleared', async () => {
    const { it, puts } = await open([
      deal('o1', { probability: 0 }),
      deal('o2', { probability: 60 }),
    ]);
    expect((await it.upsert({ opportunity_id: 'o1', ...renamed })).outcome).toBe('written');
    expect((await it.upsert({ opportunity_id: 'o1', probability: 0.25 })).outcome).toBe('written');
    expect(puts().map(({ probability }) => probability)).toEqual([0, 25]);
  });

  test('is not learnt where the service closes a deal of 1 %', async () => {
    const rows = [
      deal('o1', { probability: 1, pipelineStage: { id: 's1', name: 'New' } }),
      deal('o2', { probability: 60, pipelineStage: { id: 's2', name: 'Won' } }),
    ];
    const { it, upstream, puts } = await open(rows);
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
    expect(puts()).toHaveLength(1);
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

test('a reference that had a name only cannot be restored', async () => {
  const { it } = await open([
    deal('o1', { owner: { name: 'Ann' } }),
    deal('o2', { owner: { id: 'u2', name: 'Bob' } }),
  ]);
  const { change_id } = await it.upsert({ opportunity_id: 'o1', owner: 'Bob' });
  const { text } = await it.revert(change_id);
  expect(text).toMatch(/^Nothing was written\. The service gave no id for the earlier owner/);
});

test('an external identifier that has the key is refused', async () => {
  const { it, puts } = await open([]);
  const external_id = 'for the-key-of-this-tenant';
  const { text } = await it.upsert({ external_id, create: true, name: 'New' });
  expect(text).toMatch(/contains the API key or another secret/);
  expect(puts()).toEqual([]);
});

test('of two servers with one state folder, one writes at a time', async () => {
  const folder = newFolder();
  const { it, upstream } = await open([deal('o1')], { folder });
  const other = await openWriter(
    { baseUrl: upstream.url, key: 'the-key-of-this-tenant' },
    { person: new Answering().person, folder, state: localState(folder) },
  );
  const answers = await Promise.all([
    it.upsert({ opportunity_id: 'o1', name: 'Theirs' }),
    other.upsert({ opportunity_id: 'o1', description: 'Ours' }),
  ]);
  expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['moved', 'written']);
});
