import type { Call } from './call.ts';
import type { ApiClient, Page, PageQuery } from './client.ts';
import { ApiError, RateLimited, Refused, TimedOut } from './errors.ts';
import type { RecordOf, Resource } from './records.ts';
import { routes } from './routes.ts';

/** How far a reading got. `complete` is claimed only where it was seen. */
export interface Coverage {
  complete: boolean;
  read: number;
  /** What the service counts, or what was read where it does not count. */
  total: number;
  /** Why it is not complete. */
  reason?: string;
  /** Seconds until the rest can be had, where the rate budget stopped the reading. */
  retryAfter?: number;
}

export interface Reading<R> {
  records: R[];
  coverage: Coverage;
}

export interface Progress {
  read: number;
  total: number | undefined;
}

const pageSize = 100;
const largestSize = 1_000;
const width = 6;
const mostPasses = 3;
const pagesWorthRepeating = 20;

/** What one request brought, at the offset it was asked for. */
interface Segment<R> {
  from: number;
  records: R[];
}

/**
 * Reads a whole collection, in parallel, by what comes back rather than by what was asked: clamped
 * sizes, short pages, a moving total, an ignored offset, records that shift while reading. An async
 * iterator of its progress, whose return value is the reading.
 *
 * A pass is trusted when the count stood still, as many different records came as it says, overlapping
 * pages agree where they overlap, and no record was touched meanwhile. A pass that cannot be trusted is
 * repeated; two in a row with the same records settle it.
 * @throws ApiError when not even the first page can be had, or the key stops being accepted; the
 *   signal's reason when cancelled
 */
export async function* walk<R extends Resource>(
  client: ApiClient,
  resource: R,
  query: Omit<PageQuery, 'size' | 'from'>,
  call: Call,
): AsyncGenerator<Progress, Reading<RecordOf[R]>> {
  const all = new Map<unknown, RecordOf[R]>();
  let previous: Pass<RecordOf[R]> | undefined;
  for (let round = 1; ; round++) {
    const pass = new Pass<RecordOf[R]>();
    const stopped = yield* passOver(client, resource, query, call, pass, previous === undefined);
    for (const [key, record] of pass.found) all.set(key, record);
    const settled = pass.whole || pass.isClean() || (previous && pass.isLike(previous));
    if (settled && !stopped) return pass.reading(pass.found);
    const last = round === mostPasses || (round === 2 && pass.requests > pagesWorthRepeating);
    if (stopped || pass.unpaged || last) return pass.reading(all, stopped);
    previous = pass;
  }
}

/** One pass; returns the error that cut it short, if what was read until then is still worth telling. */
async function* passOver<R extends Resource>(
  client: ApiClient,
  resource: R,
  query: Omit<PageQuery, 'size' | 'from'>,
  call: Call,
  pass: Pass<RecordOf[R]>,
  mustStart: boolean,
): AsyncGenerator<Progress, ApiError | undefined> {
  const own = new AbortController();
  const signal = AbortSignal.any([call.signal, own.signal]);
  const read = async (from: number, size: number): Promise<Segment<RecordOf[R]>> => {
    pass.requests += 1;
    const page = await client.page(resource, { ...query, from, size }, { ...call, signal });
    pass.add(from, page);
    return { from, records: page.records };
  };
  try {
    pass.whole = routes[resource].shape === 'tree';
    const reading = pass.whole
      ? readFirst(read)
      : readAll(pass, read, client.pageParam !== undefined);
    for await (const _ of reading) yield pass.progress();
    return undefined;
  } catch (error) {
    call.signal.throwIfAborted();
    const worthTelling = error instanceof ApiError && error.passing;
    if (!worthTelling || (mustStart && pass.found.size === 0)) throw error;
    return error;
  } finally {
    own.abort();
  }
}

type Read<R> = (from: number, size: number) => Promise<Segment<R>>;

async function* readFirst<R>(read: Read<R>): AsyncGenerator<void> {
  await read(0, pageSize);
  yield;
}

async function* readAll<R>(pass: Pass<R>, read: Read<R>, canMove: boolean): AsyncGenerator<void> {
  const first = await read(0, pageSize);
  yield;
  if (first.records.length === 0 || pass.hasAll()) return;
  if (canMove && pass.total !== undefined) {
    yield* readRest(pass, read, first.records.length, pass.total);
  }
  if (canMove && !pass.stuck) yield* readTail(pass, read, first.records.length);
  if (!canMove || pass.stuck) await readAtOnce(pass, read, first.records.length);
}

/** The pages after the first, side by side, and what short ones among them left out. */
async function* readRest<R>(
  pass: Pass<R>,
  read: Read<R>,
  step: number,
  total: number,
): AsyncGenerator<void> {
  const offsets = offsetsOf(step, total);
  for await (const segment of inParallel(offsets, (from) => read(from, step))) {
    yield;
    pass.stuck = pass.repeatsFirst(segment);
    if (pass.stuck) return;
    if (segment.records.length === 0) break;
  }
  for (const [from, until] of pass.gaps(total)) yield* fillGap(pass, read, from, until);
}

/**
 * Offsets that cover `total` in steps. Where it costs no further request neighbouring pages overlap by
 * one record: if it is not the same one in both, records moved while we read.
 */
function offsetsOf(step: number, total: number): number[] {
  const pages = Math.ceil(total / step);
  const overlaps = pages * step - total >= pages - 1 && step > 1;
  const stride = overlaps ? step - 1 : step;
  return Array.from({ length: pages - 1 }, (_, page) => (page + 1) * stride);
}

/** A page that came back shorter than asked left a stretch unread, or hides records that do not show. */
async function* fillGap<R>(
  pass: Pass<R>,
  read: Read<R>,
  from: number,
  until: number,
): AsyncGenerator<void> {
  let at = from;
  while (at < until) {
    const known = pass.found.size;
    const { records } = await read(at, until - at);
    yield;
    if (records.length === 0 || pass.found.size === known) return;
    at += records.length;
  }
}

/** On from the furthest record until nothing new comes: the count may be missing, or too low. */
async function* readTail<R>(pass: Pass<R>, read: Read<R>, step: number): AsyncGenerator<void> {
  while (!pass.hasAll()) {
    const known = pass.found.size;
    const segment = await read(pass.end(), step).catch(endIfRefused);
    yield;
    if (pass.found.size > known) continue;
    // Behind the end there is nothing, a refusal, or the last page once more.
    pass.stuck = pass.repeatsFirst(segment);
    pass.sawEnd = !pass.stuck;
    return;
  }
}

function endIfRefused(error: unknown): Segment<never> {
  if (error instanceof Refused) return { from: 0, records: [] };
  throw error;
}

/** Where the offset is ignored, one large page may still bring all. */
async function readAtOnce<R>(pass: Pass<R>, read: Read<R>, count: number): Promise<void> {
  pass.unpaged = true;
  if (pass.total === undefined && count > 1) {
    // A list that comes whole, whatever size was asked for, is not paged at all.
    const fewer = await read(0, Math.ceil(count / 2));
    pass.sawEnd = fewer.records.length === count;
    if (pass.sawEnd) return;
  }
  const wanted = Math.min(pass.total ?? largestSize, largestSize);
  if (wanted > count) await read(0, wanted);
  if (pass.total === undefined) pass.sawEnd = pass.found.size === 1;
}

/** What one pass over a collection has brought so far. */
class Pass<R> {
  readonly found = new Map<unknown, R>();
  requests = 0;
  total: number | undefined;
  /** It comes as one answer, as a tree does. */
  whole = false;
  /** The offset is ignored: every page is the first. */
  stuck = false;
  /** Read without paging, so that repeating it would bring the same. */
  unpaged = false;
  /** An empty page after the last record. */
  sawEnd = false;
  #moved = false;
  readonly #startedAt = Date.now();
  readonly #segments: { from: number; keys: unknown[] }[] = [];

  add(from: number, page: Page<R>): void {
    const keys = page.records.map(keyOf);
    page.records.forEach((record, at) => {
      this.found.set(keys[at], record);
      this.#moved ||= touchedSince(record, this.#startedAt);
    });
    this.#moved ||= this.#segments.length > 0 && page.total !== this.total;
    this.total = page.total ?? this.total;
    if (keys.length > 0) this.#segments.push({ from, keys });
  }

  progress(): Progress {
    return { read: this.found.size, total: this.total };
  }

  hasAll(): boolean {
    return this.total !== undefined && this.found.size >= this.total;
  }

  repeatsFirst(segment: Segment<R>): boolean {
    const first = this.#segments[0]?.keys ?? [];
    const keys = segment.records.map(keyOf);
    return segment.from > 0 && keys.length > 0 && keys.every((key, at) => key === first[at]);
  }

  /** The offset behind the furthest record. */
  end(): number {
    return Math.max(0, ...this.#segments.map(({ from, keys }) => from + keys.length));
  }

  /** Stretches of offsets below `total` that no page covers. */
  gaps(total: number): [from: number, until: number][] {
    const gaps: [number, number][] = [];
    let covered = 0;
    for (const { from, keys } of this.#inOrder()) {
      if (from > covered) gaps.push([covered, from]);
      covered = Math.max(covered, from + keys.length);
    }
    if (covered < total) gaps.push([covered, total]);
    return gaps;
  }

  isClean(): boolean {
    const counted = this.total === undefined ? this.sawEnd : this.found.size === this.total;
    return counted && !this.#moved && (this.unpaged || this.#overlapsAgree());
  }

  /** The same records twice in a row, and as many as the service counts: whatever looked odd is its way. */
  isLike(other: Pass<R>): boolean {
    const counted = this.total === undefined ? this.sawEnd : this.found.size === this.total;
    const same = this.found.size === other.found.size;
    return counted && same && [...this.found.keys()].every((key) => other.found.has(key));
  }

  reading(found: Map<unknown, R>, stopped?: ApiError): Reading<R> {
    const records = [...found.values()];
    const total = Math.max(this.total ?? 0, records.length);
    if (found === this.found && !stopped) {
      return { records, coverage: { complete: true, read: records.length, total } };
    }
    const coverage: Coverage = {
      complete: false,
      read: records.length,
      total,
      reason: stopped ? whyStopped(stopped) : this.#whyIncomplete(),
    };
    if (stopped instanceof RateLimited && stopped.seconds !== undefined) {
      coverage.retryAfter = stopped.seconds;
    }
    return { records, coverage };
  }

  #whyIncomplete(): string {
    if (this.stuck || this.unpaged) {
      return 'the service does not page on, so only its first page can be read (the setting page-param names its offset parameter)';
    }
    const { size } = this.found;
    if (this.total !== undefined && size !== this.total && !this.#moved) {
      return `the service counts ${this.total} but gave ${size}`;
    }
    return 'records kept changing while they were read';
  }

  #inOrder() {
    return [...this.#segments].sort((a, b) => a.from - b.from);
  }

  #overlapsAgree(): boolean {
    const at = new Map<number, unknown>();
    for (const { from, keys } of this.#segments) {
      for (const [index, key] of keys.entries()) {
        if ((at.get(from + index) ?? key) !== key) return false;
        at.set(from + index, key);
      }
    }
    return at.size === this.found.size;
  }
}

/** Records without an id are told apart by all that they hold. */
const keyOf = (record: unknown): unknown => {
  const { id } = record as { id?: string };
  return id ?? JSON.stringify(record);
};

function touchedSince(record: unknown, time: number): boolean {
  const { createdAt, updatedAt } = record as { createdAt?: string; updatedAt?: string };
  return [createdAt, updatedAt].some((at) => at !== undefined && Date.parse(at) >= time);
}

function whyStopped(error: ApiError): string {
  if (error instanceof RateLimited) return "the tenant's rate budget is used up for now";
  if (error instanceof TimedOut) return 'time ran out';
  return 'the service stopped answering';
}

/** Runs ahead of the reader by up to `width`, and hands on in the order asked for. */
async function* inParallel<T, U>(
  inputs: readonly T[],
  run: (input: T) => Promise<U>,
): AsyncGenerator<U> {
  const ahead: Promise<U>[] = [];
  for (const input of inputs) {
    const running = run(input);
    running.catch(() => {}); // Told when its turn comes, or by the one before it.
    ahead.push(running);
    if (ahead.length >= width) yield await (ahead.shift() as Promise<U>);
  }
  for (const running of ahead) yield await running;
}
