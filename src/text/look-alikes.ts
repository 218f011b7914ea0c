/**
 * Compares how texts look, by the skeletons of Unicode's UTS #39. Loaded on first use: its table is larger than
 * most of what is loaded at start.
 */
import data from 'unhomoglyph/data.json' with { type: 'json' };
import { blank } from './characters.ts';

/** Each character of Unicode's confusables list and its prototype. */
const prototypes = new Map(Object.entries(data));

const toPrototypes = (text: string): string =>
  Array.from(text, (character) => prototypes.get(character) ?? character).join('');

/** Unicode's list distinguishes the em dash and the horizontal bar from the hyphen; readers of an identifier do not. */
const dashes = /\p{Pd}/gu;

/**
 * Equal for all texts that look alike, regardless of hyphens, scripts and widths. Unlike the skeleton of
 * UTS #39 it drops spaces and decomposes compatibility forms.
 */
function skeletonOf(text: string): string {
  const shown = text.normalize('NFD').replace(blank, '').replace(dashes, '-');
  const compatible = toPrototypes(shown).normalize('NFKD');
  return toPrototypes(compatible).normalize('NFD').replace(blank, '');
}

/** Ignores letter case, both of the texts and of their skeletons. */
const keysOf = (text: string): readonly string[] => {
  const skeleton = skeletonOf(text);
  return [skeleton, skeleton.toLowerCase(), skeletonOf(text.toLowerCase())];
};

/** Returns a predicate for texts that look like this one; a blank text looks like no other. */
export function looksLike(text: string): (other: string) => boolean {
  const keys = keysOf(text);
  if (keys[0] === '') return () => false;
  return (other) => keysOf(other).some((key, at) => key === keys[at]);
}
