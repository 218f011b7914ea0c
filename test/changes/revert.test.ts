import { describe, expect, test } from 'vitest';
import { planRevert } from '../../src/changes/plan.ts';
import { callWith, stateWith, tenantOver } from '../support/changes.ts';
import type { Row } from '../support/hosts.ts';

const record: Row = {
  id: 'o1',
  externalIdentifier: 'E-1',
  name: 'Two',
  description: 'Text',
  customFields: { Region: 'South', Size: 3, Made: 'now' },
};
const change = (field: string, from: unknown, to: unknown, kind = 'text'): Row => ({
  field,
  label: field,
  kind,
  from,
  to,
});
const intent = (more: Row = {}): Row => ({
  phase: 'sending',
  id: 'chg_1',
  at: '2026-06-01T12:00:00Z',
  what: 'change',
  externalId: 'E-1',
  opportunityId: 'o1',
  name: 'Two',
  before: { name: 'One', description: 'Text' },
  changes: [change('name', 'One', 'Two')],
  ...more,
});
const done = (outcome: string, more: Row = {}): Row => ({
  phase: 'done',
  id: 'chg_1',
  outcome,
  ...more,
});

async function reverted(entries: Row[], stored: Row = {}) {
  const opportunity: Row[] = [
    { ...record, ...stored },
    { id: 'o2', statusId: 'lost', pipelineStage: { id: 's1', name: 'Lost' } },
    { id: 'o3', statusId: 'lost', pipelineStage: { id: 's2', name: 'No budget' } },
    { id: 'o4', pipelineStage: { id: 's3', name: 'Offer' } },
  ];
  const company: Row[] = [{ id: 'gone', name: 'Gone', deleted: '2026-01-01T00:00:00Z' }];
  const { tenant } = await tenantOver({ opportunity, company }, { state: stateWith(entries) });
  return planRevert(tenant, 'chg_1', callWith());
}
const changesOf = async (entries: Row[], stored: Row = {}) =>
  (await reverted(entries, stored)).changes.map(({ field, from, to }) => [field, from, to]);

describe('a change to revert', () => {
  test('gets back its old values', async () => {
    const before = { name: 'One', description: 'Text' };
    const customFields = {
      before: { ...before, custom_fields: { Region: 'North', Size: 3, Gone: 1 } },
      changes: [
        change('name', 'One', 'Two'),
        change('description', undefined, 'Text'),
        change(
          'custom_fields',
          { Region: 'North', Size: 3, Gone: 1 },
          { Region: 'South', Size: 3, Made: 'now' },
          'custom',
        ),
      ],
    };
    expect(await changesOf([intent(customFields), done('written')])).toEqual([
      ['name', 'Two', 'One'],
      ['description', 'Text', undefined],
      ['custom_fields', record.customFields, { Region: 'North', Size: 3, Gone: 1 }],
    ]);
  });

  const custom = { custom_fields: record.customFields };
  const after = { name: 'Two', description: 'Text', ...custom };
  const known = intent({ before: { name: 'One', description: 'Text', ...custom } });
  const rename = [['name', 'Two', 'One']];
  test.each<[what: string, entries: Row[], stored: Row, changes: unknown]>([
    ['is as it was left', [known, done('written', { after })], {}, rename],
    ['has no known outcome', [known], {}, rename],
    ['has an unknown outcome', [known, done('cannot_tell')], {}, rename],
    ['is as a revert left it', [{ ...known, what: 'revert', reverts: 'chg_0' }], {}, rename],
    ['was reverted by hand', [known, done('written', { after })], { name: 'One' }, []],
    [
      'is as the service stored it',
      [known, done('written', { after: { ...after, name: 'TWO' } })],
      { name: 'TWO' },
      [['name', 'TWO', 'One']],
    ],
  ])('can be reverted where the record %s', async (_, entries, stored, changes) => {
    expect(await changesOf(entries, stored)).toEqual(changes);
  });

  test('is refused where somebody changed the record since, with the difference', async () => {
    const entries = [known, done('written', { after })];
    const theirs = { description: 'Theirs', name: '', monthlyChurn: 5 };
    await expect(reverted(entries, theirs)).rejects.toMatchObject({
      message: expect.stringMatching(/^This opportunity was changed since/),
      details: {
        differences: [
          { field: 'name', written: { text: 'Two' }, now: { text: '(empty)' } },
          { field: 'description', written: { text: 'Text' }, now: { text: 'Theirs' } },
          { field: 'monthly_churn', written: { text: '(empty)' }, now: 5 },
        ],
      },
    });
  });

  const revert: Row[] = [
    { ...known, id: 'chg_2', what: 'revert', reverts: 'chg_1' },
    { ...done('written'), id: 'chg_2' },
  ];
  test.each<[Row[], RegExp]>([
    [[], /^There is no change "chg_1"/],
    [[known, done('not_written')], /^That change was never written/],
    [[known, done('written'), ...revert], /reverted already, by chg_2/],
  ])('%# is refused', async (entries, why) => {
    await expect(reverted(entries)).rejects.toThrow(why);
  });

  test('is refused where the earlier company has been deleted', async () => {
    const [gone, acme] = [{ id: 'gone' }, { id: 'acme' }];
    const moved = intent({
      before: { name: 'Two', company: gone },
      changes: [change('company', gone, acme, 'reference')],
    });
    const stored = { description: undefined, customFields: undefined, company: acme };
    await expect(reverted([moved], stored)).rejects.toThrow('The company "gone" has been deleted');
  });

  test('that created the opportunity is answered with what can be done instead', async () => {
    const made = intent({ what: 'create', opportunityId: undefined });
    const written = [made, done('written', { opportunityId: 'o1' })];
    await expect(reverted(written)).rejects.toMatchObject({
      message: expect.stringMatching(/^That change created the opportunity, .* nearest thing is/),
      details: { opportunity_id: 'o1', external_id: 'E-1' },
    });
    await expect(reverted([made])).rejects.toThrow(/^That change may have created the opportunity/);
  });
});
