/**
 * Whether two texts look the same to a person, by the skeletons of Unicode's UTS #39. Loaded where it is
 * needed: its table is larger than most of what a start loads.
 */
import { blank } from './characters.ts';
import { confusables } from './confusables.ts';

const fromHex = (text: string): string =>
  String.fromCodePoint(...text.split('+').map((point) => Number.parseInt(point, 16)));

const prototypes = new Map<string, string>(
  confusables
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [prototype = '', ...sources] = line.split(' ').map(fromHex);
      return sources.map((source) => [source, prototype] as const);
    }),
);

const toPrototypes = (text: string): string =>
  Array.from(text, (character) => prototypes.get(character) ?? character).join('');

/**
 * The same for all texts that look alike, whichever hyphens, scripts and widths they are written in. Other
 * than the skeleton of UTS #39 it has no blanks, and compatibility forms are what they stand for.
 */
export function skeletonOf(text: string): string {
  const shown = text.normalize('NFD').replace(blank, '');
  const compatible = toPrototypes(shown).normalize('NFKD');
  return toPrototypes(compatible).normalize('NFD').replace(blank, '');
}

/** Letter case is no difference, neither between the texts nor between what they look like. */
const keysOf = (text: string): readonly string[] => {
  const skeleton = skeletonOf(text);
  return [skeleton, skeleton.toLowerCase(), skeletonOf(text.toLowerCase())];
};

/** Makes a test for texts that look like this one; one that is blank looks like none. */
export function looksLike(text: string): (other: string) => boolean {
  const keys = keysOf(text);
  if (keys[0] === '') return () => false;
  return (other) => keysOf(other).some((key, at) => key === keys[at]);
}
