import { afterEach, describe, expect, test, vi } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import {
  type CallReport,
  editRecord,
  openOverService,
  openWriter,
  personAnswers,
  question,
  reportOf,
  sandboxToWrite,
  type Writer,
  type WriterOptions,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { newFolder, shared } from '../support/shared.ts';
import { limit } from '../support/upstream/behaviour.ts';
import { writeFaults } from '../support/upstream/write-faults.ts';
import { askInView, click, showsViews, type ViewQuestion } from '../support/view-client.ts';

/**
 * What stands for a person's agreement: the token of a preview, the state of a question, the secret of a view. Each is for
 * one change of one record in one state, and counts once.
 */

const tool = 'cpq_upsert_opportunity';
const minutes = 60_000;

interface Kind {
  options: WriterOptions;
  /** Asks for a change, or to take one back. @returns what stands for the agreement */
  ask(it: Writer, args: Row): Promise<string>;
  /** Asks for the change as one that was agreed to. */
  use(it: Writer, args: Row, secret: string): Promise<CallReport>;
}

const token: Kind = {
  options: {},
  ask: async (it, args) => {
    const { outcome, confirm } = await it.upsert(args);
    expect(outcome).toBe('not_asked');
    return String(confirm);
  },
  use: (it, args, confirm) => it.upsert({ ...args, confirm }),
};
const state = (transport: 'pipe' | 'http'): Kind => ({
  options: { transport, person: personAnswers.accepts },
  ask: async (it, args) => (await question(it, args)).requestState,
  use: async (it, args, requestState) => {
    const inputResponses = { consent: personAnswers.accepts() };
    const request = { name: tool, arguments: args, requestState, inputResponses };
    return reportOf((await it.raw(request)) as never);
  },
});
const view = (era: 'modern' | 'legacy'): Kind => ({
  options: { era, consent: 'view', capabilities: showsViews },
  ask: async (it, args) => (await askInView(it.client, args)).question.secret,
  use: (it, args, secret) =>
    click(it.client, { secret, tool, arguments: args } as unknown as ViewQuestion),
});
const kinds: [string, Kind][] = [
  ['the token of a preview', token],
  ['the state of a question', state('pipe')],
  ['the secret of a view', view('modern')],
  ['the state of a question over HTTP', state('http')],
  ['the secret of a view, legacy', view('legacy')],
];

const { sandbox, at, another, now, puts } = sandboxToWrite('Agreed to');

/** Expects a refusal for this reason, and no write. */
async function expectRefused(use: Promise<CallReport>, why: RegExp): Promise<void> {
  const before = await puts();
  const answer = await use;
  expect(answer).toMatchObject({ outcome: 'refused', text: expect.stringMatching(why) });
  expect(answer.text).toMatch(/^Nothing was written/);
  expect(await puts()).toBe(before);
}
const notOurs = /not given out by this server/;
const forAnother = /given for another change/;

afterEach(() => {
  vi.useRealTimers();
});

/** Writers of a kind, the usual one, and an agreement to a new change. */
function fixtureOf({ options, ask }: Kind) {
  const open = async (more: WriterOptions = {}) => openWriter(await at(), { ...options, ...more });
  const writer = shared(open);
  const asked = async () => {
    const [it, args] = [await writer(), await another()];
    return { it, args, secret: await ask(it, args) };
  };
  return { open, writer, asked };
}

describe.each(kinds)('%s', (_, kind) => {
  const { options, ask, use } = kind;
  const { writer, asked } = fixtureOf(kind);

  test('writes once', async () => {
    const before = await puts();
    const { it, args, secret } = await asked();
    expect(await puts()).toBe(before);
    expect((await use(it, args, secret)).outcome).toBe('written');
    expect((await now()).name).toBe(args.name);
    expect((await use(it, args, secret)).outcome).toBe('no_change');
    expect(await puts()).toBe(before + 1);
  });

  test('writes once in several calls at the same time', async () => {
    const { it, args, secret } = await asked();
    const before = await puts();
    const answers = await Promise.all([1, 2, 3].map(() => use(it, args, secret)));
    expect(answers.filter(({ outcome }) => outcome === 'written')).toHaveLength(1);
    expect(await puts()).toBe(before + 1);
    for (const { outcome, text } of answers)
      if (outcome === 'refused') expect(text).toMatch(/it was used before/);
  });

  test('that is invented is refused', async () => {
    const formed = `zzzzzzzz.${'A'.repeat(12)}.${'A'.repeat(22)}.${'A'.repeat(22)}.${'A'.repeat(22)}`;
    for (const invented of ['nonsense', '....', 'a.b.c.d.e', formed])
      await expectRefused(use(await writer(), await another(), invented), notOurs);
  });

  test('that is altered, extended or lengthened in any part is refused', async () => {
    const { it, args, secret } = await asked();
    const parts = secret.split('.');
    expect(parts).toHaveLength(5);
    const later = (Number.parseInt(parts[0] ?? '', 36) + 60 * minutes).toString(36);
    const altered = parts.map((part, place) =>
      parts.with(place, part.startsWith('A') ? `B${part.slice(1)}` : `A${part.slice(1)}`),
    );
    const more = ['.', '.more', ' ', '\n', '='].flatMap((end) => [secret + end, end + secret]);
    const spoilt = [...altered, parts.with(0, later)].map((each) => each.join('.'));
    for (const each of [...spoilt, ...more]) await expectRefused(use(it, args, each), notOurs);
    expect((await use(it, args, secret)).outcome).toBe('written');
  });

  test('is refused after ten minutes, and accepted just before', async () => {
    const [first, second] = [await asked(), await asked()];
    const given = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: given + 10 * minutes - 5_000 });
    expect((await use(first.it, first.args, first.secret)).outcome).toBe('written');
    // The record has changed since, but that is not reported first.
    vi.setSystemTime(given + 10 * minutes + 1);
    await expectRefused(use(second.it, second.args, second.secret), /older than ten minutes/);
  });

  test('that was used is refused, even if the service refused the write', async () => {
    const { upstream, it, puts } = await openOverService({ person: undefined, ...options });
    const args = { external_id: 'opp-1', name: 'Named anew' };
    const secret = await ask(it, args);
    upstream.set(limit(writeFaults['400-messages'], { method: 'PUT', first: 1 }));
    expect((await use(it, args, secret)).outcome).toBe('not_written');
    const again = await use(it, args, secret);
    expect(again).toMatchObject({
      outcome: 'refused',
      text: expect.stringContaining('used before'),
    });
    expect(puts()).toBe(1);
  });
});

describe.each(kinds.slice(0, 3))('%s is for one change', (_, kind) => {
  const { options, ask, use } = kind;
  const { open, writer, asked } = fixtureOf(kind);

  test.each<[string, Row]>([
    ['another value', { name: 'Another name' }],
    ['one field more', { probability: 0.77 }],
  ])('not for %s', async (_, more) => {
    const { it, args, secret } = await asked();
    await expectRefused(use(it, { ...args, ...more }, secret), forAnother);
  });

  test('not for another record', async () => {
    const it = await writer();
    const { name } = await another();
    const making = (end: string) => ({ external_id: `${name} ${end}`, create: true, name: 'Same' });
    const secret = await ask(it, making('one'));
    await expectRefused(use(it, making('other'), secret), forAnother);
  });

  test('at any server with the same state, at no other, and for no other tenant', async () => {
    const kept = localState(newFolder());
    const [, second] = (await sandbox()).tenants;
    if (!second) throw new Error('no second tenant');
    const theirs = { baseUrl: second.baseUrl, key: second.keys.all };
    const [one, other] = [await open({ state: kept }), await open({ state: kept })];
    const elsewhere = await openWriter(theirs, { ...options, state: kept });
    const args = { external_id: (await another()).name, create: true, name: 'Where?' };
    const secret = await ask(one, args);
    await expectRefused(use(await open(), args, secret), notOurs);
    await expectRefused(use(elsewhere, args, secret), forAnother);
    expect((await use(other, args, secret)).outcome).toBe('written');
  });

  test.each<[string, Row]>([
    ['in the field that is to change', { name: 'Meanwhile' }],
    ['in another field', { description: 'They changed their mind' }],
  ])('not for a record that has changed %s', async (_, theirs) => {
    const { it, args, secret } = await asked();
    const { externalIdentifier, name } = await now();
    await editRecord(await at(), externalIdentifier, { name, ...theirs });
    const before = await puts();
    const answer = await use(it, args, secret);
    expect(answer.outcome).toBe('moved');
    expect(answer.text).toMatch(/^Nothing was written: .* is not as it was when the person agreed/);
    expect(answer.changes).toMatchObject([
      { field: 'name', to: args.name, ...('name' in theirs && { from: theirs.name }) },
    ]);
    expect(await puts()).toBe(before);
    expect((await use(it, args, secret)).outcome).not.toBe('written');
    expect((await use(it, args, await ask(it, args))).outcome).toBe('written');
  });
});

test('none is taken for another', async () => {
  const kept = localState(newFolder());
  const each = [token, state('pipe'), view('modern')];
  const writers = await Promise.all(
    each.map(async ({ options }) => openWriter(await at(), { ...options, state: kept })),
  );
  const args = await another();
  for (const [given, from] of each.entries())
    for (const [taken, to] of each.entries()) {
      const [one, other] = [writers[given], writers[taken]];
      if (!one || !other || given === taken) continue;
      const secret = await from.ask(one, args);
      await expectRefused(to.use(other, args, secret), /for another purpose/);
    }
});

test('a token for a change is none for taking it back with the same difference, and the reverse', async () => {
  const it = await openWriter(await at());
  const { id, name } = await now();
  const args = await another();
  const { change_id } = await token.use(it, args, await token.ask(it, args));
  const back = { opportunity_id: id, name };
  const forUpsert = await token.ask(it, back);
  const { confirm: forRevert = '' } = await it.revert(change_id);
  await expectRefused(it.revert(change_id, { confirm: forUpsert }), forAnother);
  await expectRefused(token.use(it, back, forRevert), forAnother);
  expect((await it.revert(change_id, { confirm: forRevert })).outcome).toBe('written');
});
