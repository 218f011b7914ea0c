import { describe, expect, test } from 'vitest';
import type { Consent } from '../../src/changes/consent.ts';
import { decide } from '../../src/changes/decide.ts';
import type { FieldValues } from '../../src/changes/fields.ts';
import { buildPlan, makePlan } from '../../src/changes/plan.ts';
import { type Target, TargetFinder } from '../../src/changes/target.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import { callWith, tenantOver } from '../support/changes.ts';
import type { Row } from '../support/hosts.ts';

import { shared } from '../support/shared.ts';

const certain = { divisor: 1, certain: true } as const;

const company: Row[] = [
  { id: 'acme', name: 'Acme', currency: 'EUR' },
  { id: 'bolt', name: 'Bolt', currency: 'usd' },
  { id: 'cara', name: 'Cara' },
  { id: 'dots', name: 'Dots', currency: 'gold' },
  { id: 'elms', name: 'Elms' },
  { id: 'elmz', name: 'Еlms' },
];
const contact: Row[] = [
  { id: 'ada', firstName: 'Ada', companyId: 'acme', companyName: 'Acme' },
  { id: 'bob', firstName: 'Bob', companyId: 'bolt', companyName: 'Bolt' },
  { id: 'cid', firstName: 'Cid', companyId: 'cara' },
  { id: 'dan', firstName: 'Dan' },
];
const custom = { Size: 3, Tags: ['a'], Parts: { a: 1 }, Live: true, Region: 'North' };
const opportunity: Row[] = [
  { id: 'o1', externalIdentifier: 'E-1', name: 'One', customFields: { ...custom, Slot: 4 } },
  {
    ...{ id: 'o2', name: 'Two', owner: { id: 'u1', name: 'Uma' } },
    ...{ category: { id: 'k1', name: 'Kit' }, customFields: { Slot: 'B4' } },
  },
];
const tenantOfAll = shared(
  async () => (await tenantOver({ company, contact, opportunity })).tenant,
);

function targetOf(record: Row | undefined, scale: Target['scale'] = certain): Target {
  const raw = { id: 'o1', externalIdentifier: 'E-1', name: 'One', ...record };
  return { externalId: 'E-1', ...(record && { present: { record: raw, raw } }), scale };
}

async function planned(record: Row | undefined, values: FieldValues, scale?: Target['scale']) {
  return makePlan(await tenantOfAll(), targetOf(record, scale), values, callWith());
}

async function refusal(record: Row | undefined, values: FieldValues, scale?: Target['scale']) {
  const error = await planned(record, values, scale).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Error ? error.message : undefined;
}

describe('what a plan tells the person', () => {
  const acme = { id: 'acme', name: 'Acme' };
  type Currency = string | undefined;
  const noCurrency = 'unknown currency';
  const noCode = 'amounts stay the same numbers, but in unknown currency instead of EUR.';
  const inUsd = 'amounts stay the same numbers, but in USD instead of EUR.';
  test.each<[record: Row, values: FieldValues, from: Currency, to: Currency, remark?: string]>([
    [{ onetimeRevenue: 1 }, { name: 'X' }, undefined, undefined],
    [{ company: acme }, { onetime_revenue: 1 }, 'EUR', 'EUR'],
    [{ company: acme, monthlyChurn: 0 }, { company: 'bolt' }, 'EUR', 'USD', inUsd],
    [{ company: acme }, { company: 'bolt' }, undefined, 'USD'],
    [{ company: acme, onetimeRevenue: 1 }, { company: 'cara' }, 'EUR', undefined],
    [{ company: { id: 'cara' }, onetimeRevenue: 1 }, { company: 'bolt' }, undefined, 'USD'],
    [{ company: acme, onetimeRevenue: 1 }, { company: 'dots' }, 'EUR', noCurrency, noCode],
    [{ company: acme, onetimeRevenue: 1, currency: 'gbp' }, { company: 'bolt' }, 'GBP', 'GBP'],
    [{ company: acme, currency: '£' }, { onetime_revenue: 1 }, noCurrency, noCurrency],
  ])('the currency of %j with %j is %s → %s', async (record, values, from, to, remark) => {
    const plan = await planned(record, values);
    expect(plan.currency).toEqual({ from, to });
    expect(plan.remarks).toEqual(remark === undefined ? [] : [remark]);
  });

  test.each<[record: Row, values: FieldValues, remark?: string]>([
    [
      { company: acme, contact: { id: 'ada' } },
      { company: 'bolt' },
      'the contact stays “ada”, whom the other company had.',
    ],
    [
      { company: acme, contact: { id: 'ada' } },
      { company: 'bolt', contact: 'bob' },
    ],
    [{ company: acme }, { contact: 'ada' }],
    [
      { company: acme },
      { contact: 'bob' },
      'the contact “Bob” belongs to another company, “Bolt”.',
    ],
    [
      { company: acme },
      { contact: 'cid' },
      'the contact “Cid” belongs to another company, “cara”.',
    ],
    [{ company: acme }, { contact: 'dan' }],
    [{}, { contact: 'bob' }],
    [
      {},
      { company: 'elms' },
      'another company has the name “Elms”, or one that looks the same: “Еlms” (elmz).',
    ],
  ])('the remark of %j with %j', async (record, values, remark) => {
    const { remarks } = await planned(record, values);
    expect(remarks).toEqual(remark === undefined ? [] : [remark]);
  });

  test('no currency where companies may not be read', async () => {
    const { tenant } = await tenantOver(
      { company },
      { grants: ['opportunity:read', 'opportunity:write'] },
    );
    const plan = await buildPlan(tenant, targetOf({ company: acme }), { name: 'X' }, callWith());
    expect(plan.currency).toEqual({ from: undefined, to: undefined });
  });
});

describe('the values of a plan', () => {
  const changed = async (record: Row, values: FieldValues) =>
    (await planned(record, values)).changes.map(({ field, to }) => [field, to]);

  test('are references by id, and everything else as given', async () => {
    const values = { company: 'BOLT', contact: 'Bob', owner: 'uma', category: 'k1', name: 'X' };
    expect(
      await changed({}, { ...values, description: undefined, probability: 0.1 + 0.2 }),
    ).toEqual([
      ['name', 'X'],
      ['company', { id: 'bolt', name: 'Bolt' }],
      ['contact', { id: 'bob', name: 'Bob' }],
      ['owner', { id: 'u1', name: 'Uma' }],
      ['category', { id: 'k1', name: 'Kit' }],
      ['probability', 0.3],
    ]);
  });

  test('are a contact of the present company where no other is given', async () => {
    const acme = { company: { id: 'acme', name: 'Acme' } };
    expect(await changed(acme, { contact: 'Ada' })).toEqual([
      ['contact', { id: 'ada', name: 'Ada' }],
    ]);
    expect(await refusal(acme, { contact: 'Bob' })).toMatch(/The company has no contact "Bob"/);
  });

  const types: [text: string, value: unknown][] = [
    ['Size=4', 4],
    ['SIZE=4', 4],
    ['Size=four', 'four'],
    ['Size=null', 'null'],
    ['Size=[4]', '[4]'],
    ['Size= ', ' '],
    ['Tags=["b"]', ['b']],
    ['Tags={"a":1}', '{"a":1}'],
    ['Tags=["a", 1e400]', '["a", 1e400]'],
    [`Tags=["a", ${'9'.repeat(309)}]`, `["a", ${'9'.repeat(309)}]`],
    ['Parts={"a":[2]}', { a: [2] }],
    ['Parts=[2]', '[2]'],
    ['Live=false', false],
    ['Live=0', '0'],
    ['Region=4', '4'],
    ['Region="x"', '"x"'],
    ['Made=abc', 'abc'],
    ['Made=4', '4'],
    // Some have a number in it, others a text.
    ['Slot=5', '5'],
  ];
  test.each(types)('keep the type of a custom field: %s', async (text, value) => {
    const [name = '', given = ''] = text.split('=');
    const { requested } = await planned(
      { customFields: custom },
      { custom_fields: { [name]: given } },
    );
    const found = Object.keys(custom).find((it) => it.toLowerCase() === name.toLowerCase());
    expect(requested.custom_fields).toEqual({ [found ?? name]: value });
  });

  test('go to the custom field of exactly the name, or to the only one of that name', async () => {
    const customFields = { size: 1, SIZE: 2, Weight: 3 };
    const theirs = { id: 'o2', customFields: { Weight: 'x' } };
    const { tenant } = await tenantOver({ opportunity: [theirs] });
    const named = async (name: string, others: Row = {}) => {
      const values = { custom_fields: { [name]: '9', ...others } };
      const plan = await makePlan(tenant, targetOf({ customFields }), values, callWith());
      return plan.requested.custom_fields;
    };
    expect(await named('SIZE')).toEqual({ SIZE: 9 });
    expect(await named('weight')).toEqual({ Weight: 9 });
    // Its type is that of this opportunity, also where the others are read for another field.
    expect(await named('weight', { Made: 'now' })).toEqual({ Weight: 9, Made: 'now' });
    await expect(named('Size')).rejects.toThrow('exactly the name "Size"');
  });

  test('are refused for a custom field whose name looks like one of another opportunity', async () => {
    expect(await refusal({}, { custom_fields: { Rеgion: 'x' } })).toMatch(
      /exactly the name "Rеgion"/,
    );
    expect(await refusal({}, { custom_fields: { region: 'x', Size: '1' } })).toBeUndefined();
    const both = [{ id: 'o3', customFields: { Region: 1, Rеgion: 2 } }];
    const { tenant } = await tenantOver({ opportunity: both });
    const values = { custom_fields: { Rеgion: '3' } };
    const { requested } = await makePlan(tenant, targetOf(both[0]), values, callWith());
    expect(requested.custom_fields).toEqual({ Rеgion: 3 });
  });

  test('need a name for a new opportunity only', async () => {
    expect(await refusal(undefined, {})).toBe('A new opportunity needs a name.');
    expect(await refusal(undefined, { name: 'X' })).toBeUndefined();
    expect(await refusal({}, {})).toBeUndefined();
  });
});

test.each<[record: Row, values: FieldValues, scale: 'certain' | 'unsure', why?: RegExp]>([
  [{ probability: 1 }, { name: 'X' }, 'unsure', /stored as 1, .* means 1 % or 100 %/],
  [{ probability: 0.5 }, { name: 'X' }, 'unsure', /stored as 0.5, .* means 0.5 % or 50 %/],
  [{ probability: 0 }, { name: 'X' }, 'unsure'],
  [{ probability: 1.1 }, { name: 'X' }, 'unsure'],
  [{}, { name: 'X' }, 'unsure'],
  [{ probability: 1 }, { name: 'X' }, 'certain'],
  [{ probability: 1 }, { probability: 0.9 }, 'unsure'],
  [{ owner: { name: 'Ada' } }, { name: 'X' }, 'certain', /^Owner is "Ada", .* gives no id/],
  [{ owner: { name: 'Ada' } }, { name: 'X' }, 'certain', /Give owner in the same call/],
  [{ owner: { name: 'Ada' }, startDate: 'soon' }, { name: 'X' }, 'certain', /^Owner/],
  [{ owner: { name: 'Ada' } }, { owner: 'u1' }, 'certain'],
  [{ startDate: 'soon' }, { name: 'One' }, 'certain'],
])('%j with %j is refused if a value cannot be sent back', async (record, values, scale, why) => {
  const message = await refusal(record, values, { divisor: 1, certain: scale === 'certain' });
  if (why) expect(message).toMatch(why);
  else expect(message).toBeUndefined();
});

describe('the digest of a plan', () => {
  const digests = async (target: Target, values: FieldValues, tenant?: Tenant) =>
    buildPlan(tenant ?? (await tenantOfAll()), target, values, callWith());
  const record = { company: { id: 'acme', name: 'Acme' }, updatedAt: '2026-01-01' };

  test('is another one where the record has changed, which asks for the same', async () => {
    const first = await digests(targetOf(record), { name: 'X' });
    for (const more of [{ updatedAt: '2026-01-02' }, { id: 'o2' }, { description: 'Theirs' }]) {
      const other = await digests(targetOf({ ...record, ...more }), { name: 'X' });
      expect(other.digest, JSON.stringify(more)).not.toBe(first.digest);
      expect(other.subject, JSON.stringify(more)).toBe(first.subject);
    }
    expect(await digests(targetOf(record), { name: 'X' })).toMatchObject({ digest: first.digest });
  });

  test('does not depend on the name of a reference', async () => {
    const to = (id: string, name?: string) =>
      digests(targetOf(record), { company: name === undefined ? { id } : { id, name } });
    const [named, unnamed, other] = [await to('bolt', 'Bolt'), await to('bolt'), await to('cara')];
    expect(named.subject).toBe(unnamed.subject);
    expect(named.subject).not.toBe(other.subject);
  });

  test('is another one for other values, another opportunity, tenant, caller or revert', async () => {
    const first = await digests(targetOf(record), { name: 'X' });
    const { tenant } = await tenantOver({ company });
    const [values, call, own] = [{ name: 'X' }, callWith(), await tenantOfAll()];
    const others = [
      await buildPlan(own, targetOf(record), values, { ...call, caller: 'someone' }),
      await buildPlan(own, targetOf(record), values, call, 'chg_1'),
      await digests(targetOf(record), { name: 'Y' }),
      await digests({ ...targetOf(record), externalId: 'E-2' }, { name: 'X' }),
      await digests(targetOf(record), { name: 'X' }, tenant),
    ];
    for (const other of others) expect(other.subject).not.toBe(first.subject);
  });
});

describe('the question', () => {
  const acme = { id: 'acme', name: 'Acme' };
  async function asked(record: Row | undefined, values: FieldValues) {
    const [tenant, plan] = [await tenantOfAll(), await planned(record, values)];
    const call = callWith();
    await decide(tenant, '', call, async () => plan);
    return { plan, proposal: call.asked[0] };
  }

  test('names the opportunity and the company as they are', async () => {
    const { plan, proposal } = await asked({ company: acme }, { name: 'X', company: 'bolt' });
    expect(proposal).toBe(plan);
    const same = { externalId: 'E-1', what: 'change' };
    expect(proposal).toMatchObject({ ...same, opportunity: 'One', company: 'Acme' });
  });

  test('names a new opportunity and its company as they will be', async () => {
    const { proposal } = await asked(undefined, { name: 'X', company: 'bolt' });
    expect(proposal).toMatchObject({ opportunity: 'X', company: 'Bolt' });
  });

  test('has no company where there is none, and no name where the opportunity has none', async () => {
    const { proposal } = await asked({ name: '' }, { description: 'X' });
    expect(proposal).toMatchObject({ opportunity: '', company: undefined });
  });

  const why = 'because' as Extract<Consent, { outcome: 'refused' }>['why'];
  const question = { how: 'token', message: why, seal: 't' } as const;
  test.each<[Consent]>([
    [{ outcome: 'declined' }],
    [{ outcome: 'cancelled' }],
    [{ outcome: 'refused', why }],
    [{ outcome: 'not_asked', why }],
    [{ outcome: 'not_asked', why, question }],
    [{ outcome: 'moved' }],
  ])('answered with %j writes nothing', async (answer) => {
    const [tenant, plan] = [await tenantOfAll(), await planned({}, { name: 'X' })];
    expect(await decide(tenant, '', callWith(answer), async () => plan)).toEqual({
      ...answer,
      plan,
    });
  });

  test('is followed by the write, unless the record has changed since', async () => {
    const { tenant, upstream } = await tenantOver({
      opportunity: [{ ...targetOf({}).present?.raw }],
    });
    const [row = {}] = upstream.records['/opportunity'];
    const decided = async (theirs: Row) => {
      const target = await new TargetFinder(tenant, callWith()).find({ opportunityId: 'o1' });
      const plan = await makePlan(tenant, target, { name: 'X' }, callWith());
      Object.assign(row, theirs);
      const call = callWith({ outcome: 'agreed', how: 'asked' });
      let asked = 0;
      const make = async () =>
        asked++ === 0
          ? plan
          : makePlan(
              tenant,
              await new TargetFinder(tenant, call).find({ opportunityId: 'o1' }),
              { name: 'X' },
              call,
            );
      return decide(tenant, '', call, make);
    };
    expect(await decided({ description: 'Theirs' })).toMatchObject({
      outcome: 'moved',
      plan: { before: { description: 'Theirs' } },
    });
    expect(await decided({ name: 'X' })).toMatchObject({ outcome: 'no_change' });
    row.name = 'One';
    expect(await decided({})).toMatchObject({
      outcome: 'written',
    });
    expect(upstream.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1);
  });

  test('is not asked where nothing would change', async () => {
    const [tenant, plan, call] = [
      await tenantOfAll(),
      await planned({}, { name: 'One' }),
      callWith(),
    ];
    expect(await decide(tenant, '', call, async () => plan)).toEqual({
      outcome: 'no_change',
      plan,
    });
    expect(call.asked).toEqual([]);
  });
});
