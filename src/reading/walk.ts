import type { Call } from '../service/call.ts';
import { type ApiError, isApiError } from '../service/errors.ts';
import type { Search } from '../service/page.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import {
  type Coverage,
  completeCoverage,
  type FinishedPass,
  isProven,
  stoppedCoverage,
  unprovenCoverage,
} from './coverage.ts';
import { inListOrder, Pass } from './pass.ts';
import { type Ask, type End, readPages } from './read-pages.ts';
import type { ServicePages } from './service-pages.ts';

export interface Reading<R> {
  records: readonly R[];
  coverage: Coverage;
}

export interface Progress {
  read: number;
  total: number | undefined;
}

type Pages = Pick<ServicePages, 'ready' | 'profile' | 'page' | 'offsets'>;

interface Source<R extends Resource> {
  client: Pages;
  resource: R;
  query: Search;
  call: Call;
  report: (progress: Progress) => void;
}

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
 * @throws ApiError if the first page cannot be read, or the key is refused meanwhile; the
 *   signal's reason when cancelled
 */
export async function readCollection<R extends Resource>(
  client: Pages,
  resource: R,
  query: Search,
  call: Call,
  report: (progress: Progress) => void = () => {},
): Promise<Reading<RecordOf[R]>> {
  await client.ready();
  const source = { client, resource, query, call, report };
  const all = new Map<unknown, RecordOf[R]>();
  let previous: Pass<RecordOf[R]> | undefined;
  for (let round = 1; ; round++) {
    const pass = new Pass<RecordOf[R]>(client.profile(resource), previous);
    const end = await readPass(source, pass, previous);
    const found = await runInSlices(inListOrder(pass));
    if (!isApiError(end) && isProven({ pass, end }, previous)) {
      if (pass.segments.length > 1 && end.by === 'pages') client.offsets.confirm(resource);
      return { records: [...found.values()], coverage: completeCoverage(found.size) };
    }
    for (const [key, record] of found) all.set(key, record);
    if (await learnsOffset(source, pass, end)) continue;
    const coverage = lastCoverage(round, pass, end, all.size, previous);
    if (coverage) return { records: [...all.values()], coverage };
    previous = pass;
  }
}

/** The coverage of what was read, unless another pass may show more without costing too much. */
function lastCoverage<R>(
  round: number,
  pass: Pass<R>,
  end: End | ApiError,
  read: number,
  previous: Pass<R> | undefined,
): Coverage | undefined {
  if (isApiError(end)) return stoppedCoverage(pass, read, end);
  const finished: FinishedPass<R> = { pass, end };
  const isLast =
    round === maxPasses ||
    (round === 2 && pass.segments.length > maxPagesToRepeat) ||
    end.by === 'first-page' ||
    (previous?.found.size === pass.found.size && pass.isWithin(previous));
  return isLast ? unprovenCoverage(finished, read) : undefined;
}

/**
 * Checks the meaning of the offset if pages did not fit together or an offset was refused.
 * @returns whether it differs from what was assumed, so that another pass can succeed
 */
async function learnsOffset<R extends Resource>(
  { client, resource, query, call }: Source<R>,
  pass: Pass<RecordOf[R]>,
  end: End | ApiError,
): Promise<boolean> {
  if (pass.countIsLimit || pass.profile.answers === 'one-answer') return false;
  if (isApiError(end) && end.kind !== 'refused') return false;
  const onlyFirst = !isApiError(end) && end.by === 'first-page';
  try {
    const learnt = await client.offsets.learn(resource, query, call);
    // The pass itself showed that the offset is ignored.
    return learnt && !(onlyFirst && client.profile(resource).offset === 'none');
  } catch (error) {
    if (!isApiError(error)) throw error;
    return false; // The records read so far are returned as a part.
  }
}

/** @returns how the pass ended, or the error after which the records read so far can still be used */
async function readPass<R extends Resource>(
  source: Source<R>,
  pass: Pass<RecordOf[R]>,
  previous: Pass<RecordOf[R]> | undefined,
): Promise<End | ApiError> {
  const { call } = source;
  const own = new AbortController();
  const signal = AbortSignal.any([call.signal, own.signal]);
  try {
    const isSteady = previous !== undefined && pass.profile.sortable;
    return await readPages(askFor({ ...source, signal }, pass, isSteady), pass);
  } catch (error) {
    call.signal.throwIfAborted();
    const hasNothing = !previous && pass.found.size === 0;
    if (hasNothing || !isApiError(error) || error.kind === 'key-refused') throw error;
    return error;
  } finally {
    own.abort();
  }
}

/** Requests pages in the steady order, if one is wanted; if it is refused, in the default order from then on. */
function askFor<R extends Resource>(
  { client, resource, query, call, signal, report }: Source<R> & { signal: AbortSignal },
  pass: Pass<RecordOf[R]>,
  isSteady: boolean,
): Ask {
  let search = isSteady ? { ...query, sort: query.sort ?? steadyOrder } : query;
  const ask: Ask = async (from, size, ifRefused = 'fail') => {
    try {
      // The call is copied for each request: the deadline of a shared call moves.
      const page = await client.page(resource, { ...search, from, size }, { ...call, signal });
      const segment = pass.add(from, page);
      report({ read: pass.found.size, total: pass.count });
      return segment;
    } catch (error) {
      if (!isApiError(error, 'refused')) throw error;
      if (ifRefused === 'nothing') return { from, keys: [], fresh: 0 };
      if (search === query || pass.segments.length > 0) throw error;
      search = query;
      return ask(from, size);
    }
  };
  return ask;
}
