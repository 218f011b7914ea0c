/** Identifiers as people type them: phone numbers, e-mail addresses, and numbers with two characters swapped. */
import { normalisePart } from './part-numbers.ts';

/** Digits that two phone numbers must share at the end; a subscriber number has seven. */
const minPhoneDigits = 7;
/** Digits of the longest country code, with the digits that some countries put in front of it. */
const maxCountryCode = 3;
const phoneCharacters = /^[+\d\s().,/‐-―-]+$/;
const phoneLabel = /^\s*(?:tel|phone|mobile)[.:]*\s*/;
const extension = /(?:\bext\.?|\bextension|x|#)\s*\d{1,6}\s*$/;

/**
 * The digits of a phone number without extension, trunk prefix "(0)" and leading zeros; `undefined` for a text
 * that is no phone number.
 */
export function phoneDigits(text: string): string | undefined {
  const plain = text.normalize('NFKC').toLowerCase().replace(phoneLabel, '');
  const number = plain.replace(extension, '').replace('(0)', '');
  if (!phoneCharacters.test(number)) return undefined;
  const digits = number.replace(/\D/g, '').replace(/^0+/, '');
  return digits.length >= minPhoneDigits ? digits : undefined;
}

/** `same`: equal except for the country code. `similar`: one ends with the other, as without an area code. */
export function comparePhones(one: string, other: string): 'same' | 'similar' | undefined {
  if (!one.endsWith(other) && !other.endsWith(one)) return undefined;
  return Math.abs(one.length - other.length) <= maxCountryCode ? 'same' : 'similar';
}

/** The end that two numbers share if either ends with the other. */
export const phoneEnd = (digits: string): string => digits.slice(-minPhoneDigits);

/** Local part and domain of an e-mail address, without letter case and punctuation. */
export function emailParts(text: string): { local: string; domain: string } | undefined {
  const [local = '', domain = '', ...others] = text.split('@').map(normalisePart);
  return local && domain && others.length === 0 ? { local, domain } : undefined;
}

/** Whether a domain may be another one mistyped: at most a quarter of its characters differ. */
export const isSimilarDomain = (one: string, other: string): boolean =>
  editDistance(one, other) * 4 <= Math.max(one.length, other.length);

/** The text with each pair of neighbours swapped. */
export function* swapped(text: string): Generator<string> {
  const characters = [...text];
  for (let at = 0; at + 1 < characters.length; at++) {
    const [one = '', two = ''] = characters.slice(at);
    if (one !== two)
      yield [...characters.slice(0, at), two, one, ...characters.slice(at + 2)].join('');
  }
}

/**
 * Characters to insert, delete, replace or swap with a neighbour to make one text of the other (optimal string
 * alignment).
 */
export function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = at(row, j - 1) + Number(one[i - 1] !== other[j - 1]);
      const isSwap = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = isSwap ? at(before, j - 2) + 1 : replaced;
      next.push(Math.min(replaced, swap, at(row, j) + 1, at(next, j - 1) + 1));
    }
    [before, row] = [row, next];
  }
  return at(row, other.length);
}

const at = (row: readonly number[], index: number): number =>
  row[index] ?? Number.POSITIVE_INFINITY;
