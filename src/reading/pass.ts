import type { Steps } from '../figures/steps.ts';
import type { Page } from '../service/page.ts';
import { fieldOf } from '../values.ts';
import { RecordFreezer } from './frozen-records.ts';
import type { RouteProfile } from './profile.ts';
import { furthestEnd, type Segment } from './segments.ts';

/**
 * The results of one pass over a collection so far. `read-pages.ts` decides what to request next, `coverage.ts` whether
 * the pass proves that it is complete.
 */
export class Pass<R> {
  readonly profile: RouteProfile;
  /** The total changed during the previous pass, so this pass also reads beyond it. */
  readonly distrustsCount: boolean;
  readonly found = new Map<unknown, R>();
  /** The pages, in order of arrival, without repetitions of the last page beyond the end. */
  readonly segments: Segment[] = [];
  /** Whether the total changed from one page to another. */
  countMoved = false;
  /** Whether the total is a limit of the service: there are more records. */
  countIsLimit = false;
  /** Whether the service refuses a size, so that the length of a page does not depend on what was asked for. */
  withoutSize = false;
  /** Whether a record was created after the pass began. */
  hasNewRecords = false;
  /** Whether every record so far has an exact creation time, so that a new one can be recognised. */
  hasAllDates = true;
  /** The highest total that the service reported. */
  highestCount: number | undefined;
  readonly #freezer = new RecordFreezer();
  readonly #startedAt = Date.now();
  #serviceStartedAt: number | undefined;

  constructor(profile: RouteProfile, previous?: Pass<R>) {
    this.profile = profile;
    this.distrustsCount = previous?.countMoved ?? false;
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
  add(from: number, { records, total, answeredAt, ...page }: Page<R>): Segment {
    const known = this.found.size;
    const now = answeredAt ?? Date.now();
    this.#serviceStartedAt ??= now - (Date.now() - this.#startedAt) - (answeredAt ? 0 : 5_000);
    const keys = recordKeys(records);
    for (const [at, record] of records.entries()) {
      this.#freezer.freeze(record);
      this.found.set(keys[at], record);
      this.#noteAge(createdAtOf(record), now);
    }
    this.countMoved ||= this.segments.length > 0 && total !== this.highestCount;
    if (total !== undefined) this.highestCount = Math.max(this.highestCount ?? 0, total);
    this.countIsLimit ||= page.countIsLimit === true;
    this.withoutSize ||= page.withoutSize === true;
    const segment = { from, keys, fresh: this.found.size - known };
    // Beyond the end some services return the last page again.
    const isPlace = segment.fresh > 0 || from < furthestEnd(this.segments);
    if (keys.length > 0 && isPlace) this.segments.push(segment);
    return segment;
  }

  /** Whether the other pass found every record of this one. */
  isWithin(other: Pass<R>): boolean {
    return [...this.found.keys()].every((key) => other.found.has(key));
  }

  /** A creation time in the future is not from the service's clock: it does not show whether the record is new. */
  #noteAge(createdAt: number | undefined, now: number): void {
    if (createdAt === undefined || createdAt > now + 60_000) this.hasAllDates = false;
    else this.hasNewRecords ||= createdAt >= (this.#serviceStartedAt ?? now);
  }
}

/** The records of a pass by key in the order of the list, whichever page arrived first. */
export function* inListOrder<R>({ segments, found }: Pass<R>): Steps<ReadonlyMap<unknown, R>> {
  const sorted = segments.toSorted((one, other) => one.from - other.from);
  if (sorted.every((segment, at) => segment === segments[at])) return found;
  const ordered = new Map<unknown, R>();
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

/** To the second and with a time zone: a less exact time does not show whether a record is new. */
const exactTime = /T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/;

function createdAtOf(record: unknown): number | undefined {
  const time = fieldOf(record, 'createdAt') ?? fieldOf(record, 'updatedAt');
  return typeof time === 'string' && exactTime.test(time) ? Date.parse(time) : undefined;
}
