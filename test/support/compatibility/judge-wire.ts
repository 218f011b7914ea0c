import type { Answer } from '../hosts.ts';
import { answersOf, type Compared, compare, questions } from './difference.ts';
import type { Session } from './session.ts';
import type { Switches } from './switches.ts';
import type { WireVariation } from './wire.ts';

type Open = (variation: { set: Partial<Switches> }) => Promise<Session>;

/** Asks every question of the service as it is, and of the documented one, whose answers are kept. */
export function wireJudge(open: Open) {
  const kept = new Map<unknown, Promise<Map<string, Answer>>>();
  const ask = async (set: Partial<Switches>) => {
    const session = await open({ set });
    return answersOf(session, questions).finally(() => session.close());
  };
  return async ({ name: _, group: __, mayFail: ___, like, ...set }: WireVariation) => {
    // Answers have the day: those of yesterday are others.
    const day = new Date().toISOString().slice(0, 10);
    const key = day + JSON.stringify(like ?? {}) + String(like?.rewrite);
    const isKept = like?.rewrite === undefined;
    const before = (isKept && kept.get(key)) || ask(like ?? {});
    if (isKept) kept.set(key, before);
    const [expected, answers] = [await before, await ask(set)];
    const compared = new Map<string, Compared>();
    for (const question of questions) {
      const [want, got] = [expected.get(question.name), answers.get(question.name)];
      if (want && got) compared.set(question.name, compare(question, want, got));
    }
    return compared;
  };
}
