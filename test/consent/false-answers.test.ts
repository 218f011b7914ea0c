import { describe, expect, test } from 'vitest';
import {
  Answering,
  type CallReport,
  openWriter,
  personAnswers,
  question,
  rawCall,
  reportOf,
  sandboxToWrite,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { shared } from '../support/shared.ts';

const tool = 'cpq_upsert_opportunity';
const accepted = { consent: personAnswers.accepts() };
const { at, another, now } = sandboxToWrite('Claimed to be agreed');

/** Expects that nothing was written. @returns the answer */
async function reportOfNothing(result: Row, args: { name: string }): Promise<CallReport> {
  expect((await now()).name).not.toBe(args.name);
  return reportOf(result as never);
}

const accepting = { person: personAnswers.accepts };
const writers = {
  pipe: shared(async () => openWriter(await at(), accepting)),
  http: shared(async () => openWriter(await at(), { transport: 'http', ...accepting })),
};

describe.each(['pipe', 'http'] as const)('a host that answers by itself, %s', (transport) => {
  test('an answer without a question is ignored, and the question is asked', async () => {
    const [it, args] = [await writers[transport](), await another()];
    const result = await it.raw({ name: tool, arguments: args, inputResponses: accepted });
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { consent: { method: 'elicitation/create' } },
    });
    await reportOfNothing(result, args);
  });

  const noAnswer = /^Nothing was written .*the host sent no answer to the question/;
  const notAgreed = /did not agree/;
  const accept = (content?: unknown) => ({ consent: { action: 'accept', content } });
  test.each<[what: string, inputResponses: Row | undefined, why: RegExp]>([
    ['no answers', undefined, noAnswer],
    ['empty answers', {}, noAnswer],
    ['the answer to another question', { other: personAnswers.accepts() }, noAnswer],
    ['a form of other fields', accept({ other: true }), noAnswer],
    ['the checkbox "yes"', accept({ agree: 'yes' }), notAgreed],
    ['the checkbox "true"', accept({ agree: 'true' }), notAgreed],
    ['the checkbox 1', accept({ agree: 1 }), notAgreed],
    ['a list as checkbox', accept({ agree: [true] }), notAgreed],
  ])('%s with a request state does not count as agreement', async (_, inputResponses, why) => {
    const [it, args] = [await writers[transport](), await another()];
    const { requestState } = await question(it, args);
    const given = { requestState, ...(inputResponses && { inputResponses }) };
    const result = await it.raw({ name: tool, arguments: args, ...given });
    const { text, outcome } = await reportOfNothing(result, args);
    expect(text).toMatch(why);
    expect(outcome).toBe(why === notAgreed ? 'declined' : 'refused');
  });
});

/** A client of the server, with a person who declines. */
async function declining(era: 'modern' | 'legacy') {
  const answering = new Answering();
  answering.next = personAnswers.declines;
  const client = await (await writers.pipe()).connect({ era, person: answering.person });
  return { client, answering };
}

describe('a host of the legacy era that uses fields of the modern era', () => {
  test('is still asked, and its own request state and answer are ignored', async () => {
    const { client, answering } = await declining('legacy');
    const args = await another();
    const forged = { requestState: 'abc', inputResponses: accepted };
    for (const more of [{ inputResponses: accepted }, forged]) {
      const result = await rawCall(client, { name: tool, arguments: args, ...more });
      expect((await reportOfNothing(result, args)).outcome).toMatch(/declined|refused/);
    }
    expect(answering.asked).toHaveLength(1);
  });

  test('cannot withdraw the ability to ask in a single request', async () => {
    const { client, answering } = await declining('legacy');
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': {} };
    const result = await rawCall(client, { name: tool, arguments: await another(), _meta });
    expect(reportOf(result as never)).toMatchObject({ outcome: 'declined' });
    expect(reportOf(result as never)).not.toHaveProperty('confirm');
    expect(answering.asked).toHaveLength(1);
  });

  test('cannot claim the ability to ask where it cannot receive a question', async () => {
    const client = await (await writers.pipe()).connect({ era: 'legacy', transport: 'http' });
    const args = await another();
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
    const more = { _meta, requestState: 'abc', inputResponses: accepted };
    const result = await rawCall(client, { name: tool, arguments: args, ...more });
    expect((await reportOfNothing(result, args)).outcome).toBe('not_asked');
  });
});

describe('a host that can ask', () => {
  test.each(['modern', 'legacy'] as const)(
    'is asked even if the call has a valid token (%s)',
    async (era) => {
      const { client, answering } = await declining(era);
      const mute = await (await writers.pipe()).connect({});
      const args = await another();
      const { confirm } = reportOf((await rawCall(mute, { name: tool, arguments: args })) as never);
      expect(confirm).toBeTypeOf('string');
      const result = await client.callTool({ name: tool, arguments: { ...args, confirm } });
      expect((await reportOfNothing(result, args)).outcome).toBe('declined');
      expect(answering.asked).toHaveLength(1);
    },
  );

  test('that supports only URL mode counts as one that cannot show a form', async () => {
    const result = await (await writers.pipe()).raw({
      name: tool,
      arguments: await another(),
      _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } },
    });
    expect(reportOf(result as never)).toMatchObject({ outcome: 'not_asked' });
  });
});
