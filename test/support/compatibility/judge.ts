import type { Answer } from '../hosts.ts';
import {
  type Compared,
  compare,
  firstQuestions,
  inLines,
  listQuestions,
  type Question,
  questions,
  verdictOf,
} from './difference.ts';
import type { Choices } from './service.ts';
import { type Opened, openSession, type Session } from './session.ts';
import type { Variation } from './variations.ts';
import type { WireVariation } from './wire.ts';
import { writes } from './write-probes.ts';

type Differing = Pick<Variation, 'like'> & Opened;

/** Asks the service as it is, and the documented one, whose answers are kept; `then` asks more of the former. */
function judgeBy(
  asked: readonly Question[],
  then: (session: Session, compared: Map<string, Compared>) => Promise<void> = async () => {},
) {
  const kept = new Map<string, Promise<Map<string, Answer>>>();
  const answersOf = async (session: Session) => {
    const answers = new Map<string, Answer>();
    for (const { name, tool, args } of asked)
      answers.set(name, await session.ask(tool, args(session)));
    return answers;
  };
  const asDocumented = async (set: Choices) => {
    const session = await openSession({ set });
    return answersOf(session).finally(() => session.close());
  };
  return async (differing: Differing): Promise<Map<string, Compared>> => {
    const { like = {} } = differing;
    // Answers have the day: those of yesterday are others.
    const key = new Date().toISOString().slice(0, 10) + JSON.stringify(like) + String(like.rewrite);
    const isKept = like.rewrite === undefined;
    const before = (isKept && kept.get(key)) || asDocumented(like);
    if (isKept) kept.set(key, before);
    const expected = await before;
    const compared = new Map<string, Compared>();
    const session = await openSession(differing);
    try {
      const answers = await answersOf(session);
      for (const question of asked) {
        const [want, got] = [expected.get(question.name), answers.get(question.name)];
        if (want && got) compared.set(question.name, compare(question, want, got));
      }
      await then(session, compared);
    } finally {
      await session.close();
    }
    return compared;
  };
}

const judgeWire = judgeBy([...firstQuestions, ...questions]);

/** Judges how replies are written, also with lines of the file of fields. */
export const judgeReplies = (
  { name: _, group: __, mayFail: ___, like, ...set }: WireVariation,
  fields: readonly string[] = [],
) => judgeWire({ set, fields, ...(like && { like }) });

/** Judges what the documentation leaves open, in lists and writes too. */
export const judgeVariation = judgeBy(
  [...firstQuestions, ...questions, ...listQuestions],
  async (session, compared) => {
    for (const { name, run } of writes) compared.set(name, await run(session));
  },
);

type Expected = Pick<Variation, 'mayFail' | 'partial' | 'untrue' | 'quiet'>;

/** The verdicts that fit what is said of a variation. */
function expectedOf({ mayFail = [], partial }: Expected): readonly string[] {
  if (mayFail === 'every') return ['blackout', 'honest'];
  if (partial) return ['honest'];
  return mayFail.length > 0 || partial === undefined ? ['right', 'honest'] : ['right'];
}

/** What is not as expected of a variation, in lines; empty if nothing is. */
export function problemsOf(variation: Expected, all: ReadonlyMap<string, Compared>): string {
  const { mayFail = [], untrue, quiet = [] } = variation;
  const compared = new Map([...all].filter(([name]) => !quiet.includes(name)));
  const verdict = verdictOf(compared, mayFail === 'every' ? [...compared.keys()] : mayFail);
  const untrueErrors = [...compared].flatMap(([name, { result, why }]) =>
    result === 'error' && !name.startsWith('upsert') && untrue?.test(why) ? [why] : [],
  );
  if (untrueErrors.length > 0) return `untrue: ${untrueErrors[0]}`;
  return expectedOf(variation).includes(verdict) ? '' : `${verdict}\n${inLines(compared)}`;
}
