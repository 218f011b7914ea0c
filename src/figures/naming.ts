import type { Contact, Quote, Ref } from '../service/records/records.ts';
import { type Piece, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { compact, nonBlank } from './fields.ts';
import { compare } from './lists.ts';

export interface Named {
  id?: string;
  name?: string;
}

export function named(record: Ref | undefined): Named {
  return compact({ id: nonBlank(record?.id), name: nonBlank(record?.name) });
}

export const nameOrId = (ref: Ref | undefined): string | undefined =>
  nonBlank(ref?.name) ?? nonBlank(ref?.id);

export function contactName(contact: Contact): string | undefined {
  const name = nonBlank(contact.name);
  if (name) return name;
  const { firstName, middleName, lastName } = contact;
  return nonBlank([firstName, middleName, lastName].map(nonBlank).filter(Boolean).join(' '));
}

export const quoteName = (quote: Quote): string | undefined =>
  quoteTitle(quote) ?? nonBlank(quote.number);

export const quoteTitle = (quote: Quote): string | undefined =>
  nonBlank(quote.title) ?? nonBlank(quote.name);

export const namedQuote = (quote: Quote): Named =>
  compact({ id: nonBlank(quote.id), name: quoteName(quote) });

/** What a row says first of a quote. */
export const quoteIdentity = (quote: Quote) =>
  compact({ id: nonBlank(quote.id), number: nonBlank(quote.number), name: quoteTitle(quote) });

export const normaliseName = (name: string | undefined): string =>
  (name ?? '').trim().toLowerCase();

/** Letters that Unicode does not take apart into a letter and an accent. */
const letters: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ŧ: 't',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
};

/** A text in lower case without its accents: "björn" and "bjørn" are "bjorn". */
export const withoutAccents = (text: string): string =>
  isAscii(text)
    ? text
    : text
        .normalize('NFKD')
        .replace(/\p{M}/gu, '')
        .replace(/[øłđðħıŧþæœß]/g, (letter) => letters[letter] ?? letter);

/** A name by which others are found, whatever their letter case, accents and spaces around them. */
export const foldedName = (name: string): string => withoutAccents(normaliseName(name));

/** Most names are: what has no accents need not be searched for them. */
export const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);

/** By name (ignoring case), then by id; records without either come last. */
export function byName(a: Named, b: Named): number {
  return (
    Number(!a.name) - Number(!b.name) ||
    compare(normaliseName(a.name), normaliseName(b.name)) ||
    compare(a.name ?? '', b.name ?? '') ||
    compare(a.id ?? '', b.id ?? '')
  );
}

/** In the order of `byName`. */
export const sortedNames = (names: Iterable<string>): string[] =>
  [...names].sort((a, b) => byName({ name: a }, { name: b }));

/** "today", "in 1 day", "in 2 days". */
export const inDays = (days: number): Wording =>
  days === 0 ? wording`today` : wording`in ${plural(days, 'day')}`;

/** "1 quote", "2 quotes", "3 companies". */
export function plural<const N extends string>(count: number, noun: Piece<N>): Wording {
  return count === 1 ? trusted(`1 ${noun}`) : trusted(`${count} ${pluralOf(noun)}`);
}

export const pluralOf = (noun: string): string =>
  /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
