import type { JsonSchemaType } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { linkTo } from '../../src/tool-kit/one-record.ts';
import { catalog } from '../../tools/catalog.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { differencesBetween, isEmpty } from '../support/facts.ts';
import {
  type Connection,
  everyHostHere,
  everything,
  open,
  type Row,
  serving,
} from '../support/hosts.ts';
import { listTools, readTools, sampleFor, serviceRecords } from '../support/samples.ts';
import { sample } from '../support/sampling.ts';

const { address } = embeddedTenant({ as: 'all' });
const server = serving({ at: address, ...everything });
const ids = (records: readonly Row[]) => records.map(({ id }) => id);
const each = Object.entries(listTools);
const listed = readTools.filter(({ forView }) => !forView);

test('every list tool of the catalogue is tested here', () => {
  const lists = catalog.filter(
    ({ name, toolset }) => name.startsWith('cpq_list_') && toolset === 'routes',
  );
  expect(lists.map(({ name }) => name).sort()).toEqual(Object.keys(listTools).sort());
});

async function expectValid(server: Connection, name: string, data: Row): Promise<void> {
  const tool = (await server.tools()).find((it) => it.name === name);
  if (!tool?.outputSchema) throw new Error(`${name} has no output schema`);
  const validate = new AjvJsonSchemaValidator().getValidator(tool.outputSchema as JsonSchemaType);
  expect(validate(data).errorMessage).toBeUndefined();
}

for (const [at, host] of sample([...everyHostHere.entries()], 2)) {
  describe(host.name, () => {
    const server = serving({ at: address, on: host, ...everything });

    test.each(sample(listed, 3, at).map((tool) => [tool.name, tool] as const))(
      '%s has the same facts in both forms, as its schema declares',
      async (name, tool) => {
        const it = await server();
        const { text, data } = await it.call(name, await sampleFor(tool, await address()));
        expect(differencesBetween(text, data)).toEqual({ onlyData: [], onlyText: [] });
        await expectValid(it, name, data);
      },
    );
  });
}

test('answers about one record link to it where the operator says how', async () => {
  const env = { CPQ_RECORD_URL: 'https://app.example/{resource}/{id}' };
  const { call } = await open({ at: address, env });
  const [{ id = '' } = {}] = (await call('cpq_list_companies', { size: 1 })).records;
  const link = `https://app.example/company/${id}`;
  for (const [name, args] of [
    ['cpq_get_record', { resource: 'company', id }],
    ['cpq_brief_company', { company: id, parts: ['contacts'] }],
  ] as const) {
    const { text, data } = await call(name, args);
    expect([data.link, text]).toEqual([link, expect.stringContaining(`link: ${link}`)]);
  }
  // An id cannot lead to another page.
  const { id: odd, ...site } = { id: 'a/../b?c#d\ud800', recordUrl: env.CPQ_RECORD_URL };
  const encoded = 'https://app.example/quote/a%2F..%2Fb%3Fc%23d%EF%BF%BD';
  expect(linkTo({ host: '', ...site }, 'quote', odd)).toEqual({ link: encoded });
});

describe.each(each)('%s', (name, path) => {
  test('returns the records of the service in order', async () => {
    const { records, page, coverage } = await server.call(name, { size: 7 });
    const theirs = await serviceRecords(await address(), path, '?size=7');
    expect(ids(records)).toEqual(ids(theirs.slice(0, 7)));
    expect(page).toMatchObject({ shown: records.length, from: 0 });
    expect(coverage.complete).toBe(coverage.read === coverage.total);
    expect(coverage.complete || coverage.reason !== undefined).toBe(true);
    expect(Date.parse(coverage.asOf)).not.toBeNaN();
  });

  test('is concise by default, without empty fields', async () => {
    const [concise, full] = [await server.call(name), await server.call(name, { detail: 'full' })];
    for (const record of [...concise.records, ...full.records]) {
      // A text that consists of markup only is empty when shown.
      const empty = Object.values(record).filter((value) => value !== '' && isEmpty(value));
      expect(empty).toEqual([]);
    }
    const sizeOf = (records: Row[]) => JSON.stringify(records.slice(0, 3)).length;
    expect(sizeOf(concise.records)).toBeLessThan(sizeOf(full.records));
  });

  test('returns every non-empty field with detail full', async () => {
    const { records } = await server.call(name, { size: 3, detail: 'full' });
    const theirs = await serviceRecords(await address(), path, '?size=3');
    for (const [at, record] of records.entries()) {
      const shown = { ...record, ...(record.unreadable as Row | undefined) };
      const filled = Object.entries(theirs[at] ?? {}).filter(([, value]) => !isEmpty(value));
      expect(Object.keys(shown)).toEqual(expect.arrayContaining(filled.map(([field]) => field)));
    }
  });

  test('returns only the requested fields, with ids', async () => {
    const [first = {}] = await serviceRecords(await address(), path, '?size=1');
    const field = Object.keys(first).find((it) => it !== 'id' && typeof first[it] === 'string');
    if (field === undefined) throw new Error(`${path} has no text`);
    const { records } = await server.call(name, { size: 2, fields: [field] });
    expect(records[0]).toMatchObject({ id: first.id });
    for (const record of records) {
      expect(['id', 'number', 'name', 'deleted', field]).toEqual(
        expect.arrayContaining(Object.keys(record)),
      );
    }
  });

  test('has a limited length, and says where it was cut', async () => {
    const { text, data, page } = await server.call(name, { size: 100, detail: 'full' });
    expect(countTokens(text)).toBeLessThanOrEqual(10_000);
    expect(countTokens(JSON.stringify(data))).toBeLessThanOrEqual(10_000);
    expect(page.shown).toBeGreaterThan(0);
    const whole = page.shown === Math.min(100, page.total);
    expect(whole || text.includes(`Cut to ${page.shown} rows`)).toBe(true);
    if (page.shown < page.total) expect(page.next).toBe(page.shown);
  });
});

describe('search arguments', () => {
  const searchRoutes = ['/company', '/contact', '/opportunity', '/product', '/quote'];
  const searched = each.filter(([, path]) => searchRoutes.includes(path));
  const queried = each.filter(([name]) => 'query' in inputOf(name));

  test.each(queried)('%s explains when nothing matches', async (name) => {
    const { records, page, text, data } = await server.call(name, { query: 'zzqqxxnothing' });
    expect(records).toEqual([]);
    expect(page).toEqual({ shown: 0, from: 0, total: 0 });
    expect(text).toMatch(/^No [a-z ]+\./);
    expect((data.notes as string[])[0]).toMatch(/try/i);
  });

  test.each(searched)('%s passes query, filters and sort on', async (name, path) => {
    const at = await address();
    const [first = {}] = await serviceRecords(at, path, '?size=1');
    const word = String(first.name ?? first.title ?? first.firstName).split(' ')[0] ?? '';
    const search = { query: word, filters: `id:${first.id}|nothing`, sort: '-updatedAt' };
    const theirs = await serviceRecords(at, path, `?size=20&${new URLSearchParams(search)}`);
    expect(ids((await server.call(name, search)).records)).toEqual(ids(theirs));
    expect(ids(theirs)).toEqual([first.id]);
    const sorted = await serviceRecords(at, path, '?size=9&sort=-updatedAt');
    const ours = await server.call(name, { size: 9, sort: '-updatedAt' });
    expect(ids(ours.records)).toEqual(ids(sorted));
  });

  test('a bundle is found by its part number', async () => {
    const args = { resource: 'product', id: 'KIT-001' };
    const { data } = await server.call('cpq_get_record', args);
    expect(data.record).toMatchObject({ mpn: 'KIT-001' });
  });
});

test('the category tree is in order, with the requested depth', async () => {
  const flat = flatten(
    await serviceRecords(await address(), '/category/tree', '?includeEmpty=true'),
  );
  const { records, coverage } = await server.call('cpq_get_category_tree', { depth: 10 });
  expect(records.map(({ id, level }) => ({ id, level }))).toEqual(flat);
  const top = await server.call('cpq_get_category_tree', { depth: 1 });
  for (const it of [coverage, top.coverage])
    expect(it).toMatchObject({ complete: true, read: flat.length, total: flat.length });
  expect(ids(top.records)).toEqual(ids(flat.filter(({ level }) => level === 1)));
});

const inputOf = (name: string): Row =>
  catalog.find((tool) => tool.name === name)?.input.shape ?? {};

type Leveled = { id: unknown; level: number };

const flatten = (branches: readonly Row[], level = 1): Leveled[] =>
  branches.flatMap(({ id, children }) => [
    { id, level },
    ...flatten((children as Row[] | undefined) ?? [], level + 1),
  ]);
