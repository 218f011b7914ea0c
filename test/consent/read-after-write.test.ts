import { describe, expect, test } from 'vitest';
import { openOverService, openWriter, personAnswers, recordOf } from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { serviceRecords } from '../support/samples.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** Each answer that shows an open opportunity, of the record as it is now. */
const reads: Record<string, (record: Row) => Row> = {
  cpq_get_record: ({ id }) => ({ resource: 'opportunity', id }),
  cpq_list_opportunities: ({ name }) => ({ query: name, detail: 'full' }),
  cpq_find: ({ name }) => ({ query: name, kinds: ['opportunity'] }),
  cpq_brief_pipeline: () => ({ deals_from: 0, rows: 1_000 }),
  cpq_pipeline_deals: () => ({ deals_from: 0, rows: 1_000 }),
  cpq_brief_company: ({ company }) => ({ company: (company as Row).id, rows: 50 }),
  cpq_check_sales_data: () => ({ check: 'stalled_opportunities', days: 0, size: 100 }),
};

const started = shared(async () => {
  const at = addressIn(await startSandbox({ scale: 0.1 }), 'all');
  const writer = await openWriter(at, { person: personAnswers.accepts });
  const { data } = await writer.call('cpq_pipeline_deals', { deals_from: 0, rows: 1_000 });
  const open = new Set((data.records as Row[]).map(({ id }) => id));
  const all = await serviceRecords(at, '/opportunity', '?size=100');
  const isUsable = ({ id, externalIdentifier, pipelineStage, company }: Row) =>
    open.has(id) && externalIdentifier && pipelineStage && company;
  return { at, id: all.find(isUsable)?.id, writer };
});

test.each([
  ['company', '/company', 'name'],
  ['contact', '/contact', 'lastName'],
  ['opportunity', '/opportunity', 'name'],
  ['product', '/product', 'name'],
  ['quote', '/quote', 'title'],
] as const)(
  'a %s by its id is as it is now, though all were read before',
  async (kind, path, field) => {
    const { url, records } = closing(await startUpstream());
    const { client, call } = await openWriter({ baseUrl: url, key: 'as-it-is-now-0123' });
    const [row = {}] = records[path];
    await call('cpq_find', { query: 'any', kinds: [kind] });
    row[field] = 'Called Anew';
    const { contents } = await client.readResource({ uri: `cpq://${kind}/${row.id}` });
    expect(JSON.stringify(contents)).toContain('Called Anew');
    const { text } = await call('cpq_get_record', { resource: kind, id: row.id });
    expect(text).toContain('Called Anew');
  },
);

test('a change that the service makes after its answer is in the next answer', async () => {
  const { it, rows, upstream } = await openOverService();
  const deals = () => it.call('cpq_brief_pipeline', { deals_from: 0, rows: 100 });
  expect((await deals()).text).not.toContain('Named late');
  upstream.set({ write: 'unapplied' });
  const { outcome } = await it.upsert({ external_id: 'opp-3', name: 'Named late' });
  expect(outcome).toBe('cannot_tell');
  Object.assign(rows[3] ?? {}, { name: 'Named late', updatedAt: new Date().toISOString() });
  expect((await deals()).text).toContain('Named late');
});

describe.each(['cpq_upsert_opportunity', 'cpq_revert_change'])('after %s', (how) => {
  test.each(Object.entries(reads))('%s has the new name', async (tool, argumentsFor) => {
    const { at, id, writer } = await started();
    const before = await recordOf(at, id);
    // Read before, so that an answer or a collection is cached.
    await writer.call(tool, argumentsFor(before));
    const name = `${how} before ${tool}`;
    const written = await writer.upsert({ opportunity_id: id, name });
    expect(written).toMatchObject({ outcome: 'written' });
    if (how === 'cpq_revert_change') {
      await writer.call(tool, argumentsFor({ ...before, name }));
      expect(await writer.revert(written.change_id)).toMatchObject({ outcome: 'written' });
    }
    const now = await recordOf(at, id);
    expect(now.name === name).toBe(how === 'cpq_upsert_opportunity');
    const { text, data } = await writer.call(tool, argumentsFor(now));
    expect(text).toContain(now.name);
    expect(JSON.stringify(data)).toContain(now.name);
    if (tool !== 'cpq_find') expect(text).not.toContain(now.name === name ? before.name : name);
  });
});
