/**
 * Whether two texts look the same to a person, by the skeletons of Unicode's UTS #39. Loaded where it is
 * needed: its table is larger than most of what a start loads.
 */
import data from 'unhomoglyph/data.json' with { type: 'json' };
import { blank } from './characters.ts';

/** Each character of Unicode's confusables list, and what it is taken for. */
const prototypes = new Map(Object.entries(data));

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
