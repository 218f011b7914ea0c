import { describe, expect, test } from 'vitest';
import { openOverService, personAnswers, type WriterOptions } from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { type Behaviour, only } from '../support/upstream/behaviour.ts';

/** A writer over so many opportunities, with a person who agrees. */
async function open(count: number, options: WriterOptions = {}) {
  const counts = { '/opportunity': count, '/company': 3, '/contact': 3 };
  const opened = await openOverService(options, counts);
  const { upstream } = opened;
  const sent = async (run: () => Promise<{ outcome: string; text: string }>) => {
    upstream.requests.length = 0;
    const answer = await run();
    expect(answer.outcome, answer.text).toBe('written');
    return upstream.requests.length;
  };
  return { ...opened, sent };
}

describe.each([10, 10_000])('of %i opportunities', (count) => {
  test('a changed field takes few requests, also where the opportunities were read', async () => {
    const { it, sent, rows } = await open(count);
    // Where more than a page mention the identifier, it is looked up by the filter too, before and after the question.
    const more = count > 100 ? 2 : 0;
    Object.assign(rows[7] ?? {}, { probability: 0.5 });
    const id = rows[7]?.id;
    const byId = (name: string) => sent(() => it.upsert({ opportunity_id: id, name }));
    const named = (name: string) => sent(() => it.upsert({ external_id: 'opp-6', name }));
    expect([await byId('First'), await named('First')]).toEqual([6 + more, 5 + more]);
    const amount = await sent(() => it.upsert({ opportunity_id: id, onetime_revenue: 12 }));
    expect(amount).toBeLessThanOrEqual(7 + more);
    await it.call('cpq_brief_pipeline', {});
    expect(await byId('Second')).toBe(6 + more);
    await it.call('cpq_brief_pipeline', {});
    expect(await named('Second')).toBe(5 + more);
  });

  test('a new opportunity takes few requests', async () => {
    const { it, sent } = await open(count);
    const create = (external_id: string) => () =>
      it.upsert({ external_id, create: true, name: 'New' });
    expect(await sent(create('NEW-1'))).toBeLessThanOrEqual(6);
    expect(await sent(create('NEW-2'))).toBeLessThanOrEqual(5);
  });

  test('a revert takes few requests', async () => {
    const { it, sent, rows } = await open(count);
    const { change_id } = await it.upsert({ opportunity_id: rows[7]?.id, name: 'By id' });
    expect(await sent(() => it.revert(change_id))).toBeLessThanOrEqual(8);
  });
});

test('a budget that is too small for a write is told before a person is asked', async () => {
  const withBudget = async (requestLimit: number) => {
    const { it, upstream, answering, rows } = await open(10, { tenant: { requestLimit } });
    const { text, outcome } = await it.upsert({ opportunity_id: rows[9]?.id, name: 'Too much' });
    return { text, outcome, asked: answering.asked.length, requests: upstream.requests.length };
  };
  const { requests } = await withBudget(6);
  for (const small of [6, requests + 6]) {
    const { text, asked } = await withBudget(small);
    expect([text, asked]).toEqual([expect.stringMatching(/^Nothing was written\. /), 0]);
  }
  expect(await withBudget(requests + 7)).toMatchObject({ outcome: 'written', asked: 1 });
});

describe('two opportunities of one external identifier', () => {
  const ignoresSearch: Behaviour = { onRequest: (_n, _up, { query }) => query.delete('query') };
  const ignoresFilter: Behaviour = { onRequest: (_n, _up, { query }) => query.delete('filters') };
  const refusesFilter: Behaviour = {
    status: only({ code: 400 }, { if: ({ query }) => query.has('filters') }),
  };
  const failsBehind: Behaviour = {
    status: only({ code: 500 }, { if: ({ query }) => Number(query.get('from')) > 50 }),
  };
  const named = /^Nothing was written\. .*“?"?The other one/;
  const notAllRead =
    /^Nothing was written\. Only \d+ of 120 .* no other has the external identifier "opp-3"/;
  /** How many there are, and at which place the other one is. */
  type Place = readonly [count: number, at: number];
  const first: Place[] = [
    [10, 5],
    [600, 5],
    // Behind a hundred others that mention it, as opp-30.
    [600, 599],
  ];
  const last: Place[] = [[120, 110]];
  test.each<[how: string, other: string, Place[], Behaviour, told: RegExp]>([
    ['the same', 'opp-3', first, {}, named],
    ['another letter case', 'OPP-3', first.slice(0, 2), {}, named],
    ['the same, come since all were read', 'opp-3', first, {}, named],
    ['the same, where a search text is ignored', 'opp-3', last, ignoresSearch, named],
    ['the same, where a filter is ignored', 'opp-3', first.slice(2), ignoresFilter, named],
    ['the same, where a filter is refused', 'opp-3', first.slice(2), refusesFilter, named],
    ['where not all are read', 'opp-3', last, { ...ignoresSearch, ...failsBehind }, notAllRead],
  ])('%s, are not changed, and nobody is asked', async (how, other, places, behaviour, told) => {
    for (const [count, at] of places) {
      const { it, upstream, rows, answering, puts } = await open(count);
      upstream.set(behaviour);
      if (how.endsWith('were read')) await it.call('cpq_brief_pipeline', {});
      Object.assign(rows[at] ?? {}, { externalIdentifier: other, name: 'The other one' });
      for (const args of [{ external_id: 'opp-3' }, { opportunity_id: rows[3]?.id }]) {
        const answer = await it.upsert({ ...args, name: 'Which one?' });
        expect(answer.text).toMatch(told);
      }
      expect([answering.asked, puts()]).toEqual([[], 0]);
    }
  });

  const rival: Row = { id: 'rival', externalIdentifier: 'opp-3', name: 'Rival' };

  test('are not changed where the other one has come since the person was asked', async () => {
    const { it, rows, answering, puts } = await open(10);
    answering.next = () => {
      rows.unshift(rival);
      return personAnswers.accepts();
    };
    const answer = await it.upsert({ opportunity_id: rows[3]?.id, description: 'Ask' });
    expect(answer.text).toMatch(/^Nothing was written\. Another opportunity, rival "Rival"/);
    expect(puts()).toBe(0);
  });

  test('are told where the other one was written', async () => {
    const { it, rows, upstream } = await open(10);
    upstream.set({
      onRequest: (_n, _upstream, { method }) => {
        if (method === 'PUT') rows.unshift(rival);
      },
    });
    const answer = await it.upsert({ opportunity_id: rows[3]?.id, description: 'Ask' });
    expect(answer.outcome).toBe('cannot_tell');
    expect(answer.text).toMatch(/another opportunity, rival/);
  });
});

test('a service that ignores a search text is not read again for each change', async () => {
  const { it, sent, upstream } = await open(600);
  upstream.set({ onRequest: (_n, _upstream, { query }) => query.delete('query') });
  await it.call('cpq_brief_pipeline', {});
  expect(await sent(() => it.upsert({ external_id: 'opp-6', name: 'Other' }))).toBeLessThan(14);
});

describe('a service that refuses a search text', () => {
  const refusing = only(
    { code: 400, message: ['property query should not exist'] },
    { if: ({ query }) => query.has('query') },
  );
  test.each(['company', 'contact'])('names candidates for an unknown %s', async (field) => {
    const { it, upstream } = await open(10);
    upstream.records[`/${field}` as '/company'].push({ id: 'z1', name: 'Zebra Works' } as Row);
    upstream.set({ status: refusing });
    const answer = await it.upsert({ external_id: 'opp-1', [field]: 'Zebra Inc' });
    expect(answer.text).toContain(`There is no ${field} "Zebra Inc"`);
    expect(answer.text).toContain('Zebra Works');
  });

  test('is written to', async () => {
    const { it, upstream, sent } = await open(150);
    upstream.set({ status: refusing });
    await sent(() => it.upsert({ external_id: 'opp-1', name: 'Named anew' }));
    await sent(() => it.upsert({ external_id: 'NEW-1', create: true, name: 'New' }));
  });
});

test.each(['nested', 'flat'])('the question names records of %s references', async (form) => {
  const { it, rows, answering, upstream } = await open(10);
  const [one, two] = upstream.records['/company'];
  const company = form === 'flat' ? { company: undefined, companyId: one?.id } : { company: one };
  for (const row of rows) Object.assign(row, company);
  await it.upsert({ opportunity_id: rows[1]?.id, company: two?.id });
  const [question = ''] = answering.asked;
  for (const each of [one, two]) {
    expect(question).toContain(String(each?.name));
    expect(question).not.toContain(String(each?.id));
  }
});
