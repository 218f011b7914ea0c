import type { OffsetMeaning } from './profile.ts';

/** Small, and such that every meaning of it leads to another record. */
export const probedOffset = 3;
export const probedSize = 2;

/** Rows of the first page that telling the meanings apart takes. */
export const minSampleRows = probedOffset * probedSize + 1;

/** What the parameter's value has to be for a page to begin at the 0-based `place`. */
export function offsetValue(counts: OffsetMeaning['counts'], place: number, size: number): number {
  switch (counts) {
    case 'records':
      return place;
    case 'records from 1':
      return place + 1;
    case 'pages':
      return Math.floor(place / size);
    case 'pages from 1':
      return Math.floor(place / size) + 1;
  }
}

/**
 * What the offset counts, told from where the page asked for at `probedOffset` begins in the first page;
 * `ignored` where it begins as that does, `undefined` where none of the meanings explains it.
 */
export function meaningFrom(
  first: readonly unknown[],
  probed: readonly unknown[],
  size: number,
): OffsetMeaning['counts'] | 'ignored' | undefined {
  const [key] = probed;
  const place = key === undefined ? -1 : first.indexOf(key);
  if (place === 0) return 'ignored';
  const meanings = ['records', 'records from 1', 'pages', 'pages from 1'] as const;
  return meanings.find((counts) => place === placeOf(counts, size));
}

/** Where a page begins that is asked for with `probedOffset`. */
function placeOf(counts: OffsetMeaning['counts'], size: number): number {
  switch (counts) {
    case 'records':
      return probedOffset;
    case 'records from 1':
      return probedOffset - 1;
    case 'pages':
      return probedOffset * size;
    case 'pages from 1':
      return (probedOffset - 1) * size;
  }
}
