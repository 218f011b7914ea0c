import { describe, expect, test } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import {
  editRecord,
  openWriter,
  personAnswers,
  sandboxToWrite,
  type WriterOptions,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { newFolder, shared } from '../support/shared.ts';
import { askInView, click, questionFor, showsViews } from '../support/view-client.ts';

const { at, opportunity, another, puts } = sandboxToWrite('Clicked');
const open = async (options: WriterOptions = {}) =>
  openWriter(await at(), { consent: 'view', capabilities: showsViews, ...options });

describe.each(['modern', 'legacy'] as const)('a host with views (%s)', (era) => {
  const writer = shared(() => open({ era }));

  test('gets the whole question, and a secret in _meta alone', async () => {
    const [it, args, sent] = [await writer(), await another(), await puts()];
    const { report, question, shown } = await askInView(it.client, args);
    expect(report).toMatchObject({ outcome: 'not_asked', isError: false });
    expect(report).not.toHaveProperty('confirm');
    expect(report.text).toMatch(
      /^Nothing was written to .* yet: a person has to agree in the view/,
    );
    expect(report.text).toContain(`→ “${args.name}”`);
    expect(shown).toContain('You cannot decide it');
    expect(question).toMatchObject({ tool: 'cpq_upsert_opportunity', arguments: args });
    expect(question.question).toContain(`→ “${args.name}”`);
    expect(question.proposal).toMatchObject({
      what: 'change',
      changes: [{ field: 'name', label: 'Name', to: `“${args.name}”` }],
      closing: expect.stringContaining('Every other field stays as it is.'),
    });
    expect(Date.parse(question.expiresAt)).toBeGreaterThan(Date.now());
    expect(await puts()).toBe(sent);
  });

  test('declines by a click, which uses the secret up', async () => {
    const [it, args, sent] = [await writer(), await another(), await puts()];
    const { question } = await askInView(it.client, args);
    expect((await click(it.client, question, 'decline')).outcome).toBe('declined');
    const again = await click(it.client, question);
    expect(again).toMatchObject({
      outcome: 'refused',
      text: expect.stringContaining('used before'),
    });
    expect(await puts()).toBe(sent);
  });

  test('lists the tool of the view, which no other host is told of', async () => {
    const { client, connect } = await writer();
    const names = async (it: typeof client) => (await it.listTools()).tools.map(({ name }) => name);
    expect(await names(client)).toContain('cpq_answer_change');
    const others = [{}, { person: personAnswers.accepts }].map((how) => connect({ era, ...how }));
    for (const other of await Promise.all(others))
      expect(await names(other)).not.toContain('cpq_answer_change');
  });
});

describe('a click', () => {
  test('about a record that changed since shows the new difference, and asks again', async () => {
    const it = await open();
    const { externalIdentifier } = await opportunity();
    const args = await another();
    const { question } = await askInView(it.client, args);
    await editRecord(await at(), externalIdentifier, { name: 'Meanwhile' });
    const moved = await click(it.client, question);
    expect(moved).toMatchObject({ outcome: 'moved', changes: [{ from: 'Meanwhile' }] });
    if (!moved.next) throw new Error('not asked again');
    expect(moved.text).not.toContain(moved.next.secret);
    expect(moved.next.proposal.changes).toMatchObject([{ from: '“Meanwhile”' }]);
    expect((await click(it.client, moved.next)).outcome).toBe('written');
  });

  test('declines also what has changed since, at another process', async () => {
    const state = localState(newFolder());
    const { externalIdentifier } = await opportunity();
    const { question } = await askInView((await open({ state })).client, await another());
    await editRecord(await at(), externalIdentifier, { name: 'Changed before the no' });
    // Another process has the same secret, and not the plan.
    const { client } = await open({ state: { ...state } });
    expect((await click(client, question, 'decline')).outcome).toBe('declined');
  });

  test('takes back a change', async () => {
    const it = await open();
    const args = await another();
    const { change_id } = await click(it.client, (await askInView(it.client, args)).question);
    const { question } = await askInView(it.client, { change_id }, 'cpq_revert_change');
    expect(question.proposal.what).toBe('revert');
    expect((await click(it.client, question)).outcome).toBe('written');
    const intent = (await it.journal()).findLast(({ phase }) => phase === 'sending');
    expect(intent).toMatchObject({ consent: 'view', client: 'cpq-mcp-tests 1' });
    expect(JSON.stringify(await it.journal())).not.toContain(question.secret);
  });

  test('takes no change back where the record has changed since', async () => {
    const it = await open();
    const args = await another();
    const { change_id } = await click(it.client, (await askInView(it.client, args)).question);
    const { question } = await askInView(it.client, { change_id }, 'cpq_revert_change');
    const { externalIdentifier } = await opportunity();
    await editRecord(await at(), externalIdentifier, { name: args.name, description: 'Theirs' });
    const { text, next } = await click(it.client, question);
    expect(text).toMatch(/^Nothing was written\. This opportunity was changed since/);
    expect(next).toBeUndefined();
  });

  test.each<[string, (secret: string) => Row]>([
    ['another tool', () => ({ tool: 'cpq_revert_change', arguments: { change_id: 'chg_1' } })],
    ['a tool that asks nothing', () => ({ tool: 'cpq_list_changes', arguments: {} })],
    ['the tool of the view itself', () => ({ tool: 'cpq_answer_change', arguments: {} })],
    ['arguments that are not valid', () => ({ arguments: { nope: 1 } })],
  ])('with %s writes nothing', async (_, altered) => {
    const it = await open();
    const args = await another();
    const { question } = await askInView(it.client, args);
    const sent = await puts();
    const more = altered(question.secret);
    const named = more.arguments && !more.tool ? { arguments: { ...args, ...more.arguments } } : {};
    const answer = await click(it.client, question, 'write', { ...more, ...named });
    expect(answer.outcome).not.toBe('written');
    expect(await puts()).toBe(sent);
  });
});

test('a token of a preview is nothing to a host with views', async () => {
  const state = localState(newFolder());
  const tokens = await open({ state, consent: 'token', capabilities: {} });
  const args = await another();
  const { confirm } = await tokens.upsert(args);
  const { report, question } = await askInView((await open({ state })).client, {
    ...args,
    confirm,
  });
  expect(report.outcome).toBe('not_asked');
  expect(question.arguments).not.toHaveProperty('confirm');
});

test('a preview shows right-to-left text as a question does', async () => {
  const it = await open({ consent: 'token', capabilities: {} });
  const { preview } = await it.upsert({ ...(await another()), name: 'שלום' });
  expect(preview).toContain('→ \u2068“שלום”\u2069\n');
  expect(preview).not.toContain('invisible');
});

describe('the order of the ways to ask', () => {
  const ways = async (options: WriterOptions) => {
    const it = await open(options);
    const result = await it.client.callTool({
      name: 'cpq_upsert_opportunity',
      arguments: await another(),
    });
    const { outcome, confirm } = (result.structuredContent ?? {}) as Row;
    const text = JSON.stringify(result.content);
    return { outcome, token: confirm !== undefined, view: questionFor(result) !== undefined, text };
  };

  test('is a form, then a view, then a token where it is allowed', async () => {
    const person = personAnswers.accepts;
    expect(await ways({ person })).toMatchObject({ outcome: 'written', view: false });
    expect(await ways({ consent: 'token' })).toMatchObject({ view: true, token: false });
    expect(await ways({ consent: 'token', capabilities: {} })).toMatchObject({
      view: false,
      token: true,
    });
  });

  test('is a form or nothing with CPQ_CONSENT=ask', async () => {
    const state = localState(newFolder());
    const answer = await ways({ consent: 'ask', state });
    expect(answer).toMatchObject({ outcome: 'not_asked', view: false, token: false });
    expect(answer.text).toMatch(/allows nothing else \(CPQ_CONSENT=ask\)/);
    const args = await another();
    const { question } = await askInView((await open({ state })).client, args);
    const strict = await open({ state, consent: 'ask' });
    const { confirm } = await (await open({ state, consent: 'token', capabilities: {} })).upsert(
      args,
    );
    expect(confirm).toBeTypeOf('string');
    const sent = await puts();
    expect((await click(strict.client, question)).outcome).toBe('not_asked');
    expect((await strict.upsert({ ...args, confirm })).outcome).toBe('not_asked');
    expect(await puts()).toBe(sent);
  });
});
