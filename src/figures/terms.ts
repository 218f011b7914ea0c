/** How often an amount is due. Definitions: docs/definitions.md, "Terms". */
import { quote, type Wording, wording } from '../text/untrusted-text.ts';
import { isKeyOf, keysOf } from '../values.ts';
import { compare } from './lists.ts';
import { type Decimal, rounded, zero } from './money.ts';

/** By the name of the term (`termKey`); `words` are how tenants write it. */
const terms = {
  'one-time': { field: 'oneTime', inYear: 1, words: ['', 'once', 'onetime', 'one time'] },
  monthly: { field: 'monthly', inYear: 12, words: ['mo', 'month', 'months', 'monthly'] },
  yearly: {
    field: 'yearly',
    inYear: 1,
    words: ['yr', 'year', 'years', 'yearly', 'annual', 'annually'],
  },
} as const;
const termNames = keysOf(terms);
type NamedTerm = keyof typeof terms;
/** `other` is any other term, such as `quarter`. */
export type Term = NamedTerm | 'other';

const termByWord = new Map<string, NamedTerm>(
  termNames.flatMap((term) => terms[term].words.map((word) => [word, term] as const)),
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

/** A text and others that mean the same term. */
export function termSpellings(term = ''): readonly string[] {
  const known = termOf(term);
  return known === 'other' ? [term] : [...new Set([term, ...terms[known].words])];
}

/** "monthly", "by the "quarter"". */
export function describeTerm(term = ''): Wording {
  const known = termOf(term);
  return known === 'other' ? wording`by the ${quote(term)}` : wording`${known}`;
}

/** Whether a term (`termKey`) has a field of its own in totals. */
export const isNamedTerm = (key: string): key is NamedTerm => isKeyOf(terms, key);

/** An amount of a term (`termKey`) over a year; `undefined` for a term whose length is not known. */
export const overYear = (amount: Decimal | undefined, term: string): Decimal | undefined =>
  isNamedTerm(term) ? amount?.times(terms[term].inYear) : undefined;

/** Sums by term, rounded. */
export interface TermTotals {
  oneTime?: number;
  monthly?: number;
  yearly?: number;
  /** Per term that is neither month nor year, under the term as written. */
  otherTerms?: Record<string, number>;
}

/** One-time, monthly, yearly, then others by name. */
export function byTerm(a: string, b: string): number {
  const at = (key: string): number => [...termNames, key].indexOf(key);
  return at(a) - at(b) || compare(a, b);
}

/** The sums of amounts by term key, rounded, each under its own field. */
export function totalsByTerm(
  amounts: Iterable<readonly [term: string, amount: Decimal | undefined]>,
): TermTotals {
  const sums = new Map<string, Decimal>();
  for (const [key, amount] of amounts)
    if (amount) sums.set(key, (sums.get(key) ?? zero).plus(amount));
  const totals: TermTotals = {};
  for (const [key, amount] of [...sums].sort(([a], [b]) => byTerm(a, b))) {
    if (isNamedTerm(key)) totals[terms[key].field] = rounded(amount);
    else totals.otherTerms = { ...totals.otherTerms, [key]: rounded(amount) };
  }
  return totals;
}
