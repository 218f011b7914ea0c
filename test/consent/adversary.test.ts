import { afterAll, describe, expect, test } from 'vitest';
import { openOverService } from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { answers, PlayedHost, playedHosts } from '../support/played-host.ts';
import { quickOrAll } from '../support/sampling.ts';
import { shared } from '../support/shared.ts';
import { random } from '../support/upstream/random.ts';
import { questionFor, type ViewQuestion } from '../support/view-client.ts';

/**
 * A model that holds every byte that it was ever shown, in any host, and calls tools with guesses, replays, altered and
 * combined arguments. Now and then a person agrees to something; nothing else may be written.
 */

const callsInAll = quickOrAll(600, 10_000);
const callsOfEach = Math.ceil(callsInAll / playedHosts.length);

const opened = shared(() =>
  openOverService({ consent: 'view', person: undefined }, { '/opportunity': 9 }),
);
const written = async () => (await opened()).puts();

/** The same choices in every run. */
function dice(seed: number) {
  const { next, below } = random(seed);
  return { next, below, of: <T>(list: readonly T[]): T => list[below(list.length)] as T };
}
type Dice = ReturnType<typeof dice>;

/** What no model may be shown: secrets of views, and states of forms. */
const hidden = new Set<string>();
/** What the model knows, of all hosts. */
const pieces: string[] = ['true', 'yes', '....', `${Date.now().toString(36)}.a.b.c.d`];
const calls: Row[] = [];
/** What is built like a secret, with the call that it was shown for. */
const likely: { args: Row; text: string }[] = [];
let agreements = 0;

function learn(shown: string): void {
  // Filtered first: thousands of expectations after each call would take most of the time.
  expect([...hidden].filter((secret) => shown.includes(secret))).toEqual([]);
  pieces.push(...(shown.match(/[\w.-]{10,120}/g) ?? []).slice(0, 40));
  pieces.splice(4, Math.max(0, pieces.length - 2_000));
}

/** A text that might be the secret: known, altered, cut, lengthened, combined or invented. */
function guess({ of, below, next }: Dice): string {
  const known = next() < 0.5 ? (pieces.at(-1 - below(3)) ?? '') : of(pieces);
  const other = of(pieces);
  const invented = () => Math.floor(next() * 2 ** 40).toString(36);
  const parts = Array.from({ length: 5 }, () => of(pieces).split('.')[0] ?? '');
  return of([
    known,
    known,
    known,
    `${known}.`,
    known.slice(0, -1),
    known.replace(/.$/, 'A'),
    known.split('.').toReversed().join('.'),
    `${known.slice(0, below(known.length))}${other}`,
    parts.join('.'),
    `${(Date.now() + 600_000).toString(36)}.${invented()}.${invented()}.${invented()}.${invented()}`,
  ]).slice(0, 200);
}

const change = ({ of, below }: Dice): Row => ({
  external_id: of(['opp-1', 'opp-2', 'opp-3', 'NEW-1']),
  ...of([{}, {}, {}, { create: true }]),
  ...of([{ name: `Named by the model ${below(5)}` }, { probability: below(10) / 10 }]),
});

/** What the model calls next. */
function nextCall(roll: Dice): { name: string; args: Row } {
  const { of, next } = roll;
  const earlier =
    calls.length > 0 && next() < 0.6 ? (next() < 0.6 ? calls.at(-1) : of(calls)) : change(roll);
  const confirm = next() < 0.6 ? { confirm: guess(roll) } : {};
  const writing = next() < 0.8 ? 'cpq_upsert_opportunity' : 'cpq_revert_change';
  const back = { change_id: pieces.findLast((it) => it.startsWith('chg_')) ?? 'chg_1' };
  const args = writing === 'cpq_revert_change' ? back : { ...earlier };
  const answer = { secret: guess(roll), tool: writing, arguments: args, answer: 'write' };
  const [altered] = [{ ...answer, ...of([{}, { tool: 'cpq_answer_change' }, { agree: true }]) }];
  const { args: last, text } = (next() < 0.8 ? likely.at(-1) : of(likely)) ?? {
    args,
    text: 'none',
  };
  return of([
    // The obvious: what was just shown, for what was just asked.
    { name: 'cpq_upsert_opportunity', args: { ...last, confirm: text } },
    { name: 'cpq_answer_change', args: { ...answer, secret: text, arguments: last } },
    { name: 'cpq_upsert_opportunity', args },
    { name: writing, args: { ...args, ...confirm } },
    { name: writing, args: { ...args, agree: true, requestState: guess(roll) } },
    { name: 'cpq_answer_change', args: answer },
    { name: 'cpq_answer_change', args: answer },
    { name: 'cpq_answer_change', args: altered },
    { name: 'cpq_list_changes', args: {} },
    { name: 'cpq_find', args: { query: guess(roll) } },
  ]);
}

async function readAround(host: PlayedHost, { of }: Dice): Promise<void> {
  const uri = of([
    'ui://cpq-mcp/change.html',
    'cpq://definitions',
    `cpq://opportunity/${of(pieces)}`,
  ]);
  learn(JSON.stringify(await host.request('resources/read', { uri })));
  learn(JSON.stringify(await host.request('tools/list', {})));
}

/** A person agrees to what the model asked for: in the form, or by a click in the view. */
async function agreeTo(host: PlayedHost, question: ViewQuestion | undefined): Promise<void> {
  if (!question) return;
  const { secret, tool, arguments: args } = question;
  const result = await host.call('cpq_answer_change', {
    secret,
    tool,
    arguments: args,
    answer: 'write',
  });
  noteHidden(host, result);
  learn(host.shown(result));
}

function noteHidden({ asked }: PlayedHost, result: Row): void {
  const question = questionFor(result as never);
  if (question) hidden.add(question.secret);
  for (const { requestState } of asked) if (requestState) hidden.add(String(requestState));
  asked.length = 0;
}

const refusing = Object.entries(answers)
  .filter(([does]) => !['agrees', 'is silent', 'declines, then agrees'].includes(does))
  .map(([, replies]) => replies);

/** One call of the model; a person agrees to what it asks for in a few of them. */
async function step(host: PlayedHost, roll: Dice): Promise<void> {
  const { name, args } = nextCall(roll);
  const isAgreed = roll.next() < 0.2;
  host.replies = isAgreed ? answers.agrees : roll.of(refusing);
  const before = await written();
  const result = await host.call(name, args);
  const question = questionFor(result as never);
  const mayWrite = isAgreed && (host.asked.length > 0 || question !== undefined);
  noteHidden(host, result);
  learn(host.shown(result));
  const { confirm, agree, requestState, ...asked } = args;
  if (name === 'cpq_upsert_opportunity' && 'external_id' in asked) {
    calls.push(asked);
    const found = host.shown(result).match(/[\w-]+(?:\.[\w-]+){4}/g) ?? [];
    likely.push(...found.map((text) => ({ args: asked, text })));
  }
  if (isAgreed) await agreeTo(host, question);
  const more = (await written()) - before;
  if (mayWrite) agreements += more;
  expect(more, `${name} ${JSON.stringify(args)}`).toBeLessThanOrEqual(mayWrite ? 1 : 0);
}

describe('a model that knows all that it was shown', () => {
  test.each(playedHosts)('writes nothing without a person: $title', async (host) => {
    const { profile, era, way } = host;
    const roll = dice(playedHosts.indexOf(host) + 1);
    const played = await PlayedHost.connect((await opened()).it, profile, era, way);
    for (let call = 0; call < callsOfEach; call += 1) {
      await step(played, roll);
      if (call % 20 === 0) await readAround(played, roll);
    }
  });

  afterAll(async () => {
    // People did agree, so that the model saw what follows.
    expect(agreements).toBeGreaterThan(0);
    expect(hidden.size).toBeGreaterThan(0);
    expect(await written()).toBe(agreements);
  });
});
