import { describe, expect, test } from 'vitest';
import {
  Answering,
  answerNever,
  journalIn,
  personAnswers,
  reportOf,
  sandboxToWrite,
} from '../support/consent.ts';
import { type Connection, everyHostHere, everything, type Row, serving } from '../support/hosts.ts';
import { sample } from '../support/sampling.ts';
import { newFolder } from '../support/shared.ts';

const tool = 'cpq_upsert_opportunity';
const { at, another, now, puts } = sandboxToWrite('Agreed in real life');

const upsert = async (it: Connection, args: Row) => reportOf((await it.ask(tool, args)).result);

const hosts = everyHostHere.map((host) => [host.name, host] as const);

describe.each(sample(hosts, 2))('%s', (_, host) => {
  const answering = new Answering();
  const folder = newFolder();
  const server = serving({ at, on: host, ...everything, folder, person: answering.person });

  test('the person sees the difference and agrees, and exactly that is written', async () => {
    const it = await server();
    const { name: before, externalIdentifier } = await now();
    answering.next = personAnswers.accepts;
    const args = await another();
    const sent = await puts();
    const answer = await upsert(it, args);
    expect(answer).toMatchObject({ outcome: 'written', isError: false });
    expect((await now()).name).toBe(args.name);
    expect(await puts()).toBe(sent + 1);
    const asked = answering.asked.at(-1);
    expect(asked).toContain(`• Name: “${before}” → “${args.name}”`);
    expect(asked).toContain(`(external identifier “${externalIdentifier}”)`);
    expect(asked).toMatch(/Every other field stays as it is\. Nothing is sent to a customer/);
    // A box that is not ticked before a person ticks it.
    const agree = { type: 'boolean', default: false };
    expect(answering.schema).toMatchObject({ properties: { agree }, required: ['agree'] });
    const journal = await journalIn(folder);
    expect(journal.findLast(({ phase }) => phase === 'sending')).toMatchObject({
      consent: 'asked',
      client: 'cpq-mcp-tests 1',
    });
    expect(journal.at(-1)).toMatchObject({ phase: 'done', outcome: 'written' });
  });

  test('the person never answers: the host cancels, and nothing is written', async () => {
    const it = await server();
    answering.next = answerNever;
    const [args, sent] = [await another(), await puts()];
    const asked = answering.asked.length;
    const stop = new AbortController();
    const waiting = it.ask(tool, args, { signal: stop.signal });
    waiting.catch(() => {});
    await expect.poll(() => answering.asked.length, { timeout: 20_000 }).toBe(asked + 1);
    stop.abort();
    // In the modern era the question is part of the result: no request of the server waits for the host.
    if (host.era !== 'modern') await expect(waiting).rejects.toThrow();
    answering.next = personAnswers.declines;
    expect((await upsert(it, args)).outcome).toBe('declined');
    expect(await puts()).toBe(sent);
  });
});
