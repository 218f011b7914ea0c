import type { Answer } from '../hosts.ts';
import type { Fact, Facts, Sums } from './truth.ts';

/**
 * `right`: complete and true; `partial`: incomplete, and the first words say so; `quiet`: incomplete, and only its
 * coverage or a note says so; `error`: the call failed; `wrong`: not true, without a warning.
 */
export type Verdict = 'right' | 'partial' | 'quiet' | 'error' | 'wrong';

export interface Judged {
  verdict: Verdict;
  /** What is wrong, for the developer who has to fix it. */
  why: string;
}

export const right: Judged = { verdict: 'right', why: '' };
export const wrong = (why: string): Judged => ({ verdict: 'wrong', why });

/** From the worst to the best. */
const order: readonly Verdict[] = ['wrong', 'error', 'quiet', 'partial', 'right'];

/** The worst of several verdicts. */
export const worst = (all: readonly Judged[]): Judged =>
  order.flatMap((verdict) => all.filter((it) => it.verdict === verdict))[0] ?? right;

const partWords = /\b(at least|only|incomplete|not all|partial|could not|cannot|ignore[sd]?)\b/i;
/** Words that name the property of the service because of which the answer is limited. */
const caveat =
  /\bignore[sd]?\b|does not honou?r|could not be (read|told)|cannot be (read|told)|look different/i;
const firstCharacters = 100;

const summaryOf = ({ data }: Answer): string => String(data.summary ?? '');
const notesOf = ({ data }: Answer): string =>
  ((data.notes as string[] | undefined) ?? []).join('\n');

const saysPartFirst = (answer: Answer): boolean =>
  partWords.test(summaryOf(answer).slice(0, firstCharacters));

export const hasCaveat = (answer: Answer): boolean =>
  caveat.test(summaryOf(answer)) || caveat.test(notesOf(answer));

/** Pages of the service are not an incomplete answer. */
const isIncomplete = (answer: Answer): boolean =>
  (answer.coverage?.complete === false && answer.coverage.reason !== 'one page') ||
  /may not read them/.test(notesOf(answer));

/** The verdict on an incomplete answer: how clearly it says so. */
export function partOf(answer: Answer, why: string): Judged {
  if (/^All \d/.test(summaryOf(answer))) return wrong(`${why}; told: "${summaryOf(answer)}"`);
  if (hasCaveat(answer) || (isIncomplete(answer) && saysPartFirst(answer))) {
    return { verdict: 'partial', why };
  }
  return isIncomplete(answer) ? { verdict: 'quiet', why } : wrong(why);
}

export const failed = ({ text }: Answer): Judged => ({ verdict: 'error', why: text });

const isSums = (fact: Fact): fact is Sums => typeof fact === 'object';
const nearly = (one: number, other: number): boolean => Math.abs(one - other) < 0.005;

function isSame(one: Fact, other: Fact): boolean {
  if (isSums(one) && isSums(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].every((key) => nearly(one[key] ?? 0, other[key] ?? 0));
  }
  if (typeof one === 'number' && typeof other === 'number') return nearly(one, other);
  // A missing sum is a sum of 0.
  return one === other || (!hasAny(one) && !hasAny(other));
}

const hasAny = (fact: Fact): boolean =>
  isSums(fact) ? Object.keys(fact).length > 0 : fact !== undefined && fact !== 0;

/** Shown as the currency where companies could not be read. */
const unknown = 'unknown currency';

/** Whether the figure can be that of a part of the records. */
function isPart(said: Fact, truth: Fact): boolean {
  if (said === undefined) return true;
  if (isSums(said)) {
    return Object.entries(said).every(
      ([key, value]) => key === unknown || (isSums(truth) && value <= (truth[key] ?? -1) + 0.005),
    );
  }
  return typeof said === 'number' ? said <= Number(truth ?? 0) : said === truth;
}

const inWords = (fact: Fact): string => (fact === undefined ? 'nothing' : JSON.stringify(fact));

/** Compares the figures of an answer with the true ones. */
export function judgeFacts(answer: Answer, said: Facts, truth: Facts): Judged {
  if (answer.isError) return failed(answer);
  const names = Object.keys({ ...said, ...truth });
  const differing = names.filter((name) => !isSame(said[name], truth[name]));
  if (differing.length === 0) return right;
  const why = differing
    .map((name) => `${name} ${inWords(said[name])} instead of ${inWords(truth[name])}`)
    .join('; ');
  const foreign = differing.some((name) => !isPart(said[name], truth[name]));
  return foreign && !hasCaveat(answer) ? wrong(why) : partOf(answer, why);
}
