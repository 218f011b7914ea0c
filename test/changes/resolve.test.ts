import { describe, expect, test } from 'vitest';
import { ChangeRefused } from '../../src/changes/refusal.ts';
import { findLookAlike, requireExisting, resolveReference } from '../../src/changes/resolve.ts';
import { TargetFinder, tenantScale } from '../../src/changes/target.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import { callWith, tenantOver } from '../support/changes.ts';
import type { Row } from '../support/hosts.ts';

import { shared } from '../support/shared.ts';
import { type Behaviour, limit } from '../support/upstream/behaviour.ts';
import { faults } from '../support/upstream/faults.ts';

const deleted = '2026-01-01T00:00:00Z';
const finderOf = (tenant: Tenant): TargetFinder => new TargetFinder(tenant, callWith());

/** What was found, or why nothing was, with the ids of the candidates. */
async function answerOf(found: Promise<unknown>): Promise<unknown> {
  return found.catch((error: unknown) => {
    if (!(error instanceof ChangeRefused)) throw error;
    const candidates = (error.details?.candidates ?? []) as Row[];
    return [error.message, ...candidates.map(({ id }) => id)];
  });
}

const companyIn = (tenant: Tenant, text: string): Promise<unknown> =>
  answerOf(resolveReference(tenant, 'company', text, undefined, callWith()));

const fillers = (count: number, name: string): Row[] =>
  Array.from({ length: count }, (_, at) => ({ id: `f${at}`, name: `${name} ${at}` }));

describe('a company', () => {
  const company: Row[] = [
    { id: 'acme', name: 'Acme', externalIdentifier: 'A-1', type: 'customer' },
    { id: 'A-1', name: 'Named like an identifier' },
    { id: 'twin1', name: 'Twin', type: 'prospect' },
    { id: 'twin2', name: 'Twin', address: { city: 'Rome' } },
    { id: 'gone', name: 'Gone', externalIdentifier: 'G-1', deleted },
    { id: 'back', name: 'G-1' },
    { id: 'old', name: 'Reborn', deleted },
    { id: 'new', name: 'Reborn' },
    { id: 'blank', name: ' ' },
  ];
  const all = shared(async () => (await tenantOver({ company })).tenant);
  const find = async (text: string) => companyIn(await all(), text);

  test.each<[string, unknown]>([
    ['acme', { id: 'acme', name: 'Acme' }],
    [' ACME ', { id: 'acme', name: 'Acme' }],
    ['a-1', { id: 'acme', name: 'Acme' }],
    ['A-1', { id: 'A-1', name: 'Named like an identifier' }],
    ['reborn', { id: 'new', name: 'Reborn' }],
    ['twin', ['Several are called "twin" as company: say which by id.', 'twin1', 'twin2']],
    ['gone', ['The company "gone" has been deleted.']],
    ['G-1', ['The company "G-1" has been deleted.']],
  ])('%s', async (text, found) => {
    expect(await find(text)).toEqual(found);
  });

  test('is shown among several by what distinguishes it', async () => {
    const found = resolveReference(await all(), 'company', 'Twin', undefined, callWith());
    await expect(found).rejects.toMatchObject({
      details: {
        candidates: [
          { id: 'twin1', name: 'Twin', hint: 'prospect' },
          { id: 'twin2', name: 'Twin', hint: 'Rome' },
        ],
      },
    });
  });

  test('is searched for only where it is not known', async () => {
    const { tenant, upstream } = await tenantOver({ company });
    await companyIn(tenant, 'acme');
    expect(upstream.requests.some(({ query }) => query.has('query'))).toBe(false);
    await companyIn(tenant, 'Nobody');
    expect(upstream.requests.some(({ query }) => query.get('query') === 'Nobody')).toBe(true);
  });

  /** A tenant that read these companies before others took their place. */
  async function tenantWithOld(before: Row[], after: Row[]): Promise<Tenant> {
    const { tenant, upstream } = await tenantOver(
      { company: before },
      { tenant: { freshMs: 600_000 } },
    );
    await tenant.collection('company', callWith());
    upstream.records['/company'] = after;
    return tenant;
  }

  test('that is newer than what is cached is found by name and by identifier', async () => {
    const made = { id: 'made', name: 'Made', externalIdentifier: 'M-1' };
    const tenant = await tenantWithOld(fillers(2, 'Filler'), [made]);
    for (const text of ['made', 'Made', 'M-1'])
      expect(await companyIn(tenant, text), text).toEqual({ id: 'made', name: 'Made' });
  });

  test('that was renamed since it was cached is one company', async () => {
    const tenant = await tenantWithOld([{ id: 'x', name: 'Old' }], [{ id: 'x', name: 'Made' }]);
    expect(await companyIn(tenant, 'Made')).toEqual({ id: 'x', name: 'Made' });
    expect(await companyIn(tenant, 'Nobody')).toEqual(['There is no company "Nobody".', 'x']);
  });

  test('that is to be written must still exist', async () => {
    const tenant = await all();
    const existing = async (reference: { id: string; name?: string }) =>
      answerOf(requireExisting(tenant, 'company', reference, callWith()));
    expect(await existing({ id: 'acme' })).toMatchObject({ id: 'acme', name: 'Acme' });
    const gone = { id: 'gone', name: 'Gone' };
    expect(await existing(gone)).toEqual(['The company "Gone" has been deleted.']);
    expect(await existing({ id: 'gone' })).toEqual(['The company "gone" has been deleted.']);
    const none = { id: 'none', name: 'None' };
    expect(await existing(none)).toEqual(['There is no company "None" (none) any more.']);
  });
});

describe('a company that is not found', () => {
  const similar = async (company: Row[], text: string) => {
    const { tenant } = await tenantOver({ company });
    return companyIn(tenant, text);
  };
  const named = [
    { id: 'x', name: 'Nordic Ltd' },
    { id: 'y', name: 'Аcme' },
    { id: 'gone', name: 'Nordic Ltd', deleted },
  ];

  test('is answered with all, if there are few, those with a similar name first', async () => {
    const few = [...fillers(3, 'Filler'), ...named];
    const [why, ...ids] = (await similar(few, 'Nordick')) as string[];
    expect([why, ids.join()]).toEqual(['There is no company "Nordick".', 'x,f0,f1,f2,y']);
  });

  test('is answered with similar ones, if there are many', async () => {
    const many = [...fillers(12, 'Filler'), ...named];
    for (const text of ['NORDIC/of', 'Nordic Limited'])
      expect(await similar(many, text)).toEqual([`There is no company "${text}".`, 'x']);
    expect(await similar(many, 'Acme')).toEqual(['There is no company "Acme".', 'y']);
    expect(await similar(many, 'zz')).toEqual([
      'There is no company "zz". Look it up with cpq_find or a list first.',
    ]);
    const [, ...shown] = (await similar(fillers(20, 'Filler'), 'a filler')) as string[];
    expect(shown).toHaveLength(8);
  });
});

describe('a contact', () => {
  const person = (id: string, firstName: string, companyId?: string, more: Row = {}): Row => ({
    ...{ id, firstName, ...(companyId && { companyId, companyName: companyId }) },
    ...more,
  });
  const contact = [
    person('ada1', 'Ada', 'acme', { email: 'ada@acme.example' }),
    person('ada2', 'Ada', 'bolt', { email: 'ada@bolt.example' }),
    person('bob', 'Bob', 'bolt', { externalIdentifier: 'B-1' }),
    person('cid1', 'Cid', 'acme', { email: 'info@x.example' }),
    person('cid2', 'Cid', 'bolt', { email: 'info@x.example' }),
    person('cid3', 'Cid', 'acme'),
    person('dan', 'Dan'),
    person('eve1', 'Eve', 'acme', { deleted }),
    person('eve2', 'Eve', 'bolt'),
  ];
  const all = shared(async () => (await tenantOver({ contact })).tenant);
  const find = async (text: string, companyId?: string) => {
    const company = companyId === undefined ? undefined : { id: companyId };
    return answerOf(resolveReference(await all(), 'contact', text, company, callWith()));
  };

  test.each<[text: string, company: string | undefined, found: unknown]>([
    ['Ada', 'acme', { id: 'ada1', name: 'Ada' }],
    ['Ada', 'bolt', { id: 'ada2', name: 'Ada' }],
    ['Ada', undefined, ['Several are called "Ada" as contact: say which by id.', 'ada1', 'ada2']],
    ['ADA@bolt.example', 'acme', { id: 'ada2', name: 'Ada' }],
    ['b-1', 'acme', { id: 'bob', name: 'Bob' }],
    ['bob', 'acme', { id: 'bob', name: 'Bob' }],
    ['Bob', 'acme', ['The company has no contact "Bob", but others have: say which by id.', 'bob']],
    ['Dan', undefined, { id: 'dan', name: 'Dan' }],
    ['Dan', 'acme', ['The company has no contact "Dan", but others have: say which by id.', 'dan']],
    ['info@x.example', 'acme', { id: 'cid1', name: 'Cid' }],
    [
      'info@x.example',
      'cara',
      ['Several are called "info@x.example" as contact: say which by id.', 'cid1', 'cid2'],
    ],
    ['Cid', 'acme', ['Several are called "Cid" as contact: say which by id.', 'cid1', 'cid3']],
    ['Eve', 'acme', ['The contact "Eve" has been deleted.']],
  ])('%s of the company %s', async (text, company, found) => {
    expect(await find(text, company)).toEqual(found);
  });

  test('is shown among several by company and e-mail address, as far as they are known', async () => {
    await expect(
      resolveReference(await all(), 'contact', 'Cid', undefined, callWith()),
    ).rejects.toMatchObject({
      details: {
        candidates: [
          { hint: 'acme, info@x.example' },
          { hint: 'bolt, info@x.example' },
          { hint: 'acme' },
        ],
      },
    });
  });
});

describe('an owner, stage, category or source', () => {
  const opportunity: Row[] = [
    { id: 'o1', owner: { id: 'u1', name: 'Uma Old' }, pipelineStage: { id: 's1', name: 'Offer' } },
    { id: 'o2', owner: { id: 'u1', name: 'Uma New', externalIdentifier: 'U-1' } },
    { id: 'o3', owner: { id: 'u2', name: 'Twin' }, source: { id: 'w1', name: 'Web' } },
    { id: 'o4', owner: { id: 'u3', name: 'twin' }, category: { id: 'k1' } },
    { id: 'o5', owner: { id: 'u1' } },
  ];
  const all = shared(async () => (await tenantOver({ opportunity })).tenant);
  const find = async (what: Parameters<typeof resolveReference>[1], text: string) =>
    answerOf(resolveReference(await all(), what, text, undefined, callWith()));

  test('is found by id, identifier, or any of its names, and shown by the one that is meant', async () => {
    for (const text of ['u1', 'U-1', 'uma new'])
      expect(await find('owner', text), text).toEqual({ id: 'u1', name: 'Uma New' });
    expect(await find('owner', 'uma old')).toEqual({ id: 'u1', name: 'Uma Old' });
    expect(await find('stage', 'offer')).toEqual({ id: 's1', name: 'Offer' });
    expect(await find('source', 'web')).toEqual({ id: 'w1', name: 'Web' });
    expect(await find('category', 'k1')).toEqual({ id: 'k1' });
    expect(await find('owner', 'Twin')).toEqual([
      'Several are called "Twin" as owner: say which by id.',
      'u2',
      'u3',
    ]);
    expect(await find('source', 'Offer')).toEqual(['There is no source "Offer".', 'w1']);
  });
});

describe('another record whose name looks the same', () => {
  const company = [
    { id: 'c1', name: 'Acme' },
    { id: 'c2', name: 'Acmе' },
    { id: 'c3', name: 'Bolt' },
    { id: 'c4', name: 'Boit', deleted },
    { id: 'c5', name: 'BoIt', deleted },
  ];
  const contact = [
    { id: 'p4', firstName: 'Bob', companyId: 'c3' },
    { id: 'p1', firstName: 'Ada', companyId: 'c1' },
    { id: 'p2', firstName: 'Аda', companyId: 'c1' },
    { id: 'p3', firstName: 'Bob', companyId: 'c1' },
  ];
  const stage = (id: string, name: string): Row => ({
    id: `o-${id}${name}`,
    pipelineStage: { id, name },
  });
  const opportunity = [
    stage('s1', 'Won'),
    stage('s2', 'Wоn'),
    stage('s2', 'Lost'),
    stage('s3', 'New'),
  ];
  const all = shared(async () => (await tenantOver({ company, contact, opportunity })).tenant);

  test.each([
    ['company', { id: 'c1', name: 'Acme' }, { id: 'c2', name: 'Acmе' }],
    ['company', { id: 'c3', name: 'Bolt' }, undefined],
    ['contact', { id: 'p1', name: 'Ada' }, { id: 'p2', name: 'Аda' }],
    ['contact', { id: 'p3', name: 'Bob' }, undefined],
    ['stage', { id: 's1', name: 'Won' }, { id: 's2', name: 'Wоn' }],
    ['stage', { id: 's3', name: 'New' }, undefined],
    ['stage', { id: 'New' }, { id: 's3', name: 'New' }],
  ] as const)('%s %j', async (field, reference, other) => {
    const found = await findLookAlike(await all(), field, reference, callWith());
    expect(found && { id: found.id, name: found.name }).toEqual(other);
  });
});

describe('the opportunity to write', () => {
  const opportunity: Row[] = [
    { id: 'o1', externalIdentifier: 'E-1', name: 'One', company: { name: 'Acme' } },
    { id: 'o2', name: 'Without an identifier' },
    { id: 'o3', externalIdentifier: 'E-3', name: 'Gone', deletedAt: deleted },
    { id: 'o5', externalIdentifier: '..', name: 'No path' },
    { externalIdentifier: 'E-6', name: 'Without an id' },
    { id: 'o7', externalIdentifier: '', name: 'Of an empty one' },
    { id: 'o8', externalIdentifier: ' ', name: 'Of a blank' },
  ];
  const company: Row[] = [{ id: 'acme', name: 'Acme' }];
  const all = shared(async () => (await tenantOver({ opportunity, company })).tenant);

  const isDeleted = /^This opportunity has been deleted\.$/;
  test.each<[Parameters<TargetFinder['find']>[0], why: RegExp]>([
    [{}, /^Say which opportunity/],
    [{ externalId: 'E-9' }, /"E-9"\. To make a new one, say create: true/],
    [{ externalId: 'E-1', create: true }, /^The external identifier "E-1" is taken/],
    [{ opportunityId: 'o1', create: true }, /"E-1" is taken/],
    [{ externalId: 'e-1' }, /but one has "E-1", which looks the same/],
    [{ externalId: 'e-1', create: true }, /but one has "E-1"/],
    [{ opportunityId: 'o9' }, /no opportunity with the id "o9"/],
    [{ opportunityId: '..' }, /cannot be an identifier/],
    [{ externalId: '..' }, /cannot be an identifier/],
    [{ opportunityId: 'o5' }, /"\.\." cannot be an identifier/],
    [{ opportunityId: 'o2' }, /has no external identifier/],
    [{ opportunityId: 'o7' }, /has no external identifier/],
    [{ opportunityId: 'o8' }, /has no external identifier/],
    [{ opportunityId: 'o3' }, isDeleted],
    [{ externalId: 'E-3' }, isDeleted],
    [{ externalId: 'E-3', create: true }, isDeleted],
    [{ externalId: 'E-6' }, /^This opportunity has no id to read it by\.$/],
    [{ opportunityId: 'o1', externalId: 'E-3' }, /"E-1", not "E-3"\.$/],
  ])('is not found by %j', async (selector, why) => {
    expect(await answerOf(finderOf(await all()).find(selector))).toEqual([
      expect.stringMatching(why),
    ]);
  });

  test('is found by both of its identifiers, and a new one by its own', async () => {
    const both = { opportunityId: 'o1', externalId: 'E-1' };
    expect(await finderOf(await all()).find(both)).toMatchObject({
      present: { record: { id: 'o1', name: 'One' } },
    });
    const made = await finderOf(await all()).find({ externalId: 'E-9', create: true });
    expect(made).toEqual({ externalId: 'E-9', scale: expect.anything() });
  });

  test('has the ids of what it refers to by name, as far as that may be read', async () => {
    for (const selector of [{ opportunityId: 'o1' }, { externalId: 'E-1', opportunityId: 'o1' }]) {
      const { present } = await finderOf(await all()).find(selector);
      expect(present?.record.company).toEqual({ id: 'acme', name: 'Acme' });
    }
    const grants = ['opportunity:read', 'opportunity:write'];
    const { tenant } = await tenantOver({ opportunity, company }, { grants });
    const { present } = await finderOf(tenant).find({ opportunityId: 'o1' });
    expect(present?.record.company).toEqual({ name: 'Acme' });
  });

  test('is not new where not all could be read', async () => {
    const rows = Array.from({ length: 60 }, (_, at) => ({ id: `o${at}`, name: `${at}` }));
    const { tenant, upstream } = await tenantOver({ opportunity: rows });
    upstream.set(limit(faults['ignored-from-clamped'], { path: '/opportunity' }));
    expect(await answerOf(finderOf(tenant).find({ externalId: 'E-9', create: true }))).toEqual([
      expect.stringMatching(/^Only 10 of 60 opportunities .* no other has the .* "E-9"/),
    ]);
  });

  test('is read again before the write', async () => {
    const { tenant, upstream } = await tenantOver({ opportunity });
    const target = await finderOf(tenant).find({ opportunityId: 'o1' });
    const [row = {}] = upstream.records['/opportunity'];
    row.name = 'Two';
    expect(await finderOf(tenant).refresh(target)).toMatchObject({
      externalId: 'E-1',
      present: { record: { name: 'Two' } },
      scale: target.scale,
    });
    row.externalIdentifier = 'E-2';
    expect(await answerOf(finderOf(tenant).refresh(target))).toEqual([
      expect.stringMatching(/is no longer "E-1"/),
    ]);
    row.deletedAt = deleted;
    expect(await answerOf(finderOf(tenant).refresh(target))).toEqual([
      'This opportunity has been deleted.',
    ]);
  });

  test('may have been created before the write, or one that looks like it', async () => {
    const { tenant, upstream } = await tenantOver({});
    const target = await finderOf(tenant).find({ externalId: 'E-9', create: true });
    expect(await finderOf(tenant).refresh(target)).toEqual(target);
    const made = { id: 'o9', externalIdentifier: 'e-9', name: 'Made' };
    upstream.records['/opportunity'] = [made];
    expect(await answerOf(finderOf(tenant).refresh(target))).toEqual([
      expect.stringMatching(/but one has "e-9"/),
    ]);
    made.externalIdentifier = 'E-9';
    expect(await finderOf(tenant).refresh(target)).toMatchObject({
      present: { record: made },
    });
  });
});

test.each<[string, Behaviour]>([
  ['counts them', {}],
  ['does not count', { total: 'absent' }],
  ['gives ten at once, and does not count', { total: 'absent', maxSize: 10 }],
  ['counts in words', { total: 'text' }],
  ['counts those of a page', { total: { is: 25 } }],
])(
  'no opportunity is new where the last of many is called so: a service that %s',
  async (_, behaviour) => {
    const rows = Array.from({ length: 130 }, (__, at) => ({
      id: `o${at}`,
      name: 'Like E-9',
      externalIdentifier: at === 129 ? 'e-9' : `X-${at}`,
    }));
    const { tenant, upstream } = await tenantOver({ opportunity: rows });
    upstream.set(behaviour);
    expect(await answerOf(finderOf(tenant).find({ externalId: 'E-9', create: true }))).toEqual([
      expect.stringMatching(/but one has "e-9"|could be read/),
    ]);
  },
);

test.each<[number[], number | undefined, object]>([
  [[0.5, 1], undefined, { divisor: 1, certain: true }],
  [[0, 1], undefined, { divisor: 1, certain: false }],
  [[], undefined, { divisor: 1, certain: false }],
  [[10, 50], undefined, { divisor: 100, certain: true }],
  [[0.5, 50], undefined, { divisor: 100, certain: false }],
  [[0, 1], 50, { divisor: 100, certain: true }],
  [[], 0.5, { divisor: 1, certain: true }],
])(
  'the scale of probabilities is that of all opportunities, and of the record: %j and %s',
  async (known, own, scale) => {
    const rows = known.map((probability, at) => ({ id: `o${at}`, probability }));
    const { tenant } = await tenantOver({ opportunity: rows });
    const record = own === undefined ? undefined : { probability: own };
    expect(await tenantScale(tenant, callWith(), record)).toEqual(scale);
  },
);
