/** How often an amount is due. Definitions: docs/definitions.md, "Terms". */
import { quote, type Wording, wording } from '../text/untrusted-text.ts';
import { type Decimal, rounded, zero } from './money.ts';
import { compare } from './naming.ts';

/** `other` is any other term, such as `quarter`. */
export type Term = 'one-time' | 'monthly' | 'yearly' | 'other';

const termWords: readonly (readonly [Term, readonly string[]])[] = [
  ['one-time', ['', 'once', 'onetime', 'one time']],
  ['monthly', ['mo', 'month', 'months', 'monthly']],
  ['yearly', ['yr', 'year', 'years', 'yearly', 'annual', 'annually']],
];
const termByWord = new Map(
  termWords.flatMap(([term, words]) => words.map((word) => [word, term] as const)),
);

/** A term normalised for comparison: lower case, single spaces, no leading "per"; a mark such as "-" stays itself. */
function termText(term: string | undefined): string {
  const words = (term ?? '').toLowerCase().replace(/[\s_/-]+/g, ' ');
  return words.trim().replace(/^per /, '') || (term ?? '').trim();
}

/** Normalises a term; a blank one is one-time. */
export const termOf = (term: string | undefined): Term => termByWord.get(termText(term)) ?? 'other';

/** Terms are `one-time`, `monthly`, `yearly`, or the text of another term as the tenant wrote it. */
export function termKey(item: { term?: string }): string {
  const term = termOf(item.term);
  return term === 'other' ? termText(item.term) : term;
}

/** "monthly", "by the "quarter"". */
export function describeTerm(term = ''): Wording {
  const known = termOf(term);
  return known === 'other' ? wording`by the ${quote(term)}` : wording`${known}`;
}

const timesInYear: Readonly<Record<string, number>> = { 'one-time': 1, monthly: 12, yearly: 1 };

/** An amount of a term (`termKey`) over a year; `undefined` for a term whose length is not known. */
export function overYear(amount: Decimal | undefined, term: string): Decimal | undefined {
  const times = timesInYear[term];
  return times === undefined ? undefined : amount?.times(times);
}

/** Sums by term, rounded. */
export interface TermTotals {
  oneTime?: number;
  monthly?: number;
  yearly?: number;
  /** Per term that is neither month nor year, under the term as written. */
  otherTerms?: Record<string, number>;
}

const termFields = [
  ['one-time', 'oneTime'],
  ['monthly', 'monthly'],
  ['yearly', 'yearly'],
] as const;

/** Whether a term (`termKey`) has a field of its own in totals. */
export const isNamedTerm = (key: string): boolean => termFields.some(([name]) => name === key);

/** One-time, monthly, yearly, then others by name. */
export function byTerm(a: string, b: string): number {
  const at = (key: string): number => [...termFields.map(([name]) => name), key].indexOf(key);
  return at(a) - at(b) || compare(a, b);
}

/** Amounts by term key, rounded, each under its own field. */
export function totalsByTerm(amounts: ReadonlyMap<string, Decimal>): TermTotals {
  const totals: TermTotals = {};
  const fields = new Map<string, (typeof termFields)[number][1]>(termFields);
  for (const [key, amount] of [...amounts].sort(([a], [b]) => byTerm(a, b))) {
    const field = fields.get(key);
    if (field) totals[field] = rounded(amount);
    else totals.otherTerms = { ...totals.otherTerms, [key]: rounded(amount) };
  }
  return totals;
}

export function addToTerm(
  sums: Map<string, Decimal>,
  key: string,
  amount: Decimal | undefined,
): void {
  if (amount) sums.set(key, (sums.get(key) ?? zero).plus(amount));
}
