/**
 * Which of some names or records a text means. `resolveFilters` in `tool-kit/name-filters.ts` asks back where this finds
 * none, or several.
 */

import { compact, nonBlank } from '../figures/fields.ts';
import {
  byName,
  type Named,
  normaliseName,
  sortedNames,
  withoutAccents,
} from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { filterSteps, flatMapSteps, forEachStep, type Steps, sortSteps } from '../figures/steps.ts';
import type { Ref } from '../service/records/records.ts';
import { editDistance } from '../text/nearest.ts';
import { wording } from '../text/untrusted-text.ts';

/** A reference or a record that a filter can mean. */
export interface Candidate extends Ref {
  externalIdentifier?: string | undefined;
  email?: string | undefined;
  deletedAt?: unknown;
  deleted?: unknown;
}

/** `one`: what is meant. `several`: all that fit equally well. `none`: the nearest names, best first. */
export type NameMatch =
  | { kind: 'one'; by: MatchedBy; match: NameFilter }
  | { kind: 'several'; by: MatchedBy; candidates: Named[]; total: number }
  | { kind: 'none'; candidates: Named[]; total: number; nothingOccurs?: true };

type MatchedBy = 'id' | 'identifier' | 'name';

export interface NameFilter extends Named {
  /** Only deleted records have this name. */
  deleted?: true;
}

/** Names listed in a question. Where no more occur, all are listed, because the right one is among them. */
const maxListed = 12;
/** Names suggested where there are more. */
const maxSuggested = 8;

/** Whether a record refers to what the filter means: by id, or by name where it has no id. */
export function refersTo(ref: Ref | undefined, filter: Named): boolean {
  if (!ref) return false;
  if (nonBlank(ref.id)) return ref.id === filter.id;
  return !filter.id && normaliseName(ref.name) === normaliseName(filter.name);
}

/**
 * Finds what a text means: an id, an external identifier, or a name without regard to letter case, accents and
 * punctuation. The first of these that fits counts; deleted records only where no other fits. With `byWords` a few words of
 * a name suffice where only one name has them all: `OConnor` for a person.
 */
export function* matchSteps(
  text: string,
  candidates: Iterable<Candidate | undefined>,
  { byWords }: { byWords: boolean },
): Steps<NameMatch> {
  const choices = yield* choicesOf(candidates);
  const lower = text.trim().toLowerCase();
  const isLiteral = ({ names }: Choice) =>
    [...names].some((name) => normaliseName(name)?.startsWith(lower));
  const isExact = isNegated(text) && !choices.some(isLiteral);
  const fits = fitsOf(text, byWords, isExact);
  const found = yield* bestMatches(choices, fits, (choice) => choice.isDeleted);
  const [first, ...others] = found?.matches ?? [];
  const by = found?.by === 0 ? 'id' : found?.by === 1 ? 'identifier' : 'name';
  if (first && others.length === 0) {
    const deleted = first.isDeleted || undefined;
    const isMeant = (name: string) => fits[found?.by ?? 0]?.({ ...first, names: new Set([name]) });
    const name = by === 'name' ? [...first.names].find(isMeant) : first.name;
    return { kind: 'one', by, match: compact({ ...namedOf(first), name, deleted }) };
  }
  if (first) return { kind: 'several', by, ...listed([first, ...others].sort(byName)) };
  const alike = listed(yield* nearest(text, choices));
  return { kind: 'none', ...alike, ...(choices.length === 0 && { nothingOccurs: true }) };
}

/**
 * The candidates that match best: the current ones, or the deleted ones if there are no others.
 * @param tests the most specific way to match first; `by` is the position of the first that finds anything
 */
export function* bestMatches<T>(
  candidates: readonly T[],
  tests: readonly ((candidate: T) => boolean)[],
  isDeleted: (candidate: T) => boolean,
): Steps<{ by: number; matches: readonly T[] } | undefined> {
  for (const [by, fits] of tests.entries()) {
    const all = yield* filterSteps(candidates, fits);
    if (all.length === 0) continue;
    const current = all.filter((candidate) => !isDeleted(candidate));
    return { by, matches: current.length > 0 ? current : all };
  }
  return undefined;
}

const listed = (choices: readonly Choice[]): { candidates: Named[]; total: number } => ({
  candidates: choices.slice(0, maxListed).map(namedOf),
  total: choices.length,
});

const namedOf = ({ id, name }: Named): Named => compact({ id, name });

interface Choice extends Named {
  /** An id may come with several names. */
  names: Set<string>;
  identifiers: Set<string>;
  isDeleted: boolean;
}

/** What occurs, one for each id, or for each name without an id. */
function* choicesOf(candidates: Iterable<Candidate | undefined>): Steps<Choice[]> {
  const choices = new Map<string, Choice>();
  yield* forEachStep(candidates, (candidate) => {
    const id = nonBlank(candidate?.id);
    const name = nonBlank(candidate?.name);
    if (!candidate || (!id && !name)) return;
    const key = id ? `id ${id}` : `name ${normaliseName(name)}`;
    const known: Choice = choices.get(key) ?? {
      ...compact({ id }),
      names: new Set(),
      identifiers: new Set(),
      isDeleted: isDeleted(candidate),
    };
    choices.set(key, known);
    if (name && !known.names.has(name)) {
      known.names.add(name);
      [known.name = name] = sortedNames(known.names);
    }
    for (const identifier of [candidate.externalIdentifier, candidate.email])
      if (nonBlank(identifier)) known.identifiers.add(String(identifier).trim().toLowerCase());
  });
  return [...choices.values()];
}

/** Whether a text is written as what is not meant: `!won`, `-won`. Without its punctuation it would mean the opposite. */
export const isNegated = (text: string): boolean => /^\s*(?:!|<>|≠|-(?=\p{L}))/u.test(text);

export const excludesNothing = wording`A filter cannot exclude: name what to include.`;

/** How a text can fit, the most specific first. */
function fitsOf(text: string, byWords: boolean, isExact: boolean): ((choice: Choice) => boolean)[] {
  const asGiven = text.trim();
  const lower = asGiven.toLowerCase();
  const folded = foldName(text);
  const words = wordsOf(text);
  const some = (fits: (name: string) => boolean) => (choice: Choice) =>
    [...choice.names].some(fits);
  const exact = [
    ({ id }: Choice) => id === asGiven,
    ({ identifiers }: Choice) => identifiers.has(lower),
    some((name) => normaliseName(name) === lower),
  ];
  if (isExact) return exact;
  return [
    ...exact,
    some((name) => folded !== '' && foldName(name) === folded),
    ...(byWords && words.size > 0 ? [some((name) => hasWords(name, words))] : []),
  ];
}

function hasWords(name: string, words: ReadonlySet<string>): boolean {
  const known = wordsOf(name);
  return [...words].every((word) => known.has(word));
}

/** The words of a name; one with punctuation inside also as its parts: O'Connor, Smith-Jones. */
const wordsOf = (name: string): ReadonlySet<string> => {
  const forms = name.split(/\s+/).flatMap((word) => [word, ...word.split('-')]);
  return new Set(forms.map(foldName).filter((word) => word !== ''));
};

/** A name as it is compared: letters and digits only, lower case, without accents. "O'Connor" is "oconnor". */
const foldName = (text: string): string =>
  withoutAccents(text.toLowerCase()).replace(/[^\p{L}\p{N}]+/gu, '');

/**
 * Whether a text occurs in another, without regard to letter case, accents and punctuation. Blanks may be left out or
 * added only where the text begins with a word: "meraki" is not in "camera, kit".
 */
export function mentionsText(field: string, text: string): boolean {
  const [words, typed] = [foldedWords(field), foldedWords(text)];
  if (typed.length === 0) return false;
  return (
    words.join(' ').includes(typed.join(' ')) ||
    words.some((_, at) => words.slice(at).join('').startsWith(typed.join('')))
  );
}

const foldedWords = (text: string): string[] =>
  text
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .map(foldName)
    .filter((word) => word !== '');

/** The names most like a text, best first; all of them where there are few. */
function* nearest(text: string, choices: readonly Choice[]): Steps<Choice[]> {
  const typed = foldName(text);
  // A name may go on after what was typed, and begin with other words.
  const beginnings = ({ names }: Choice) =>
    [...names].flatMap((name) => [foldName(name), ...wordsOf(name)]);
  const wrongLetters = (choice: Choice): number =>
    Math.min(
      ...beginnings(choice).map((it) => editDistance(typed, it.slice(0, typed.length))),
      typed.length,
    );
  const scored = yield* flatMapSteps(choices, (choice) =>
    choice.isDeleted ? [] : [{ choice, wrong: wrongLetters(choice) }],
  );
  const ranked = yield* sortSteps(
    scored,
    (a, b) => a.wrong - b.wrong || byName(a.choice, b.choice),
  );
  const isLike = ({ wrong }: { wrong: number }) => wrong < typed.length / 2;
  const kept = ranked.length <= maxListed ? ranked : ranked.filter(isLike).slice(0, maxSuggested);
  return kept.map(({ choice }) => choice);
}
