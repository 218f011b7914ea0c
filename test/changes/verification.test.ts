import { describe, expect, test } from 'vitest';
import type { FieldChange } from '../../src/changes/fields.ts';
import { type SentChange, storedDifferences, verify } from '../../src/changes/verification.ts';
import type { FieldKind } from '../../src/changes/writable-fields.ts';
import type { Opportunity } from '../../src/service/records/records.ts';
import { callWith, tenantOver } from '../support/changes.ts';

const change = (field: string, from: unknown, to: unknown, kind: FieldKind = 'text') =>
  ({ field, label: field, kind, from, to }) satisfies FieldChange;
const rename = change('name', 'Old', 'New');
const likelier = change('probability', 0.5, 0.6, 'share');

const before: Opportunity = {
  id: 'o1',
  externalIdentifier: 'E-1',
  name: 'Old',
  description: 'Text',
  probability: 0.5,
};
const sentOf = (changes: FieldChange[], more: Partial<SentChange> = {}): SentChange => ({
  externalId: 'E-1',
  opportunityId: 'o1',
  before: { name: 'Old', description: 'Text', probability: 0.5 },
  changes,
  divisor: 1,
  ...more,
});

describe('reading a change back', () => {
  const cases: [what: string, changes: FieldChange[], stored: Opportunity, result: string][] = [
    ['every field as intended', [rename, likelier], { name: 'New', probability: 0.6 }, 'applied'],
    ['one of two as intended', [rename, likelier], { name: 'New' }, 'partial'],
    [
      'one of two, and the other changed',
      [rename, likelier],
      { name: 'New', probability: 0.1 },
      'partial',
    ],
    ['nothing changed', [rename, likelier], {}, 'unchanged'],
    ['one field changed otherwise', [rename, likelier], { name: 'Theirs' }, 'diverged'],
    ['all fields changed otherwise', [rename], { name: 'Theirs' }, 'diverged'],
  ];
  test.each(cases)('%s', async (_, changes, stored, result) => {
    const { tenant } = await tenantOver({ opportunity: [{ ...before, ...stored }] });
    const found = await verify(tenant, sentOf(changes), callWith());
    expect(found).toMatchObject(
      result === 'unchanged' ? { result } : { result, record: { id: 'o1' } },
    );
  });

  test('another field counts only where the record before is known', async () => {
    const { tenant } = await tenantOver({ opportunity: [{ ...before, description: 'Theirs' }] });
    const resultOf = async (more: Partial<SentChange>) =>
      (await verify(tenant, sentOf([rename], more), callWith())).result;
    expect(await resultOf({})).toBe('unchanged');
    expect(await resultOf({ recordBefore: before })).toBe('diverged');
    expect(await resultOf({ recordBefore: { ...before, description: 'Theirs' } })).toBe('diverged');
    const asStored = { before: { name: 'Old', description: 'Theirs', probability: 0.5 } };
    const recordBefore = { ...before, description: 'Theirs' };
    expect(await resultOf({ ...asStored, recordBefore })).toBe('unchanged');
  });

  test('a record of the same identifier that a creation did not make as intended', async () => {
    const { tenant, upstream } = await tenantOver({});
    const sent = sentOf([change('name', undefined, 'New')], {
      opportunityId: undefined,
      before: {},
    });
    const resultOf = async (more: Partial<SentChange> = {}) =>
      (await verify(tenant, { ...sent, ...more }, callWith())).result;
    expect(await resultOf()).toBe('unchanged');
    expect(await resultOf({ createdId: 'o1' })).toBe('unchanged');
    upstream.records['/opportunity'].push({ id: 'o2', externalIdentifier: 'E-2', name: 'New' });
    expect(await resultOf({ createdId: 'o2' })).toBe('unchanged');
    upstream.records['/opportunity'].push({ id: 'o1', externalIdentifier: 'E-1' });
    expect(await resultOf()).toBe('diverged');
    expect(await resultOf({ createdId: 'o2' })).toBe('diverged');
    Object.assign(upstream.records['/opportunity'][1] ?? {}, { name: 'New' });
    expect(await resultOf({ createdId: 'o2' })).toBe('applied');
    upstream.requests.length = 0;
    expect(await resultOf({ createdId: 'o1' })).toBe('applied');
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/public-api/opportunity/o1']);
  });

  test('a record that cannot be read is no proof that nothing changed', async () => {
    const { tenant, upstream } = await tenantOver({ opportunity: [before] });
    upstream.set({ status: { code: 403 } });
    const sent = sentOf([rename]);
    const created = { ...sent, opportunityId: undefined, createdId: 'o1' };
    for (const each of [sent, created]) {
      expect(await verify(tenant, each, callWith())).toEqual({ result: 'unreadable' });
    }
  });

  test('of custom fields, only those that changed count', async () => {
    const changes = [
      change('custom_fields', { a: 1, b: 1, c: 1 }, { a: 2, c: 1, d: [1] }, 'custom'),
    ];
    const resultOf = async (customFields: Record<string, unknown>) => {
      const { tenant } = await tenantOver({ opportunity: [{ ...before, customFields }] });
      return (await verify(tenant, sentOf(changes), callWith())).result;
    };
    expect(await resultOf({ a: 2, c: 'theirs', d: [1], e: 'new' })).toBe('applied');
    expect(await resultOf({ a: 2, b: null, d: [1] })).toBe('applied');
    expect(await resultOf({ a: 1, b: 1, c: 'theirs' })).toBe('unchanged');
    expect(await resultOf({ a: 2, b: 1, d: [1] })).toBe('diverged');
  });

  test('a probability counts on the scale of the tenant, and one above 1 as percent', async () => {
    const toOne = change('probability', 0.5, 0.01, 'share');
    const resultOf = async (probability: number, divisor: 1 | 100, changed = toOne) => {
      const { tenant } = await tenantOver({ opportunity: [{ ...before, probability }] });
      return (await verify(tenant, sentOf([changed], { divisor }), callWith())).result;
    };
    expect(await resultOf(1, 1)).toBe('diverged');
    expect(await resultOf(1, 100)).toBe('applied');
    expect(await resultOf(0.01, 100)).toBe('diverged');
    expect(await resultOf(60, 1, likelier)).toBe('applied');
  });
});

describe('what was stored differently', () => {
  const differences = (sent: SentChange, record: Opportunity) =>
    storedDifferences(sent, record).map(({ field, intended, stored, asked }) => [
      field,
      intended,
      stored,
      asked,
    ]);
  const after = { ...before, name: 'New' };

  test('is nothing where every field is as intended', () => {
    expect(differences(sentOf([rename], { recordBefore: before }), after)).toEqual([]);
  });

  test('is first what was to stay, then what was to change', () => {
    const stored: Opportunity = { ...after, name: 'Ne', description: 'Theirs', probability: 0.5 };
    expect(differences(sentOf([rename, likelier]), stored)).toEqual([
      ['description', 'Text', 'Theirs', false],
      ['name', 'New', 'Ne', true],
      ['probability', 0.6, 0.5, true],
    ]);
  });

  test('of a new record is only what was to be set', () => {
    const sent = sentOf([rename], { opportunityId: undefined, before: {} });
    const stored = { ...after, name: 'Ne', description: 'A default of the service' };
    expect(differences(sent, stored)).toEqual([['name', 'New', 'Ne', true]]);
  });

  test('has the fields that this server never writes, where the record before is known', () => {
    const recordBefore: Opportunity = {
      ...before,
      score: 1,
      note: '',
      tags: ['a'],
      gone: 'x',
      unreadable: { odd: 1, name: 'Old' },
      updatedAt: '2026-01-01',
      stageUpdatedAt: '2026-01-01',
    };
    const stored: Opportunity = {
      ...after,
      score: 2,
      tags: ['a', 'b'],
      made: null,
      unreadable: { odd: 2 },
      updatedAt: '2026-02-02',
      stageUpdatedAt: '2026-02-02',
    };
    const expected = [
      ['score', '1', '2', false],
      ['tags', '["a"]', '["a","b"]', false],
      ['gone', 'x', undefined, false],
      ['stageUpdatedAt', '2026-01-01', '2026-02-02', false],
      ['odd', '1', '2', false],
    ];
    const sorted = (sent: SentChange) =>
      differences(sent, stored).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    const inOrder = expected.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    expect(sorted(sentOf([rename], { recordBefore }))).toEqual(inOrder);
    expect(sorted(sentOf([rename]))).toEqual([]);
    const toStage = change('stage', undefined, { id: 's' }, 'reference');
    // A final stage closes the deal.
    const closed = { statusId: 'won', closedAt: '2026-02-02' };
    const moved = { ...stored, pipelineStage: { id: 's' }, ...closed };
    const others = differences(sentOf([rename, toStage], { recordBefore }), moved);
    expect(others.map(([field]) => field)).toEqual(['score', 'tags', 'gone', 'odd']);
  });
});
