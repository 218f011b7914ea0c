import type { Steps } from '../figures/steps.ts';
import type { ApiRecord } from '../service/records/records.ts';
import type { Page } from '../service/routes.ts';
import { fieldOf } from '../values.ts';
import { furthestEnd, type Segment } from './segments.ts';

/** How the route of a pass may be read. */
export interface RouteTraits {
  /** One response contains everything, such as a tree. */
  readonly isTree: boolean;
  /** Other pages than the first can be requested. */
  readonly canPage: boolean;
  /** Without a total, all records came whatever size was asked for. */
  readonly ignoresSize: boolean;
}

/**
 * The results of one pass over a collection so far. `read-pages.ts` decides what to request next, `coverage.ts` whether
 * the pass proves that it is complete.
 */
export class Pass {
  readonly route: RouteTraits;
  readonly found = new Map<unknown, ApiRecord>();
  /** The pages, in order of arrival, without repetitions of the last page beyond the end. */
  readonly segments: Segment[] = [];
  /** Whether the total changed from one page to another. */
  countMoved = false;
  /** Whether a total was lower than one before. */
  countFell = false;
  /** Whether the total may be a limit of the service. */
  countIsLimit = false;
  /** Whether the service refuses a size, so that the length of a page does not depend on what was asked for. */
  withoutSize = false;
  /** Whether a record was created after the pass began. */
  hasNewRecords = false;
  /** The highest total that the service reported. */
  highestCount: number | undefined;
  readonly #startedAt = Date.now();
  #serviceStartedAt: number | undefined;

  constructor(route: RouteTraits) {
    this.route = route;
  }

  /** The total; undefined if the service reports none, or returned more records than that. */
  get count(): number | undefined {
    const count = this.highestCount;
    return count !== undefined && this.found.size > count ? undefined : count;
  }

  get hasAll(): boolean {
    return this.found.size === this.count;
  }

  /** Adds the page that was returned for the offset `from`. */
  add(from: number, { records, total, answeredAt, ...page }: Page<ApiRecord>): Segment {
    const known = this.found.size;
    const now = answeredAt ?? Date.now();
    this.#serviceStartedAt ??= now - (Date.now() - this.#startedAt) - (answeredAt ? 0 : 5_000);
    const keys = recordKeys(records);
    for (const [at, record] of records.entries()) {
      freezeRecord(record);
      this.found.set(keys[at], record);
      const createdAt = timeOf(record, 'createdAt') ?? timeOf(record, 'updatedAt') ?? 0;
      // A time in the future is not from the service's clock.
      this.hasNewRecords ||= createdAt >= this.#serviceStartedAt && createdAt <= now + 60_000;
    }
    this.countMoved ||= this.segments.length > 0 && total !== this.highestCount;
    this.countFell ||= total !== undefined && total < (this.highestCount ?? 0);
    if (total !== undefined) this.highestCount = Math.max(this.highestCount ?? 0, total);
    this.countIsLimit ||= page.countIsLimit === true;
    this.withoutSize ||= page.withoutSize === true;
    const segment = { from, keys, fresh: this.found.size - known };
    // Beyond the end some services return the last page again.
    const isPlace = segment.fresh > 0 || from < furthestEnd(this.segments);
    if (keys.length > 0 && isPlace) this.segments.push(segment);
    return segment;
  }
}

/** The records of a pass by key in the order of the list, whichever page arrived first. */
export function* inListOrder({ segments, found }: Pass): Steps<ReadonlyMap<unknown, ApiRecord>> {
  const sorted = segments.toSorted((one, other) => one.from - other.from);
  if (sorted.every((segment, at) => segment === segments[at])) return found;
  const ordered = new Map<unknown, ApiRecord>();
  for (const { keys } of sorted) {
    for (const key of keys) {
      const record = found.get(key);
      if (record !== undefined) ordered.set(key, record);
    }
    yield;
  }
  return ordered;
}

/**
 * The key of each record: its id, or else its content. Identical records of one page are numbered.
 */
export function recordKeys(records: readonly unknown[]): unknown[] {
  const seen = new Map<string, number>();
  return records.map((record) => {
    const id = fieldOf(record, 'id');
    if (id) return id;
    const text = JSON.stringify(record);
    const earlier = seen.get(text) ?? 0;
    seen.set(text, earlier + 1);
    return earlier === 0 ? text : `${text} ${earlier}`;
  });
}

type Found = Pick<Page<unknown>, 'total'> & { records: readonly unknown[] };

/** Whether two pages are the same one, as where the service ignores what they were asked for by. */
export const isSamePage = (one: Found, other: Found): boolean =>
  one.total === other.total &&
  String(recordKeys(one.records)) === String(recordKeys(other.records));

/** To the second and with a time zone: a less exact time does not show which of two came first. */
const exactTime = /T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/;

/** An exact time of a record, in milliseconds since the epoch. */
export function timeOf(record: unknown, field: string): number | undefined {
  const time = fieldOf(record, field);
  return typeof time === 'string' && exactTime.test(time) ? Date.parse(time) : undefined;
}

/** A quote, its items, and what these refer to. */
const frozenDepth = 4;

/** Freezes a record, which is kept and shared. Values that are nested deeper stay as they are. */
export function freezeRecord(value: unknown, depth = frozenDepth): void {
  if (depth === 0 || typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  const isList = Array.isArray(value);
  for (const entry of Object.values(value)) freezeRecord(entry, isList ? depth : depth - 1);
  Object.freeze(value);
}
