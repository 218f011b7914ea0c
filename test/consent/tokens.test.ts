import { afterEach, describe, expect, test, vi } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import {
  anyOpportunity,
  type CallReport,
  editRecord,
  openWriter,
  putsOf,
  recordOf,
  type Writer,
} from '../support/consent.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { limit } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { writeFaults } from '../support/upstream/write-faults.ts';

const sandbox = shared(() => startSandbox({ scale: 0.2 }));
const at = async () => addressIn(await sandbox(), 'all');
const writer = shared(async () => openWriter(await at()));
const opportunity = shared(async () => anyOpportunity(await at()));
const puts = async () => (await putsOf(await sandbox())).length;

afterEach(() => {
  vi.useRealTimers();
});

/** A change that no other test of this file makes. */
let count = 0;
const another = async () => {
  count += 1;
  return { opportunity_id: (await opportunity()).id, name: `Named for the ${count}. time` };
};

async function previewed(from: Writer, args: Record<string, unknown>): Promise<string> {
  const { outcome, confirm } = await from.upsert(args);
  expect(outcome).toBe('not_asked');
  if (confirm === undefined) throw new Error('no token');
  return confirm;
}

/** Expects a refusal for this reason, and no write. */
async function expectRefused(call: () => Promise<CallReport>, why: RegExp): Promise<void> {
  const before = await puts();
  const answer = await call();
  expect(answer).toMatchObject({ outcome: 'refused', text: expect.stringMatching(why) });
  expect(answer.text).toMatch(/^Nothing was written/);
  expect(await puts()).toBe(before);
}

describe('a host that cannot ask', () => {
  test('gets a preview and a token, and nothing is written', async () => {
    const it = await writer();
    const args = await another();
    const before = await puts();
    const { outcome, preview, text, changes, confirm } = await it.upsert(args);
    expect(outcome).toBe('not_asked');
    expect(text).toMatch(/^Nothing was written to .* yet: nobody was asked/);
    expect(preview).toContain(`→ “${args.name}”`);
    expect(preview).toMatch(/Every other field stays as it is/);
    expect(changes).toMatchObject([{ field: 'name', to: args.name }]);
    expect(confirm).toBeTypeOf('string');
    expect(await puts()).toBe(before);
  });

  test('gets the same preview of right-to-left text as in a question', async () => {
    const it = await writer();
    const { preview, confirm } = await it.upsert({ ...(await another()), name: 'שלום' });
    expect(preview).toContain('→ \u2068“שלום”\u2069\n');
    expect(preview).not.toContain('invisible');
    await it.upsert({ ...(await another()), name: 'שלום', confirm });
  });

  test('writes once with the token', async () => {
    const it = await writer();
    const args = await another();
    const confirm = await previewed(it, args);
    const before = await puts();
    expect((await it.upsert({ ...args, confirm })).outcome).toBe('written');
    expect(await puts()).toBe(before + 1);
    expect((await recordOf(await at(), args.opportunity_id)).name).toBe(args.name);
    expect((await it.journal()).findLast(({ phase }) => phase === 'sending')).toMatchObject({
      consent: 'token',
      client: 'consent-tests 1',
    });
    expect((await it.upsert({ ...args, confirm })).outcome).toBe('no_change');
    expect(await puts()).toBe(before + 1);
  });

  test('writes once with one token in two concurrent calls', async () => {
    const it = await writer();
    const args = await another();
    const confirm = await previewed(it, args);
    const before = await puts();
    const answers = await Promise.all([1, 2, 3].map(() => it.upsert({ ...args, confirm })));
    const outcomes = answers.map(({ outcome }) => outcome).sort();
    expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
    expect(await puts()).toBe(before + 1);
    for (const { outcome, text } of answers) {
      if (outcome === 'refused') expect(text).toMatch(/it was used before/);
    }
  });
});

describe('an invalid token', () => {
  test.each([
    'nonsense',
    '....',
    'a.b.c.d.e',
    `zzzzzzzz.${'A'.repeat(12)}.${'A'.repeat(22)}.${'A'.repeat(22)}.${'A'.repeat(22)}`,
  ])('that is invented is refused: %s', async (confirm) => {
    const args = await another();
    await expectRefused(
      async () => (await writer()).upsert({ ...args, confirm }),
      /not given out by this server/,
    );
  });

  test('that is changed in any part is refused', async () => {
    const it = await writer();
    const args = await another();
    const parts = (await previewed(it, args)).split('.');
    expect(parts).toHaveLength(5);
    for (const [at, part] of parts.entries()) {
      const altered = part.startsWith('A') ? `B${part.slice(1)}` : `A${part.slice(1)}`;
      const confirm = parts.with(at, altered).join('.');
      await expectRefused(() => it.upsert({ ...args, confirm }), /not given out by this server/);
    }
  });

  test.each(['.', '.more', ' ', '\n', '='])(
    'with something appended is refused: %j',
    async (more) => {
      const it = await writer();
      const args = await another();
      const token = await previewed(it, args);
      for (const confirm of [token + more, more + token])
        await expectRefused(() => it.upsert({ ...args, confirm }), /not given out by this server/);
      expect((await it.upsert({ ...args, confirm: token })).outcome).toBe('written');
    },
  );

  test('with an extended expiry is refused', async () => {
    const it = await writer();
    const args = await another();
    const [expiry = '', ...rest] = (await previewed(it, args)).split('.');
    const later = (Number.parseInt(expiry, 36) + 3_600_000).toString(36);
    const confirm = [later, ...rest].join('.');
    await expectRefused(() => it.upsert({ ...args, confirm }), /not given out by this server/);
  });

  test('is refused after ten minutes, and accepted just before', async () => {
    const it = await writer();
    const [first, second] = [await another(), await another()];
    const tokens = [await previewed(it, first), await previewed(it, second)];
    const given = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: given + 10 * 60_000 - 5_000 });
    expect((await it.upsert({ ...first, confirm: tokens[0] })).outcome).toBe('written');
    // The record has changed since, but that is not reported first.
    vi.setSystemTime(given + 10 * 60_000 + 1);
    await expectRefused(
      () => it.upsert({ ...second, confirm: tokens[1] }),
      /older than ten minutes.*without confirm/s,
    );
  });

  test('that was used is refused, even if the service refused the write', async () => {
    const upstream = closing(await startUpstream());
    const it = await openWriter({ baseUrl: upstream.url, key: 'any' });
    const args = { external_id: 'opp-1', name: 'Named anew' };
    const confirm = await previewed(it, args);
    upstream.set(limit(writeFaults['400-messages'], { method: 'PUT', first: 1 }));
    expect((await it.upsert({ ...args, confirm })).outcome).toBe('not_written');
    const answer = await it.upsert({ ...args, confirm });
    expect(answer).toMatchObject({ outcome: 'refused' });
    expect(answer.text).toMatch(/used before/);
    expect(upstream.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1);
  });
});

describe('a token for something else', () => {
  test('of another server is refused', async () => {
    const args = await another();
    const confirm = await previewed(await openWriter(await at()), args);
    await expectRefused(
      async () => (await writer()).upsert({ ...args, confirm }),
      /not given out by this server/,
    );
  });

  test('of another tenant of the same server is refused', async () => {
    const [, second] = (await sandbox()).tenants;
    if (!second) throw new Error('no second tenant');
    const state = localState(newFolder());
    const [one, other] = await Promise.all([
      openWriter(await at(), { state }),
      openWriter({ baseUrl: second.baseUrl, key: second.keys.all }, { state }),
    ]);
    const args = { external_id: 'ASK-77', create: true, name: 'In which tenant?' };
    const confirm = await previewed(one, args);
    await expectRefused(() => other.upsert({ ...args, confirm }), /given for another change/);
  });

  test('of another record is refused', async () => {
    const it = await writer();
    const [one, other] = [`ASK-${Date.now()}-1`, `ASK-${Date.now()}-2`];
    const confirm = await previewed(it, { external_id: one, create: true, name: 'Same' });
    await expectRefused(
      () => it.upsert({ external_id: other, create: true, name: 'Same', confirm }),
      /given for another change/,
    );
  });

  test.each([
    ['another value', { name: 'Another name' }],
    ['one field more', { probability: 0.77 }],
  ])('of another difference is refused: %s', async (_, more) => {
    const it = await writer();
    const args = await another();
    const confirm = await previewed(it, args);
    await expectRefused(() => it.upsert({ ...args, ...more, confirm }), /given for another change/);
  });

  test('of another tool with the same difference is refused', async () => {
    const it = await writer();
    const { id, name } = await recordOf(await at(), (await opportunity()).id);
    const args = await another();
    const { change_id } = await it.upsert({ ...args, confirm: await previewed(it, args) });
    const back = { opportunity_id: id, name };
    const forUpsert = await previewed(it, back);
    const { confirm: forRevert } = await it.revert(change_id);
    await expectRefused(() => it.revert(change_id, { confirm: forUpsert }), /another change/);
    await expectRefused(() => it.upsert({ ...back, confirm: forRevert }), /another change/);
    expect((await it.revert(change_id, { confirm: forRevert })).outcome).toBe('written');
  });
});

describe('a token for a record that has changed since', () => {
  test('writes nothing and shows the current difference', async () => {
    const it = await writer();
    const { externalIdentifier } = await opportunity();
    const args = await another();
    const confirm = await previewed(it, args);
    await editRecord(await at(), externalIdentifier, { name: 'Meanwhile' });
    const before = await puts();
    const answer = await it.upsert({ ...args, confirm });
    expect(answer.outcome).toBe('moved');
    expect(answer.text).toMatch(/^Nothing was written: .* is not as it was when the person agreed/);
    expect(answer.changes).toMatchObject([{ field: 'name', from: 'Meanwhile', to: args.name }]);
    expect(await puts()).toBe(before);
    // The token would only be refused again.
    expect(answer.text).toContain('without confirm');
    expect((await it.upsert({ ...args, confirm })).outcome).toBe('moved');
    const again = await previewed(it, args);
    expect((await it.upsert({ ...args, confirm: again })).outcome).toBe('written');
  });

  test('writes nothing where only another field changed', async () => {
    const it = await writer();
    const { externalIdentifier, name } = await recordOf(await at(), (await opportunity()).id);
    const args = await another();
    const confirm = await previewed(it, args);
    await editRecord(await at(), externalIdentifier, {
      name,
      description: 'They changed their mind',
    });
    expect((await it.upsert({ ...args, confirm })).outcome).toBe('moved');
  });
});

describe('CPQ_CONSENT=ask', () => {
  test('offers no token and accepts none', async () => {
    const state = localState(newFolder());
    const strict = await openWriter(await at(), { state, consent: 'ask' });
    const lax = await openWriter(await at(), { state });
    const args = await another();
    const answer = await strict.upsert(args);
    expect(answer).toMatchObject({ outcome: 'not_asked', isError: false });
    expect(answer.text).toMatch(/nobody was asked, because .*CPQ_CONSENT=ask/);
    expect(answer).not.toHaveProperty('confirm');
    const before = await puts();
    const again = await strict.upsert({ ...args, confirm: await previewed(lax, args) });
    expect(again.outcome).toBe('not_asked');
    expect(await puts()).toBe(before);
  });
});
