import { beforeEach, describe, expect, test } from 'vitest';
import { type Connection, open } from '../support/hosts.ts';
import { shared } from '../support/shared.ts';
import { only } from '../support/upstream/behaviour.ts';
import type { ResourcePath } from '../support/upstream/records.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';

/** Amounts never stand without a currency, whatever was asked before. */

const upstream = shared(() =>
  startUpstream({
    counts: { '/company': 0, '/opportunity': 0, '/quote': 0, '/contract/items': 0 },
  }),
);
const currencyOf = (at: number): string => ['USD', 'CAD', 'EUR'][at % 3] ?? '';
const companies = Array.from({ length: 150 }, (_, at) => ({
  id: `c${at}`,
  name: `Company ${at}`,
  currency: currencyOf(at),
}));
const deals = Array.from({ length: 61 }, (_, at) => ({
  id: `o${at}`,
  name: `Deal ${at}`,
  companyId: `c${at}`,
  pipelineStageId: 's1',
  pipelineStageDisplayValue: 'Open',
  onetimeRevenue: 1000 + at,
}));
const quotes = deals.map(({ companyId }, at) => ({
  id: `q${at}`,
  number: `Q-${at}`,
  status: 'draft',
  company: { id: companyId, name: `Company ${at}` },
  items: [{ name: 'One', quantity: 1, price: 10 }],
}));
const contractItems = deals.map(({ companyId }, at) => ({
  service: `S ${at}`,
  companyId,
  revenue: 5,
}));

beforeEach(async () => {
  const service = await upstream();
  service.reset();
  service.records['/company'] = structuredClone(companies);
  service.records['/opportunity'] = structuredClone(deals);
  service.records['/quote'] = structuredClone(quotes);
  service.records['/contract/items'] = structuredClone(contractItems);
});

/** A server that was asked nothing before. */
async function freshServer(grants = 'read'): Promise<Connection> {
  return open({ at: upstream, grants });
}

const requestsTo = ({ requests }: Upstream, route: ResourcePath): number =>
  requests.filter((request) => request.route === route).length;

const lists = [
  ['opportunities', '/opportunity'],
  ['quotes', '/quote'],
  ['contract_items', '/contract/items'],
] as const;

describe.each(lists)('a list of %s on a fresh server', (list, route) => {
  const tool = `cpq_list_${list}`;

  test('has the currency of every row, for one more request, once', async () => {
    const service = await upstream();
    const server = await freshServer();
    const { records } = await server.call(tool, { size: 30 });
    expect(records.map(({ currency }) => currency)).toEqual(records.map((_, at) => currencyOf(at)));
    expect(requestsTo(service, '/company')).toBe(1);
    const before = service.requests.length;
    expect((await server.call(tool, { size: 30 })).records).toEqual(records);
    expect(requestsTo(service, '/company')).toBe(1);
    if (route !== '/contract/items') expect(service.requests.length).toBe(before + 1);
  });

  test('has it too with all fields, with an amount among chosen ones, and alone', async () => {
    const amount = list === 'contract_items' ? 'revenue' : 'oneTime';
    for (const shape of [
      { detail: 'full' },
      { fields: [amount, 'currency'] },
      { fields: ['currency'] },
    ]) {
      const server = await freshServer();
      const { records } = await server.call(tool, { size: 5, ...shape });
      expect(records.map(({ currency }) => currency)).toEqual([0, 1, 2, 3, 4].map(currencyOf));
      const one = await server.call(tool, { size: 1, ...shape });
      expect(one.data.currency ?? one.records[0]?.currency).toBe(currencyOf(0));
    }
    // Of each shape those of five rows, and that of one.
    expect(requestsTo(await upstream(), '/company')).toBe(6);
  });

  test('says that it is unknown where companies may not be read', async () => {
    const service = await upstream();
    const grant = {
      opportunities: 'opportunity',
      quotes: 'quote',
      contract_items: 'contract_item',
    };
    const server = await freshServer(`${grant[list]}:read`);
    const { records, data } = await server.call(tool, { size: 3 });
    expect(records.some(({ currency }) => currency !== undefined)).toBe(false);
    expect(String(data.notes)).toMatch(/The currency of 3 rows is unknown/);
    expect(requestsTo(service, '/company')).toBe(0);
  });

  test('says that it is unknown where the service refuses companies, and asks once', async () => {
    const service = await upstream();
    const refusal = { code: 403, message: 'You may not read companies' };
    service.set({ status: only(refusal, { path: '/company' }) });
    const server = await freshServer();
    for (let call = 0; call < 3; call++) {
      const { data } = await server.call(tool, { size: 3 });
      expect(String(data.notes)).toMatch(/The currency of 3 rows is unknown/);
    }
    expect(requestsTo(service, '/company')).toBeLessThanOrEqual(1);
  });

  test('never takes other companies than those of its rows, from a service that ignores filters', async () => {
    const service = await upstream();
    service.set({ onRequest: (_, __, { query }) => query.delete('filters') });
    const server = await freshServer();
    const { records, data } = await server.call(tool, { size: 30 });
    for (const [at, { currency }] of records.entries())
      expect([currencyOf(at), undefined]).toContain(currency);
    const unknown = records.filter(({ currency }) => currency === undefined).length;
    if (unknown > 0)
      expect(String(data.notes)).toContain(`The currency of ${unknown} rows is unknown`);
    expect(requestsTo(service, '/company')).toBeLessThanOrEqual(15);
    const asked = requestsTo(service, '/company');
    expect((await server.call(tool, { size: 30 })).records).toEqual(records);
    expect(requestsTo(service, '/company')).toBe(asked);
  });
});

test('a brief on quotes has the currency of each, from a service that ignores filters', async () => {
  const service = await upstream();
  service.set({ onRequest: (_, __, { query }) => query.delete('filters') });
  service.records['/company'].reverse();
  const { text } = await (await freshServer()).call('cpq_brief_quotes', {});
  expect(text).toMatch(/\d EUR/);
  expect(text).not.toContain('currency unknown');
});

test('a list has the same rows before and after a brief', async () => {
  const server = await freshServer();
  const before = await server.call('cpq_list_opportunities', { size: 10, from: 20 });
  await server.call('cpq_brief_pipeline', {});
  const after = await server.call('cpq_list_opportunities', { size: 10, from: 20 });
  expect(before.records[0]).toMatchObject({ company: 'Company 20' });
  expect(after.records).toEqual(before.records);
});

test('a filter by the name of a company finds the same before and after a brief', async () => {
  const server = await freshServer();
  const args = { filters: 'company:Company 7' };
  const before = await server.call('cpq_list_opportunities', args);
  expect(before.records.map(({ id }) => id)).toEqual(['o7']);
  await server.call('cpq_brief_pipeline', {});
  expect((await server.call('cpq_list_opportunities', args)).records).toEqual(before.records);
});

test('a record has its currency, or says that it is unknown', async () => {
  const server = await freshServer();
  for (const [resource, id] of [
    ['opportunity', 'o4'],
    ['quote', 'q4'],
  ]) {
    const { data } = await server.call('cpq_get_record', { resource, id });
    expect(data.record).toMatchObject({ currency: currencyOf(4) });
  }
  const narrow = await freshServer('opportunity:read');
  const { data } = await narrow.call('cpq_get_record', { resource: 'opportunity', id: 'o4' });
  expect(data.record).not.toHaveProperty('currency');
  expect(String(data.notes)).toMatch(/currency .*unknown/);
});
