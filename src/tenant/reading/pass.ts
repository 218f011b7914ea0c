import type { Page } from '../../api/client.ts';
import type { RouteProfile } from './profile.ts';
import { furthestEnd, type Segment } from './segments.ts';

export interface Progress {
  read: number;
  total: number | undefined;
}

/**
 * What one pass over a collection has brought so far. It only collects: what to ask next is decided in
 * `plan.ts`, what it proves in `coverage.ts`.
 */
export class Pass<R> {
  readonly profile: RouteProfile;
  readonly isFirst: boolean;
  /** The count moved in the pass before: what it counts is looked for behind it too. */
  readonly distrustsCount: boolean;
  readonly found = new Map<unknown, R>();
  readonly #segments: Segment[] = [];
  readonly #startedAt = Date.now();
  #serviceStartedAt: number | undefined;
  #highestCount: number | undefined;
  #countMoved = false;
  #countIsLimit = false;
  #someAreNew = false;
  #allAreDated = true;

  constructor(profile: RouteProfile, previous?: Pass<R>) {
    this.profile = profile;
    this.isFirst = previous === undefined;
    this.distrustsCount = previous?.countMoved ?? false;
  }

  /** Pages that are places in the list, in the order in which they arrived. */
  get segments(): readonly Segment[] {
    return this.#segments;
  }

  /** The page at the start of the list; undefined until it has come. */
  get first(): Segment | undefined {
    return this.#segments[0];
  }

  /** Whether the service counted differently from one page to the next. */
  get countMoved(): boolean {
    return this.#countMoved;
  }

  /** Whether there are more than the service counts and shows. */
  get countIsLimit(): boolean {
    return this.#countIsLimit;
  }

  /** Whether a record was made after the pass began. */
  get hasNewRecords(): boolean {
    return this.#someAreNew;
  }

  /** Whether each record so far says when it was made, so that a new one would show. */
  get hasAllDates(): boolean {
    return this.#allAreDated;
  }

  /** What the service counted, at its highest. */
  get highestCount(): number | undefined {
    return this.#highestCount;
  }

  /** What the service counts; undefined where it does not count, or sent more than it counts. */
  get count(): number | undefined {
    const count = this.#highestCount;
    return count !== undefined && this.found.size > count ? undefined : count;
  }

  get hasAll(): boolean {
    return this.found.size === this.count;
  }

  get progress(): Progress {
    return { read: this.found.size, total: this.count };
  }

  /** Takes in what was sent for the offset `from`. */
  add(from: number, page: Page<R>): Segment {
    const known = this.found.size;
    const now = page.answeredAt ?? Date.now();
    this.#serviceStartedAt ??= now - (Date.now() - this.#startedAt) - (page.answeredAt ? 0 : 5_000);
    const keys = recordKeys(page.records);
    page.records.forEach((record, at) => {
      this.found.set(keys[at], record);
      this.#noteAge(createdAtOf(record), now);
    });
    this.#noteCount(page.total);
    this.#countIsLimit ||= page.countIsLimit === true;
    const segment = { from, keys, fresh: this.found.size - known };
    // Behind the end some services send the last page once more: that is no place in the list.
    const isPlace = segment.fresh > 0 || from < furthestEnd(this.#segments);
    if (keys.length > 0 && isPlace) this.#segments.push(segment);
    return segment;
  }

  /** Whether it found just what the other pass found. */
  isSameAs(other: Pass<R>): boolean {
    return this.found.size === other.found.size && this.isWithin(other);
  }

  /** Whether it found nothing but what the other pass found. */
  isWithin(other: Pass<R>): boolean {
    return [...this.found.keys()].every((key) => other.found.has(key));
  }

  /** What the service dates later than now was dated by other means, and may be old or new. */
  #noteAge(born: number | undefined, now: number): void {
    if (born === undefined || born > now + 60_000) this.#allAreDated = false;
    else this.#someAreNew ||= born >= (this.#serviceStartedAt ?? now);
  }

  #noteCount(total: number | undefined): void {
    this.#countMoved ||= this.#segments.length > 0 && total !== this.#highestCount;
    if (total !== undefined) this.#highestCount = Math.max(this.#highestCount ?? 0, total);
  }
}

/**
 * Records without an id are told apart by all that they hold, and those of one page that hold the same by
 * their position among them.
 */
export function recordKeys(records: readonly unknown[]): unknown[] {
  const seen = new Map<string, number>();
  return records.map((record) => {
    const { id } = record as { id?: string };
    if (id) return id;
    const text = JSON.stringify(record);
    const earlier = seen.get(text) ?? 0;
    seen.set(text, earlier + 1);
    return earlier === 0 ? text : `${text} ${earlier}`;
  });
}

/** Down to the second, and of a known zone: anything less does not tell what is new. */
const exactTime = /T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/;

function createdAtOf(record: unknown): number | undefined {
  const { createdAt, updatedAt } = record as { createdAt?: unknown; updatedAt?: unknown };
  const time = createdAt ?? updatedAt;
  return typeof time === 'string' && exactTime.test(time) ? Date.parse(time) : undefined;
}
