/**
 * Brings a reading of a collection up to date by the records that changed since, instead of reading it whole again. Three
 * changes are not shown, until it is read whole after a day: a removed record whose place in the count a record with an old
 * `updatedAt` takes, a deletion that does not move `updatedAt` (the first one, or any after one that did), and new names of
 * owners and stages.
 */

import type { Call } from '../service/call.ts';
import { ignoreApiError } from '../service/errors.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';
import { type Page, routes, type Search } from '../service/routes.ts';
import { forEachInSlices } from '../slices.ts';
import { freezeRecord, recordKeys, timeOf } from './pass.ts';
import { pageSize, type ServicePages } from './service-pages.ts';

/** A collection is read whole at least once in this time, as an update does not show everything. */
const wholeForMs = 24 * 60 * 60_000;
/** An update may take at most this share of the requests of a whole reading. */
const maxShare = 0.25;
/** The service may write its times later, or less exactly, than it answers. */
const marginMs = 2_000;

/** What is known of the time of a reading. */
export interface Basis {
  /** Every change that the reading may lack was made at this moment or later, by the times in the service's records. */
  readonly changesFrom: number;
  /** When the collection was last read whole, in milliseconds since the epoch. */
  readonly wholeAt: number;
}

/** The fields that are sorted by; `deleted` of companies and contacts, `deletedAt` of the others. */
type TimeField = 'updatedAt' | 'deletedAt' | 'deleted';

/** The learnt property that a deletion moves `updatedAt`. */
const deletionsUpdate = 'updatedAt of deletions';

/**
 * The moment before which no change can be missing in records that were read within `durationMs` until `endedAt`, the time
 * by the service's clock: the newest change that they show is from the end of the reading or earlier, so one that they lack
 * is at most the duration older. `undefined` where records do not say when they were changed.
 */
export async function changesFrom(
  records: readonly unknown[],
  endedAt: number,
  durationMs: number,
): Promise<number | undefined> {
  let newest = Number.NEGATIVE_INFINITY;
  await forEachInSlices(records, (record) => {
    const time = timeOf(record, 'updatedAt');
    // A later time is not from the service's clock.
    if (time !== undefined && time > newest && time <= endedAt) newest = time;
  });
  return Number.isFinite(newest) ? newest - durationMs - marginMs : undefined;
}

/** Whether a reading may still be brought up to date. */
export const isRecent = ({ wholeAt }: Basis): boolean => Date.now() - wholeAt < wholeForMs;

/** Whether the service shows what changed, as far as is known. */
export const canUpdate = (resource: Resource, pages: ServicePages): boolean =>
  routes[resource].parameters.includes('sort') &&
  pages.traits(resource).honoured['-updatedAt'] !== false;

export interface Source {
  readonly pages: ServicePages;
  readonly resource: Resource;
  /** Parameters of the whole collection. */
  readonly query: Search;
  readonly call: Call;
}

/**
 * The records as they are now, the same list if none changed; `undefined` if the service does not show for sure what
 * changed, so that the collection has to be read whole. It is proven by the order of the records that did not change, and by
 * the count: what was known and what is new are as many as the service counts, so none is missing and none has gone.
 * @throws ApiError; the signal's reason when cancelled
 */
export async function readUpdate(
  source: Source,
  earlier: readonly ApiRecord[],
  since: number,
): Promise<readonly ApiRecord[] | undefined> {
  const { pages, resource } = source;
  const keys = recordKeys(earlier);
  const known = new Map<unknown, ApiRecord>(earlier.map((record, at) => [keys[at], record]));
  const field = earlier.map(deletionField).find((name) => name !== undefined);
  const asksDeletions = field && pages.traits(resource).honoured[deletionsUpdate] !== true;
  const [changed, deleted] = await Promise.all([
    readNewest(source, known, 'updatedAt', since),
    asksDeletions ? readNewest(source, known, field, since) : undefined,
  ]);
  if (!changed || (asksDeletions && deleted?.total !== changed.total)) return undefined;
  for (const [key, record] of deleted?.records ?? []) {
    const before = known.get(key);
    const isLive = before !== undefined && deletionField(before) === undefined;
    if (isLive) pages.learnHonoured(resource, deletionsUpdate, isUpdate(changed.records.get(key)));
    changed.records.set(key, record);
  }
  const now = new Map(known);
  let isSame = true;
  for (const [key, record] of changed.records) {
    if (JSON.stringify(known.get(key)) === JSON.stringify(record)) continue;
    isSame = false;
    freezeRecord(record);
    now.set(key, record);
  }
  if (now.size !== changed.total) return undefined;
  return isSame ? earlier : [...now.values()];
}

/** The records whose time is `since` or later, and the total; `undefined` where the service does not show them for sure. */
async function readNewest(
  source: Source,
  known: ReadonlyMap<unknown, ApiRecord>,
  field: TimeField,
  since: number,
): Promise<{ records: Map<unknown, ApiRecord>; total: number } | undefined> {
  const { pages, resource } = source;
  const sort = `-${field}`;
  const newest = new Newest(field, since);
  for (let from = 0; newest.older.length === 0; ) {
    if (from > pageSize && from > known.size * maxShare) return undefined;
    const page = await readSorted(source, sort, from);
    if (!page || !newest.add(page)) {
      // On a later page it may also be a record that has just been changed.
      if (from === 0 && newest.isUnsorted) pages.learnHonoured(resource, sort, false);
      return undefined;
    }
    from += page.records.length;
  }
  if (!(await followsOrder(newest, known))) return undefined;
  if (!pages.traits(resource).honoured[sort]) {
    const isHonoured = await isSorting(source, newest, known);
    pages.learnHonoured(resource, sort, isHonoured);
    if (!isHonoured) return undefined;
  }
  return newest;
}

/** A page in this order; `undefined` if the service refuses it, or fails for it and never gave one. */
function readSorted(
  { pages, resource, query, call }: Source,
  sort: string,
  from: number,
): Promise<Page<ApiRecord> | undefined> {
  const asked = pages.page(resource, { ...query, size: pageSize, from, sort }, call);
  const isKnown = pages.traits(resource).honoured[sort] === true;
  return asked.catch(
    isKnown ? ignoreApiError('refused') : ignoreApiError('refused', 'server-error'),
  );
}

/** The pages of a collection sorted by a time, the newest first. */
class Newest {
  readonly field: TimeField;
  readonly since: number;
  readonly records = new Map<unknown, ApiRecord>();
  readonly older: { readonly key: unknown; readonly time: number }[] = [];
  isUnsorted = false;
  total = 0;
  #last = Number.POSITIVE_INFINITY;

  constructor(field: TimeField, since: number) {
    this.field = field;
    this.since = since;
  }

  /** @returns false if it is not sorted, is not counted, or has another count than the pages before */
  add({ records, total }: Page<ApiRecord>): boolean {
    const isFirst = this.#last === Number.POSITIVE_INFINITY;
    if (records.length === 0 || total === undefined) return false;
    if (!isFirst && total !== this.total) return false;
    this.total = total;
    const keys = recordKeys(records);
    for (const [at, record] of records.entries()) {
      const time = this.timeOf(record);
      this.isUnsorted ||= time > this.#last;
      this.#last = time;
      if (time >= this.since) this.records.set(keys[at], record);
      else this.older.push({ key: keys[at], time });
    }
    return !this.isUnsorted;
  }

  /** A record without the time comes last. */
  timeOf(record: ApiRecord): number {
    return timeOf(record, this.field) ?? Number.NEGATIVE_INFINITY;
  }
}

/** Whether the older records of a page are those that come first, by their times, of the known ones that did not change. */
async function followsOrder(
  newest: Newest,
  known: ReadonlyMap<unknown, ApiRecord>,
): Promise<boolean> {
  const { older, records, since } = newest;
  const last = older.at(-1)?.time ?? since;
  const expected: number[] = [];
  await forEachInSlices(known, ([key, record]) => {
    const time = newest.timeOf(record);
    if (time >= last && !records.has(key)) expected.push(time);
  });
  expected.sort((one, other) => other - one);
  return older.every(({ time }, at) => time === expected[at]);
}

/** Whether the service sorts: the order is another one than its usual order, or turns round with the sign. */
async function isSorting(
  source: Source,
  { field, records, older }: Newest,
  known: ReadonlyMap<unknown, ApiRecord>,
): Promise<boolean> {
  const unchanged = [...known.keys()].filter((key) => !records.has(key));
  if (older.some(({ key }, at) => key !== unchanged[at])) return true;
  const page = await readSorted(source, `+${field}`, 0);
  const falling = { ...page, records: page?.records.toReversed() ?? [] };
  const turned = new Newest(field, Number.NEGATIVE_INFINITY);
  const [last, first] = [falling.records[0], falling.records.at(-1)];
  const isFlat = !last || !first || turned.timeOf(last) === turned.timeOf(first);
  return !isFlat && turned.add(falling);
}

/** The field that says that, and when, a record was deleted. */
const deletionField = (record: ApiRecord): TimeField | undefined =>
  (['deletedAt', 'deleted'] as const).find((name) => timeOf(record, name) !== undefined);

/** Whether a record shows that its deletion moved `updatedAt`; one that was edited just before does not. */
const isUpdate = (record: ApiRecord | undefined): boolean =>
  record !== undefined &&
  Number(timeOf(record, 'updatedAt')) >= Number(timeOf(record, deletionField(record) ?? ''));
