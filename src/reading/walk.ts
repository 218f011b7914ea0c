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
import { PageReader, type Pages, type Source } from './page-reader.ts';
import { Pass, type Progress } from './pass.ts';
import { afterAnswer, type Done, firstPlan, nextStep, type ReadingPlan } from './plan.ts';
import type { Segment } from './segments.ts';

export interface Reading<R> {
  records: R[];
  coverage: Coverage;
}

/** Maximum number of requests in flight. */
const maxParallel = 6;
/** Maximum number of responses that have arrived and are not processed, when a further request is sent. */
const maxUnprocessed = 2;
const maxPasses = 3;
/** A pass with more requests than this is repeated only once. */
const maxRequestsToRepeat = 20;

/**
 * Reads a whole collection with parallel requests. It handles smaller pages than requested, a changing total, an
 * ignored offset, and records that move while it reads. An async iterator of the progress, which returns the reading.
 *
 * A pass that does not prove completeness (`coverage.ts`) is repeated, sorted by creation time if the route can sort.
 * @throws ApiError if the first page cannot be read, or the key is refused meanwhile; the
 *   signal's reason when cancelled
 */
export async function* readCollection<R extends Resource>(
  client: Pages,
  resource: R,
  query: Search,
  call: Call,
): AsyncGenerator<Progress, Reading<RecordOf[R]>> {
  await client.ready();
  const source = { client, resource, query, call };
  const all = new Map<unknown, RecordOf[R]>();
  let previous: Pass<RecordOf[R]> | undefined;
  for (let round = 1; ; round++) {
    const pass = new Pass<RecordOf[R]>(client.profile(resource), previous);
    const { end, requests } = yield* readPass(source, pass);
    const proven = await provenReading(source, pass, end, previous);
    if (proven) return proven;
    for (const [key, record] of await runInSlices(pass.inListOrder())) all.set(key, record);
    if (await learnsOffset(source, pass, end)) continue;
    if (isApiError(end)) return reading(all, stoppedCoverage(pass, all.size, end));
    const finished = { pass, end };
    if (isLast(round, requests, finished, previous)) {
      return reading(all, unprovenCoverage(finished, all.size));
    }
    previous = pass;
  }
}

/** The records of the pass if they are proven to be complete. */
async function provenReading<R extends Resource>(
  { client, resource }: Omit<Source<R>, 'signal'>,
  pass: Pass<RecordOf[R]>,
  end: Done | ApiError,
  previous: Pass<RecordOf[R]> | undefined,
): Promise<Reading<RecordOf[R]> | undefined> {
  if (isApiError(end) || !isProven({ pass, end }, previous)) return undefined;
  if (pass.segments.length > 1 && end.by === 'pages') client.confirmOffset(resource);
  const found = await runInSlices(pass.inListOrder());
  return reading(found, completeCoverage(found.size));
}

/**
 * Checks the meaning of the offset if pages did not fit together or an offset was refused.
 * @returns whether it differs from what was assumed, so that another pass can succeed
 */
async function learnsOffset<R extends Resource>(
  { client, resource, query, call }: Omit<Source<R>, 'signal'>,
  pass: Pass<RecordOf[R]>,
  end: Done | ApiError,
): Promise<boolean> {
  if (pass.countIsLimit || pass.profile.answers === 'one-answer') return false;
  if (isApiError(end) && end.kind !== 'refused') return false;
  const onlyFirst = !isApiError(end) && end.by === 'first-page';
  try {
    const learnt = await client.learnOffset(resource, query, call);
    // The pass itself showed that the offset is ignored.
    return learnt && !(onlyFirst && client.profile(resource).offset === 'none');
  } catch (error) {
    if (!isApiError(error)) throw error;
    return false; // The records read so far are returned as a part.
  }
}

const reading = <R>(found: ReadonlyMap<unknown, R>, coverage: Coverage): Reading<R> => ({
  records: [...found.values()],
  coverage,
});

/** Whether another pass would cost too much or show nothing new. */
const isLast = <R>(
  round: number,
  requests: number,
  { pass, end }: FinishedPass<R>,
  previous: Pass<R> | undefined,
): boolean =>
  round === maxPasses ||
  (round === 2 && requests > maxRequestsToRepeat) ||
  end.by === 'first-page' ||
  (previous !== undefined && pass.isSameAs(previous));

interface PassEnd {
  /** How the plan ended, or the error after which the records read so far can still be used. */
  end: Done | ApiError;
  requests: number;
}

async function* readPass<R extends Resource>(
  source: Omit<Source<R>, 'signal'>,
  pass: Pass<RecordOf[R]>,
): AsyncGenerator<Progress, PassEnd> {
  const own = new AbortController();
  const { call } = source;
  const signal = AbortSignal.any([call.signal, own.signal]);
  const reader = new PageReader({ ...source, signal }, pass, maxParallel);
  const passEnd = (end: Done | ApiError): PassEnd => ({ end, requests: reader.requests });
  try {
    return passEnd(yield* runPlan(reader, pass));
  } catch (error) {
    call.signal.throwIfAborted();
    const hasNothing = pass.isFirst && pass.found.size === 0;
    if (hasNothing || !isApiError(error) || error.kind === 'key-refused') throw error;
    return passEnd(error);
  } finally {
    own.abort();
  }
}

/** Sends requests in parallel as far as the plan allows; processes responses in request order. */
async function* runPlan<R extends Resource>(
  reader: PageReader<R>,
  pass: Pass<RecordOf[R]>,
): AsyncGenerator<Progress, Done> {
  const underWay: Promise<Segment>[] = [];
  let plan = firstPlan(pass.profile);
  const sendAhead = () => {
    plan = requestAhead(plan, reader, pass, underWay);
  };
  reader.onArrival = sendAhead;
  try {
    for (;;) {
      sendAhead();
      if (plan.mode === 'done') return plan;
      const [next] = underWay;
      if (!next) throw new Error('the plan of a reading neither ends nor requests a page');
      const segment = await next;
      yield pass.progress;
      underWay.shift();
      const after = afterAnswer(plan, segment, pass);
      // Requests of the previous mode are not awaited; a response that still arrives is added to the pass.
      if (after.mode !== plan.mode) underWay.length = 0;
      plan = after;
    }
  } finally {
    reader.onArrival = undefined;
  }
}

function requestAhead<R extends Resource>(
  from: ReadingPlan,
  reader: PageReader<R>,
  pass: Pass<RecordOf[R]>,
  underWay: Promise<Segment>[],
): ReadingPlan {
  let plan = from;
  while (underWay.length < maxParallel || mayRunAhead(reader, pass, underWay)) {
    const step = nextStep(plan, pass, underWay.length);
    plan = step.plan;
    if (!step.request) break;
    const running = reader.read(step.request);
    running.catch(() => {}); // `runPlan` awaits it later, unless an earlier request fails.
    underWay.push(running);
  }
  return plan;
}

/**
 * Whether a request may be sent before all responses that have arrived are processed: only if they are few, and the
 * offset is known to work, so that hardly any request is sent in vain.
 */
const mayRunAhead = <R extends Resource>(
  { freeSlots }: PageReader<R>,
  { first, found }: Pass<RecordOf[R]>,
  underWay: readonly unknown[],
): boolean =>
  freeSlots > 0 &&
  underWay.length < maxParallel + maxUnprocessed &&
  found.size > (first?.keys.length ?? 0);
