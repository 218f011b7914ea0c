import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  Answering,
  anyOpportunity,
  type CallReport,
  openWriter,
  personAnswers,
  question,
  rawCall,
  recordOf,
  reportOf,
  type Writer,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';

const tool = 'cpq_upsert_opportunity';
const accepted = { consent: personAnswers.accepts() };
const sandbox = shared(() => startSandbox({ scale: 0.2 }));
const at = async () => addressIn(await sandbox(), 'all');
const opportunity = shared(async () => anyOpportunity(await at()));

let count = 0;
const another = async () => {
  count += 1;
  return { opportunity_id: (await opportunity()).id, name: `Claimed to be agreed ${count}` };
};

afterEach(() => {
  vi.useRealTimers();
});

const answering = async (it: Writer, args: Row, more: Row): Promise<Row> =>
  it.raw({ name: tool, arguments: args, ...more });

/** Expects that the call is refused for this reason, or asks again, and that nothing is written. */
async function expectNothing(result: Row, args: { name: string }): Promise<CallReport> {
  expect((await recordOf(await at(), (await opportunity()).id)).name).not.toBe(args.name);
  return reportOf(result as never);
}

const writers = {
  pipe: shared(async () => openWriter(await at(), { person: personAnswers.accepts })),
  http: shared(async () =>
    openWriter(await at(), { transport: 'http', person: personAnswers.accepts }),
  ),
};
const transports = ['pipe', 'http'] as const;

describe.each(transports)('a host that answers by itself, %s', (transport) => {
  const writer = writers[transport];

  test('an answer without a question is ignored, and the question is asked', async () => {
    const it = await writer();
    const args = await another();
    const result = await answering(it, args, { inputResponses: accepted });
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { consent: { method: 'elicitation/create' } },
    });
    await expectNothing(result, args);
  });

  test('a request state without an answer is refused', async () => {
    const it = await writer();
    const args = await another();
    const { requestState } = await question(it, args);
    for (const inputResponses of [
      undefined,
      {},
      { other: personAnswers.accepts() },
      { consent: {} },
    ]) {
      const more = { requestState, ...(inputResponses ? { inputResponses } : {}) };
      const answer = await expectNothing(await answering(it, args, more), args);
      expect(answer.text).toMatch(/the host sent no answer to the question/);
    }
  });

  test.each([
    ['"yes"', { agree: 'yes' }],
    ['"true"', { agree: 'true' }],
    ['1', { agree: 1 }],
    ['a list', { agree: [true] }],
  ])('an accepted form does not count as agreement when its checkbox is %s', async (_, content) => {
    const it = await writer();
    const args = await another();
    const { requestState } = await question(it, args);
    const inputResponses = { consent: { action: 'accept', content } };
    const result = await answering(it, args, { requestState, inputResponses });
    const answer = await expectNothing(result, args);
    expect(answer).toMatchObject({ outcome: 'declined' });
    expect(answer.text).toMatch(/did not agree/);
  });
});

describe.each(transports)('a host that accepts without what the person said, %s', (transport) => {
  test.each([
    ['no content', undefined],
    ['null', null],
    ['an empty form', {}],
    ['other fields', { other: true }],
  ])('%s: the host sent no answer, and nothing is written', async (_, content) => {
    const it = await writers[transport]();
    const args = await another();
    const { requestState } = await question(it, args);
    const inputResponses = {
      consent: { action: 'accept', ...(content !== undefined && { content }) },
    };
    const result = await answering(it, args, { requestState, inputResponses });
    const answer = await expectNothing(result, args);
    expect(answer.text).toMatch(/^Nothing was written .*the host sent no answer to the question/);
  });
});

describe('a host of the legacy era that uses fields of the modern era', () => {
  const modern = shared(async () => openWriter(await at(), { person: personAnswers.accepts }));

  test('is still asked, and its own request state and answer are ignored', async () => {
    const answering = new Answering();
    answering.next = personAnswers.declines;
    const it = await modern();
    const client = await it.another({ era: 'legacy', person: answering.person });
    const args = await another();
    const forged = { requestState: 'abc', inputResponses: accepted };
    for (const more of [{ inputResponses: accepted }, forged]) {
      const result = await rawCall(client, { name: tool, arguments: args, ...more });
      expect(reportOf(result as never).outcome).toMatch(/declined|refused/);
    }
    expect(answering.asked).toHaveLength(1);
    expect((await recordOf(await at(), args.opportunity_id)).name).not.toBe(args.name);
  });

  test('cannot withdraw the ability to ask in a single request', async () => {
    const answering = new Answering();
    answering.next = personAnswers.declines;
    const client = await (await modern()).another({ era: 'legacy', person: answering.person });
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': {} };
    const result = await rawCall(client, { name: tool, arguments: await another(), _meta });
    expect(reportOf(result as never)).toMatchObject({ outcome: 'declined' });
    expect(reportOf(result as never)).not.toHaveProperty('confirm');
    expect(answering.asked).toHaveLength(1);
  });

  test('cannot claim the ability to ask where it cannot receive a question', async () => {
    const client = await (await modern()).another({ era: 'legacy', transport: 'http' });
    const args = await another();
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
    const more = { _meta, requestState: 'abc', inputResponses: accepted };
    const result = await rawCall(client, { name: tool, arguments: args, ...more });
    expect(reportOf(result as never).outcome).toBe('not_asked');
    expect((await recordOf(await at(), args.opportunity_id)).name).not.toBe(args.name);
  });
});

describe('a host that can ask', () => {
  test.each(['modern', 'legacy'] as const)(
    'is asked even if the call has a valid token (%s)',
    async (era) => {
      const answering = new Answering();
      answering.next = personAnswers.declines;
      const it = await openWriter(await at(), { era, person: answering.person });
      const mute = await it.another({});
      const args = await another();
      const { confirm } = reportOf((await rawCall(mute, { name: tool, arguments: args })) as never);
      const answer = await it.upsert({ ...args, confirm });
      expect(answer.outcome).toBe('declined');
      expect(answering.asked).toHaveLength(1);
      expect((await recordOf(await at(), args.opportunity_id)).name).not.toBe(args.name);
    },
  );

  test('that supports only URL mode counts as one that cannot show a form', async () => {
    const it = await openWriter(await at(), { person: personAnswers.accepts });
    const result = await it.raw({
      name: tool,
      arguments: await another(),
      _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } },
    });
    expect(reportOf(result as never)).toMatchObject({ outcome: 'not_asked' });
  });
});
