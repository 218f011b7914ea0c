import type { OffsetMeaning } from './profile.ts';

/** A small offset that leads to a different record under each meaning. */
export const probedOffset = 3;
export const probedSize = 2;

/** Rows of the first page needed to distinguish the meanings. */
export const minSampleRows = probedOffset * probedSize + 1;

/** The value of the parameter for a page that begins at the 0-based `place`. */
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
 * What the offset counts, from the position in the first page of the first record returned for `probedOffset`.
 * `ignored` if it is the same record; `undefined` if no meaning explains it.
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
  return meanings.find((counts) => place === pageStart(counts, size));
}

/** The 0-based position at which the page for `probedOffset` begins. */
function pageStart(counts: OffsetMeaning['counts'], size: number): number {
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
