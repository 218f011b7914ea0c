import { type ApiError, ignoreApiError, isApiError } from '../service/errors.ts';
import type { ApiRecord } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';
import { runInSlices } from '../slices.ts';
import {
  type Coverage,
  completeCoverage,
  isProven,
  partialCoverage,
  stopReason,
  unprovenReason,
} from './coverage.ts';
import { inListOrder, Pass } from './pass.ts';
import { type Ask, type End, readPages } from './read-pages.ts';
import { countsRecords, isRound, mayBeCut } from './service-pages.ts';
import { type Basis, canUpdate, changesFrom, isRecent, readUpdate, type Source } from './update.ts';

export interface Reading<R> {
  records: readonly R[];
  coverage: Coverage;
  basis?: Basis;
  /** Why it ended before everything was read. */
  stoppedBy?: ApiError;
}

export interface Progress {
  read: number;
  total: number | undefined;
}

interface WalkSource extends Source {
  report: (progress: Progress) => void;
  /** The moment before which records that were read by now can lack no change. */
  changesSince: (records: readonly ApiRecord[]) => Promise<number | undefined>;
}

/** How a pass ended, or the error after which the records read so far can still be used. */
type PassEnd = End | ApiError;

const maxPasses = 3;
/** A pass with more pages than this is repeated only once. */
const maxPagesToRepeat = 20;
/** New records come last in this order, so they do not move others to the next page. */
const steadyOrder = '+createdAt';

/**
 * Reads a whole collection with parallel requests. It handles smaller pages than requested, a changing total, an
 * ignored offset, and records that move while it reads.
 *
 * A pass that does not prove completeness (`coverage.ts`) is repeated, sorted by creation time if the route can sort.
 * With an earlier whole reading, only what changed since is read, where the service shows it for sure (`update.ts`).
 * @throws ApiError if the first page cannot be read, or the key is refused meanwhile; the
 *   signal's reason when cancelled
 */
export async function readCollection(
  asked: Omit<WalkSource, 'changesSince'>,
  earlier?: Reading<ApiRecord>,
): Promise<Reading<ApiRecord>> {
  const { pages, resource } = asked;
  const startedAt = performance.now();
  const changesSince = (records: readonly ApiRecord[]) =>
    changesFrom(records, pages.now, performance.now() - startedAt);
  const source = { ...asked, changesSince };
  const { basis } = earlier ?? {};
  const updated =
    earlier && basis && isRecent(basis) && canUpdate(resource, pages)
      ? await readUpdate(source, earlier.records, basis.changesFrom)
      : undefined;
  const read = updated ? completeReading(updated) : await readInPasses(source);
  const { records, coverage } = read;
  const since = coverage.complete ? await changesSince(records) : undefined;
  if (since === undefined) return read;
  const wholeAt = (updated && basis?.wholeAt) ?? Date.now();
  return { records, coverage, basis: { changesFrom: since, wholeAt } };
}

const completeReading = (records: readonly ApiRecord[]): Reading<ApiRecord> => ({
  records,
  coverage: completeCoverage(records.length),
});

async function readInPasses(source: WalkSource): Promise<Reading<ApiRecord>> {
  const { pages, resource } = source;
  const all = new Map<unknown, ApiRecord>();
  for (let round = 1; ; round++) {
    const pass = new Pass({
      isTree: routes[resource].shape === 'tree',
      canPage: pages.canPage(resource),
      ignoresSize: pages.traits(resource).honoured.size === false,
    });
    const end = await readPass(source, pass, round > 1);
    const found = await runInSlices(inListOrder(pass));
    learnCount(source, pass, end);
    if (proves(source, pass, end)) return completeReading([...found.values()]);
    const completed = round === 1 && (await completePass(source, pass, end));
    if (completed) return completeReading(completed);
    const before = all.size;
    for (const [key, record] of found) all.set(key, record);
    const showsMore = found.size !== before || all.size !== before;
    if (await ignoresOffset(source, pass, end)) continue;
    const last = lastReading(pass, end, [...all.values()], showsMore ? round : maxPasses);
    if (last) return last;
  }
}

/** Whether all was read; several pages then also show that the offset works. */
function proves({ pages, resource }: Source, pass: Pass, end: PassEnd): boolean {
  if (isApiError(end) || !isProven(pass, end)) return false;
  if (pass.segments.length > 1 && end.isPaged) pages.learn(resource, { offset: 'works' });
  if (end.ignoresSize) pages.learnHonoured(resource, 'size', false);
  return true;
}

/** Learns whether the total is that of the records, where all pages were asked for and nothing changed meanwhile. */
function learnCount(
  { pages, resource, query }: Source,
  { highestCount, found, countMoved, countIsLimit, hasNewRecords }: Pass,
  end: PassEnd,
): void {
  const isSearch = query.query || query.filters;
  if (isSearch || isApiError(end) || !end.isPaged || countMoved || countIsLimit || hasNewRecords)
    return;
  if (highestCount !== undefined)
    pages.learnHonoured(resource, countsRecords, highestCount === found.size);
}

/**
 * The records of a long pass with what changed meanwhile, where these changes complete it. Where the count fell, the deletion
 * may have hidden a record that did not change.
 */
async function completePass(
  source: WalkSource,
  { found, countFell, countIsLimit, highestCount = 0, segments }: Pass,
  end: PassEnd,
): Promise<readonly ApiRecord[] | undefined> {
  const { pages, resource, query, changesSince } = source;
  const isSearch = query.query || query.filters || query.sort;
  const isLong = segments.length > maxPasses && found.size > highestCount * 0.9;
  if (isApiError(end) || !isLong || countFell || countIsLimit) return undefined;
  if (isSearch || !canUpdate(resource, pages)) return undefined;
  const records = [...found.values()];
  const since = await changesSince(records);
  return since === undefined ? undefined : readUpdate(source, records, since);
}

/** What was read, unless another pass may show more without costing too much. */
function lastReading(
  pass: Pass,
  end: PassEnd,
  records: readonly ApiRecord[],
  round: number,
): Reading<ApiRecord> | undefined {
  const because = (reason: string) => partialCoverage(pass, records.length, reason);
  if (isApiError(end)) return { records, coverage: because(stopReason(end)), stoppedBy: end };
  const isLong = pass.segments.length > maxPagesToRepeat;
  const isLast = !end.isPaged || pass.countIsLimit || round >= (isLong ? 2 : maxPasses);
  return isLast ? { records, coverage: because(unprovenReason(pass, end)) } : undefined;
}

/** Whether it turns out that the offset has no effect, or another one: another pass then requests one long page. */
async function ignoresOffset(
  { pages, resource, call }: Source,
  { route, countIsLimit }: Pass,
  end: PassEnd,
): Promise<boolean> {
  const mayBeIgnored = isApiError(end) ? end.kind === 'refused' : end.isPaged;
  if (countIsLimit || !route.canPage || !mayBeIgnored) return false;
  // After an error the records read so far are returned as a part.
  return (await pages.offsetWorks(resource, call).catch(ignoreApiError())) === false;
}

async function readPass(source: WalkSource, pass: Pass, isRepeated: boolean): Promise<PassEnd> {
  const { call, resource } = source;
  const own = new AbortController();
  const signal = AbortSignal.any([call.signal, own.signal]);
  const isSteady = isRepeated && routes[resource].parameters.includes('sort');
  try {
    const end = await readPages(askFor({ ...source, signal }, pass, isSteady), pass);
    pass.countIsLimit ||=
      pass.highestCount === undefined && mayBeCut(pass.found.size, end.ignoresSize && [50]);
    return end;
  } catch (error) {
    call.signal.throwIfAborted();
    const hasNothing = !isRepeated && pass.found.size === 0;
    if (hasNothing || !isApiError(error) || error.kind === 'key-refused') throw error;
    return error;
  } finally {
    own.abort();
  }
}

/** Requests pages in the steady order, if one is wanted; if it is refused, in the default order from then on. */
function askFor(
  { pages, resource, query, call, signal, report }: WalkSource & { signal: AbortSignal },
  pass: Pass,
  isSteady: boolean,
): Ask {
  let search = isSteady ? { ...query, sort: query.sort ?? steadyOrder } : query;
  const ask: Ask = async (from, size, ifRefused = 'fail') => {
    try {
      // Copied for each request, because the deadline of a shared call moves; by name, because its cost is a getter.
      const { deadline, purpose, cost } = call;
      const own = { signal, deadline, purpose, cost };
      const page = await pages.page(resource, { ...search, from, size }, own);
      const segment = pass.add(from, page);
      report({ read: pass.found.size, total: pass.count });
      return segment;
    } catch (error) {
      if (!isApiError(error, 'refused')) throw error;
      if (ifRefused === 'nothing') {
        pass.countIsLimit ||= isRound(from);
        return { from, keys: [], fresh: 0 };
      }
      if (search === query || pass.segments.length > 0) throw error;
      search = query;
      return ask(from, size);
    }
  };
  return ask;
}
