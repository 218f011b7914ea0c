/** The keys of the records of one page, in order, at the requested offset. */
export interface Segment {
  readonly from: number;
  readonly keys: readonly unknown[];
  /** Number of its records that no earlier page had. */
  readonly fresh: number;
}

type Segments = readonly Segment[];

const endOf = ({ from, keys }: Segment): number => from + keys.length;

/** The offset after the last record. */
export const furthestEnd = (segments: Segments): number => Math.max(0, ...segments.map(endOf));

/** Whether a later page has the records of the first page, because the offset was ignored. */
export const repeatsFirst = (first: Segment | undefined, segment: Segment): boolean =>
  segment.from > 0 && segment.keys.length > 0 && beginsLike(first, segment);

export const beginsLike = (first: Segment | undefined, { keys }: Segment): boolean =>
  keys.every((key, at) => key === first?.keys[at]);

/** Whether at least two pages have a record at this offset, and all the same one. */
export function overlapsAt(segments: Segments, offset: number): boolean {
  const pages = segments.filter((it) => it.from <= offset && offset < endOf(it));
  const keys = pages.map((it) => it.keys[offset - it.from]);
  return keys.length > 1 && new Set(keys).size === 1;
}

/**
 * Ranges of offsets below `total` that no page covers; `until` is not in them.
 * @param overlap records that a page must have in common with those before
 */
export function gapsIn(segments: Segments, total: number, overlap = 0) {
  const gaps: [from: number, until: number][] = [];
  let covered = 0;
  for (const segment of segments.toSorted((one, other) => one.from - other.from)) {
    if (segment.from > Math.max(0, covered - overlap)) gaps.push([covered, segment.from]);
    covered = Math.max(covered, endOf(segment));
  }
  if (covered < total) gaps.push([covered, total]);
  return gaps;
}

/** Whether no two pages have different records at one offset, nor one record at two offsets. */
export function areConsistent(segments: Segments, records: number): boolean {
  const keyAt: unknown[] = [];
  let offsets = 0;
  for (const { from, keys } of segments) {
    for (const [index, key] of keys.entries()) {
      const known = keyAt[from + index];
      if (known === undefined) offsets += 1;
      else if (known !== key) return false;
      keyAt[from + index] = key;
    }
  }
  return offsets === records;
}
