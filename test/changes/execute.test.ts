import { describe, expect, test } from 'vitest';
import { executePlan } from '../../src/changes/execute.ts';
import { makePlan } from '../../src/changes/plan.ts';
import { TargetFinder } from '../../src/changes/target.ts';
import { callWith, stateWith, tenantOver } from '../support/changes.ts';
import type { Row } from '../support/hosts.ts';

import { type Behaviour, limit, only } from '../support/upstream/behaviour.ts';
import { writeFaults } from '../support/upstream/write-faults.ts';

const stored: Row = {
  id: 'o1',
  externalIdentifier: 'E-1',
  name: 'One',
  description: 'Text',
  probability: 0.5,
  monthlyChurn: 3,
  company: { id: 'acme', name: 'Acme' },
  customFields: { Region: 'North' },
};

/** Sends the values to a service of this behaviour. */
async function written(selector: Row, values: Row, behaviour: Behaviour = {}) {
  const entries: Row[] = [];
  const call = callWith();
  const { tenant, upstream } = await tenantOver(
    { opportunity: [stored] },
    { state: stateWith(entries) },
  );
  const target = await new TargetFinder(tenant, call).find(selector);
  const plan = await makePlan(tenant, target, values as Record<string, string>, call);
  const approval = { consent: 'token', client: 'tests' } as const;
  upstream.set(behaviour);
  const result = await executePlan(tenant, plan, approval);
  const put = upstream.requests.find(({ method }) => method === 'PUT');
  return { result, entries, body: JSON.parse(put?.body ?? '{}'), upstream };
}

describe('a write', () => {
  test('sends every present value, and records what it sends and what is stored', async () => {
    const { result, entries, body } = await written({ opportunityId: 'o1' }, { name: 'Two' });
    expect(body).toEqual({
      name: 'Two',
      description: 'Text',
      probability: 0.5,
      monthlyChurn: 3,
      companyId: 'acme',
      customFields: { Region: 'North' },
    });
    expect(result).toMatchObject({ outcome: 'written', record: { name: 'Two' }, differs: [] });
    const { changeId: id } = result;
    expect(entries).toMatchObject([
      { phase: 'sending', id, opportunityId: 'o1', externalId: 'E-1', name: 'Two', sent: body },
      { phase: 'done', id, opportunityId: 'o1', outcome: 'written', after: { name: 'Two' } },
    ]);
    expect(entries[0]).toMatchObject({ consent: 'token', before: { name: 'One' } });
    expect(entries[1]).not.toHaveProperty('reason');
    const other = await written({ opportunityId: 'o1' }, { description: 'More' });
    expect(other.entries).toMatchObject([{ name: 'One' }, { outcome: 'written' }]);
  });

  test('of a new opportunity finds it by the id of the answer', async () => {
    const selector = { externalId: 'E-2', create: true };
    const { result, entries, upstream } = await written(selector, { name: 'Two' });
    const made = upstream.records['/opportunity'][1];
    expect(result.record).toMatchObject({ id: made?.id, externalIdentifier: 'E-2' });
    expect(entries[0]).not.toHaveProperty('opportunityId');
    expect(entries[1]).toMatchObject({ opportunityId: made?.id });
    const after = upstream.requests.slice(upstream.requests.findIndex((it) => it.method === 'PUT'));
    expect(after.map(({ path }) => path)).toEqual([
      '/public-api/opportunity/ext/E-2',
      `/public-api/opportunity/${made?.id}`,
    ]);
  });

  const message = 'name is odd';
  test.each<[Behaviour, RegExp]>([
    [{ status: { code: 400, message } }, /^the service refused it: "name is odd"$/],
    [
      { status: { code: 403, message: 'no permission' } },
      /^the key may not write it \(an administrator .*\): "no permission"$/,
    ],
    [
      limit({ redirect: { code: 302, to: 'other' } }, { method: 'PUT' }),
      /^the service answered with a redirect, and the record is as it was$/,
    ],
  ])('that is refused was not written, for the reason of the service: %j', async (on, reason) => {
    const { result, entries } = await written({ opportunityId: 'o1' }, { name: 'Two' }, on);
    expect(result).toMatchObject({ outcome: 'not_written', differs: [] });
    expect(result.reason).toMatch(reason);
    expect(entries[1]).toMatchObject({ outcome: 'not_written', reason: result.reason });
    expect(entries[1]).not.toHaveProperty('after');
  });
});

test('a write that cannot be read back is recorded without values that nobody saw', async () => {
  const on: Behaviour = {
    onRequest: (_n, upstream, { method }) => {
      if (method === 'PUT') upstream.set({ status: { code: 403, message: 'Forbidden' } });
    },
  };
  const { result, entries } = await written({ opportunityId: 'o1' }, { name: 'Two' }, on);
  expect(result).toMatchObject({ outcome: 'written', unchecked: true, record: { id: 'o1' } });
  expect(entries[1]).toMatchObject({ outcome: 'written', opportunityId: 'o1' });
  expect(entries[1]).not.toHaveProperty('after');
  // Nor is another opportunity, with which the service confirms it, shown as the written one.
  const text = JSON.stringify({ ...stored, id: 'o2', externalIdentifier: 'E-2' });
  const other = await written(
    { opportunityId: 'o1' },
    { name: 'Two' },
    { ...on, instead: only({ text, type: 'application/json' }, { method: 'PUT' }) },
  );
  expect(other.result).toMatchObject({ outcome: 'written', unchecked: true });
  expect(other.result).not.toHaveProperty('record');
});

test('a write without an answer is judged by what is stored', async () => {
  const resultOf = async (stored: Row) => {
    const failing = limit(writeFaults['500-without-applying'], { method: 'PUT' });
    const { result } = await written(
      { opportunityId: 'o1' },
      { name: 'Two', description: 'More' },
      {
        ...failing,
        onRequest: (_n, upstream, { method }) => {
          if (method === 'PUT') Object.assign(upstream.records['/opportunity'][0] ?? {}, stored);
        },
      },
    );
    return result;
  };
  expect(await resultOf({ name: 'Two' })).toMatchObject({
    outcome: 'written',
    differs: [{ field: 'description', intended: 'More', stored: 'Text', asked: true }],
  });
  expect(await resultOf({ name: 'Theirs' })).toMatchObject({
    outcome: 'cannot_tell',
    reason: 'the record has changed, but not to the intended values',
  });
});
