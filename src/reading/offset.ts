import type { Call } from '../service/call.ts';
import { ignoreApiError } from '../service/errors.ts';
import type { Search } from '../service/page.ts';
import type { Resource } from '../service/records/records.ts';
import { recordKeys } from './pass.ts';
import type { OffsetMeaning, ServiceProfile } from './profile.ts';
import type { SizedPages } from './sized-pages.ts';

type Counts = OffsetMeaning['counts'];
type Offset = OffsetMeaning | 'ignored';

/** A small offset that leads to a different record under each meaning. */
export const probedOffset = 3;
export const probedSize = 2;
/** Rows of the first page needed to distinguish the meanings. */
export const minSampleRows = probedOffset * probedSize + 1;

/** Common names of the offset parameter. */
const offsetNames = ['from', 'offset', 'skip', 'page'] as const;
/** After this time the meaning of the offset is checked again if pages do not fit together. */
const doubtOffsetMs = 10 * 60_000;

/** What the offset parameter of each route means: its name, and what it counts. */
export class Offsets {
  readonly #pages: SizedPages;
  readonly #profile: ServiceProfile;
  /** That of another route, assumed for routes that are not known yet; `undefined` if the service has none. */
  #assumed: OffsetMeaning | undefined;

  constructor(pageParam: string | undefined, pages: SizedPages, profile: ServiceProfile) {
    this.#pages = pages;
    this.#profile = profile;
    if (pageParam !== undefined) this.#assumed = { name: pageParam, counts: 'records' };
  }

  /** To be called when the stored profile is loaded. */
  ready(): void {
    const offsets = Object.values(this.#profile.all).map(({ offset }) => offset);
    this.#assumed = offsets.find((it) => it !== undefined && it !== 'ignored') ?? this.#assumed;
  }

  /** `undefined` without a usable offset. */
  of(resource: Resource): OffsetMeaning | undefined {
    const offset = this.#profile.of(resource).offset ?? this.#assumed;
    return offset === 'ignored' ? undefined : offset;
  }

  /**
   * Finds out what the offset of this route means, if that is unknown.
   * @returns whether it differs from what was assumed
   * @throws ApiError
   */
  async learn(resource: Resource, search: Search, call: Call): Promise<boolean> {
    const { offset, offsetAt = 0 } = this.#profile.of(resource);
    const isRecent = offset !== undefined && Math.abs(Date.now() - offsetAt) < doubtOffsetMs;
    if (isRecent || this.#assumed === undefined) return false;
    const found = await this.#find(resource, search, call);
    if (found === undefined) return false;
    const isOther = !isSame(found, offset ?? this.#assumed);
    // Records that move meanwhile can look like another meaning, so it must be found twice.
    if (isOther && !isSame(found, await this.#find(resource, search, call))) return false;
    this.#profile.learn(resource, { offset: found, offsetAt: Date.now() });
    if (found !== 'ignored') this.#assumed = found;
    return isOther;
  }

  /** Records that the offset means what was assumed: a reading was complete, or two pages fitted together. */
  confirm(resource: Resource): void {
    const offset = this.#assumed;
    if (offset === undefined || this.#profile.of(resource).offset !== undefined) return;
    this.#profile.learn(resource, { offset, offsetAt: Date.now() });
  }

  async #find(resource: Resource, search: Search, call: Call): Promise<Offset | undefined> {
    const request = { ...search, size: minSampleRows };
    const sample = recordKeys((await this.#pages.page(resource, request, call)).records);
    if (sample.length < minSampleRows) return undefined;
    let ignored = false;
    for (const name of new Set([this.#assumed?.name ?? 'from', ...offsetNames])) {
      const counts = await this.#probe(resource, search, name, sample, call);
      if (counts === 'ignored') ignored = true;
      else if (counts !== undefined) return { name, counts };
    }
    return ignored ? 'ignored' : undefined;
  }

  /** What the parameter of that name counts; `undefined` if it is refused or returns nothing. */
  async #probe(
    resource: Resource,
    search: Search,
    offsetName: string,
    sample: readonly unknown[],
    call: Call,
  ): Promise<Counts | 'ignored' | undefined> {
    const takesNoSize = this.#profile.of(resource).maxSize === 'none';
    const size = takesNoSize ? sample.length : probedSize;
    const keysFrom = async (from: number) => {
      const asked = this.#pages.page(resource, { ...search, size, from, offsetName }, call);
      const page = await asked.catch(ignoreApiError('refused'));
      return recordKeys(page?.records ?? []);
    };
    const counts = meaningFrom(sample, await keysFrom(probedOffset), size);
    if (counts !== undefined || !takesNoSize) return counts;
    // The sample contains the first page only, so this can only distinguish pages counted from 0 and from 1.
    const [key] = await keysFrom(1);
    if (key === undefined) return undefined;
    return key === sample[0] ? 'pages from 1' : 'pages';
  }
}

const isSame = (one: Offset | undefined, other: Offset | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** The value of the parameter for a page that begins at the 0-based `place`. */
export function offsetValue(counts: Counts, place: number, size: number): number {
  const first = counts.endsWith('from 1') ? 1 : 0;
  return first + (counts.startsWith('pages') ? Math.floor(place / size) : place);
}

/**
 * What the offset counts, from the position in the first page of the first record returned for `probedOffset`.
 * `ignored` if it is the same record; `undefined` if no meaning explains it.
 */
export function meaningFrom(
  first: readonly unknown[],
  [key]: readonly unknown[],
  size: number,
): Counts | 'ignored' | undefined {
  const place = key === undefined ? -1 : first.indexOf(key);
  if (place === 0) return 'ignored';
  const meanings = ['records', 'records from 1', 'pages', 'pages from 1'] as const;
  return meanings.find(
    (counts) => offsetValue(counts, place, size) === probedOffset && fits(counts, place, size),
  );
}

/** Whether a page can begin there. */
const fits = (counts: Counts, place: number, size: number): boolean =>
  place > 0 && (!counts.startsWith('pages') || place % size === 0);
