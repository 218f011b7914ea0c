import { describe, expect, test } from 'vitest';
import { openOverService } from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { type Behaviour, limit } from '../support/upstream/behaviour.ts';

/** Renames the first opportunity, which has these fields, at a service that clears what is left out. */
async function renamed(fields: Row, others: Row = {}, args: Row = {}, behaviour: Behaviour = {}) {
  const { upstream, rows, answering, it, bodies } = await openOverService();
  for (const each of rows) Object.assign(each, others);
  const [row = {}] = rows;
  Object.assign(row, fields);
  const before = structuredClone(row);
  upstream.set({ omitted: 'cleared', ...behaviour });
  const answer = await it.upsert({ external_id: 'opp-0', name: 'Named anew', ...args });
  const body = bodies().at(-1) ?? {};
  return { answer, asked: answering.asked, puts: bodies(), body, before, row };
}

describe('a field that nobody changed goes back as it was read', () => {
  test.each<[what: string, field: string, value: unknown]>([
    ['a date stored as local midnight', 'expectedCloseDate', '2026-12-08T23:00:00.000Z'],
    ['a date with an offset', 'startDate', '2026-12-09T00:00:00+01:00'],
    ['a date in milliseconds', 'expectedCloseDate', 1_796_770_800_000],
    ['a date in words', 'startDate', 'December 28, 2026'],
    ['a date as a number that is no time', 'expectedCloseDate', 12],
    ['an amount as text', 'onetimeRevenue', '1200.50'],
    ['a probability as percent', 'probability', '50%'],
    ['an amount in words', 'monthlyRevenue', 'on request'],
    ['custom fields with an empty one', 'customFields', { region: 'North', note: null, old: '' }],
    ['custom fields as a list', 'customFields', [{ name: 'region', value: 'North' }]],
    ['a text of blanks', 'description', '  '],
    ['zero', 'monthlyChurn', 0],
  ])('%s', async (_, field, value) => {
    const { answer, body } = await renamed({ [field]: value });
    expect(answer).toMatchObject({ outcome: 'written' });
    expect(body[field]).toEqual(value);
  });

  type OnRequest = NonNullable<Behaviour['onRequest']>;
  const takes01: OnRequest = (_, __, request) => {
    const { probability } = request.method === 'PUT' ? JSON.parse(request.body) : {};
    if (probability === 0.15) request.body = request.body.replace('0.15', '15');
    else if (probability > 1) request.body = '{"name":"X","probability over 1":0}';
  };
  const times100: OnRequest = (_, __, request) => {
    if (request.method !== 'PUT') return;
    const body: Row = JSON.parse(request.body);
    request.body = JSON.stringify({ ...body, probability: Number(body.probability) * 100 });
  };
  test.each<[string, Row, Behaviour]>([
    ['keeps what it is sent', { probability: 40 }, {}],
    ['takes 0–1 only', {}, { onRequest: takes01 }],
    ['stores 100 times what it is sent', {}, { onRequest: times100 }],
  ])('a probability of 15 where the service %s', async (what, others, behaviour) => {
    const { answer, row, asked, puts } = await renamed({ probability: 15 }, others, {}, behaviour);
    expect(answer).toMatchObject({ outcome: 'written' });
    if (what !== 'takes 0–1 only') expect(answer.data.differs).toBeUndefined();
    expect(row).toMatchObject({ name: 'Named anew', probability: 15 });
    expect(puts).toHaveLength(what === 'keeps what it is sent' ? 1 : 2);
    expect(asked).toHaveLength(1);
  });

  const references = ['company', 'contact', 'owner', 'pipelineStage', 'category', 'source'];
  const forms: [string, (name: string) => Row][] = [
    ['nested', (name) => ({ [name]: { id: 'x1', name: 'X' } })],
    ['nested with a number as id', (name) => ({ [name]: { id: 7, name: 'X' } })],
    ['a number', (name) => ({ [name]: 7 })],
    ['nested with its own id', (name) => ({ [name]: { [`${name}Id`]: 'x1', name: 'X' } })],
    ['flat', (name) => ({ [name]: undefined, [`${name}Id`]: 'x1' })],
    ['value and label', (name) => ({ [name]: { value: 'x1', label: 'X' } })],
    ['a link', (name) => ({ [name]: { href: '/public-api/thing/x1' } })],
    ['an external identifier', (name) => ({ [name]: { externalIdentifier: 'X-1' } })],
    ['a list', (name) => ({ [name]: [{ id: 'x1', name: 'X' }] })],
    ['two different ids', (name) => ({ [name]: { id: 'x1' }, [`${name}Id`]: 'x2' })],
  ];
  test.each(forms)('a reference as %s, or nobody is asked', async (_, form) => {
    for (const name of references) {
      const { answer, asked, puts, body, before, row } = await renamed(form(name));
      if (puts.length === 0) {
        expect(answer.text, name).toMatch(/^Nothing was written\. /);
        expect(asked, name).toEqual([]);
        expect(row, name).toEqual(before);
      } else {
        const whole = before[name] as Row | number | undefined;
        const sent = typeof whole === 'number' ? whole : (whole?.id ?? 'x1');
        expect(body[`${name}Id`], name).toBe(sent);
      }
    }
  });

  test('a text in which the service repeats the key, or nobody is asked', async () => {
    const key = 'key-of-24-characters-long';
    const { rows, answering, it } = await openOverService({ key });
    const [row = {}] = rows;
    row.description = `Use ${key} for tests`;
    const answer = await it.upsert({ external_id: 'opp-0', name: 'Named anew' });
    expect(answer.text).toMatch(/^Nothing was written\. Description/);
    expect(answer.text).not.toContain(key);
    expect(answering.asked).toEqual([]);
    expect(row.description).toBe(`Use ${key} for tests`);
  });
});

test('custom fields in a form that cannot be merged are not changed', async () => {
  const list = [{ name: 'region', value: 'North' }];
  const { answer, asked, row } = await renamed(
    { customFields: list },
    {},
    { custom_fields: ['region=South'] },
  );
  expect(answer.text).toMatch(/^Nothing was written\. /);
  expect(asked).toEqual([]);
  expect(row.customFields).toEqual(list);
});

test('a refusal in both scales teaches nothing of the scale of probabilities', async () => {
  const { upstream, rows, it, bodies } = await openOverService();
  for (const row of rows) row.probability = 40;
  const status = { code: 422, message: 'probability' };
  upstream.set(limit({ write: 'unapplied', status }, { method: 'PUT' }));
  const args = { external_id: 'opp-0', probability: 0.15 };
  expect((await it.upsert(args)).outcome).toBe('not_written');
  expect(bodies().map(({ probability }) => probability)).toEqual([15, 0.15]);
  upstream.reset();
  expect((await it.upsert(args)).outcome).toBe('written');
  expect(bodies()).toHaveLength(1);
  expect(rows[0]?.probability).toBe(15);
});
