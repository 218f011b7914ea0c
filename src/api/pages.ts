import type { Call } from './call.ts';
import type { ApiClient, Page, PageQuery } from './client.ts';
import {
  ApiError,
  BadResponse,
  KeyRefused,
  NotPermitted,
  RateLimited,
  Refused,
  TimedOut,
  TooLarge,
  WrongAddress,
} from './errors.ts';
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
  /** When the rest can be had, in milliseconds since the epoch, where that is known; in the reason too. */
  resumesAt?: number;
}

export interface Reading<R> {
  records: R[];
  coverage: Coverage;
}

export interface Progress {
  read: number;
  total: number | undefined;
}

/** What a walk needs of the client. */
export type Pages = Pick<ApiClient, 'page' | 'pageParam'>;

type Search = Omit<PageQuery, 'size' | 'from'>;

const pageSize = 100;
const largestSize = 1_000;
const width = 6;
const mostPasses = 3;
const pagesWorthRepeating = 20;
/** Further requests that seeing records move may cost where pages are small, and a reading cheap. */
const mostExtra = 2;
/** An order in which what is new comes last, so that it does not push anything from page to page. */
const steadyOrder = '+createdAt';

/**
 * Reads a whole collection, in parallel, by what comes back rather than by what was asked: clamped
 * sizes, short pages, a moving total, an ignored offset, records that shift while reading. An async
 * iterator of its progress, whose return value is the reading.
 *
 * A pass that cannot be trusted is repeated, in a steadier order where the route has one. How a pass earns
 * its trust is told in `Pass`.
 * @throws ApiError when not even the first page can be had, or the key stops being accepted; the
 *   signal's reason when cancelled
 */
export async function* walk<R extends Resource>(
  client: Pages,
  resource: R,
  query: Search,
  call: Call,
): AsyncGenerator<Progress, Reading<RecordOf[R]>> {
  const all = new Map<unknown, RecordOf[R]>();
  let previous: Pass<RecordOf[R]> | undefined;
  for (let round = 1; ; round++) {
    const pass = new Pass<RecordOf[R]>(previous);
    const stopped = yield* passOver(client, resource, query, call, pass);
    for (const [key, record] of pass.found) all.set(key, record);
    if (stopped) return pass.reading(all, stopped);
    if (pass.isTrusted(previous)) return pass.reading(pass.found);
    if (isLast(round, pass, previous)) return pass.reading(all);
    previous = pass;
  }
}

/** Whether another pass would cost too much, or bring nothing that is not known. */
const isLast = (round: number, pass: Pass<unknown>, previous: Pass<unknown> | undefined): boolean =>
  round === mostPasses ||
  (round === 2 && pass.requests > pagesWorthRepeating) ||
  pass.unpaged ||
  pass.isSameAs(previous);

/** One pass; returns the error that cut it short, if what was read until then is still worth telling. */
async function* passOver<R extends Resource>(
  client: Pages,
  resource: R,
  query: Search,
  call: Call,
  pass: Pass<RecordOf[R]>,
): AsyncGenerator<Progress, ApiError | undefined> {
  const own = new AbortController();
  const signal = AbortSignal.any([call.signal, own.signal]);
  const { parameters, shape } = routes[resource];
  const orders = pass.isFirst || !parameters.includes('sort') ? [query] : [steadier(query), query];
  const read = async (from: number, size: number): Promise<Segment<RecordOf[R]>> => {
    pass.requests += 1;
    const ask = (order: Search) =>
      client.page(resource, { ...order, from, size }, { ...call, signal });
    const page = await (pass.requests === 1 ? inAnOrder(orders, ask) : ask(orders[0] ?? query));
    const fresh = pass.add(from, page);
    return { from, records: page.records, fresh };
  };
  try {
    pass.whole = shape === 'tree';
    const reading = pass.whole
      ? readFirst(read)
      : readAll(pass, read, client.pageParam !== undefined);
    for await (const _ of reading) yield pass.progress();
    return undefined;
  } catch (error) {
    call.signal.throwIfAborted();
    const nothing = pass.isFirst && pass.found.size === 0;
    if (nothing || !(error instanceof ApiError) || error instanceof KeyRefused) throw error;
    return error;
  } finally {
    own.abort();
  }
}

const steadier = (query: Search): Search => ({ ...query, sort: query.sort ?? steadyOrder });

/** In the first of these orders that the service does not refuse; those that it does are left out. */
async function inAnOrder<T>(orders: Search[], read: (order: Search) => Promise<T>): Promise<T> {
  try {
    return await read(orders[0] ?? {});
  } catch (error) {
    if (!(error instanceof Refused) || orders.length === 1) throw error;
    orders.shift();
    return inAnOrder(orders, read);
  }
}

/** What one request brought, at the offset it was asked for. */
interface Segment<R> {
  from: number;
  records: R[];
  /** So many of them had not come before. */
  fresh: number;
}

type Read<R> = (from: number, size: number) => Promise<Segment<R>>;

async function* readFirst<R>(read: Read<R>): AsyncGenerator<void> {
  await read(0, pageSize);
  yield;
}

async function* readAll<R>(pass: Pass<R>, read: Read<R>, canMove: boolean): AsyncGenerator<void> {
  const { records } = await read(0, pageSize);
  yield;
  pass.sawEnd = records.length === 0;
  if (pass.sawEnd || (pass.hasAll() && !pass.doubtsCount)) return;
  if (canMove && pass.count() !== undefined) yield* readRest(pass, read);
  if (canMove && !pass.stuck) yield* readTail(pass, read);
  if (!canMove || pass.stuck) await readAtOnce(pass, read, records.length);
}

/** The pages after the first, side by side, and what short ones among them left out. */
async function* readRest<R>(pass: Pass<R>, read: Read<R>): AsyncGenerator<void> {
  const plan = planFor(pass);
  for await (const segment of inParallel(offsets(pass, plan), (from) => read(from, pageSize))) {
    yield;
    pass.stuck = pass.repeatsFirst(segment);
    if (pass.stuck) return;
    // Behind the end, whatever the count says.
    if (segment.fresh === 0) break;
  }
  for (const gap of pass.gaps()) yield* fillGap(read, gap);
}

interface Plan {
  /** So many neighbouring pages have one record in common. */
  overlaps: number;
  /** The offset up to which is read. */
  until: number;
}

/**
 * Neighbouring pages overlap by one record: if it is not the same one in both, records moved while we
 * read. And the last page reaches one place behind the count, in case it is too low. Both as far as they
 * cost no request more; pages smaller than we ask for make a reading that is worth a few more.
 */
function planFor(pass: Pass<unknown>): Plan {
  const step = pass.largest();
  const total = pass.count() ?? 0;
  const pages = Math.ceil(total / step);
  if (step > 1) {
    const further = 1 + Math.ceil((total + 1 - step) / (step - 1)) - pages;
    const worthIt = step < pageSize && (!pass.tellsAges() || further <= mostExtra);
    if (further === 0 || worthIt) {
      return { overlaps: Number.POSITIVE_INFINITY, until: total + 1 };
    }
  }
  return { overlaps: step > 1 ? pages * step - total : 0, until: total };
}

/** Where the pages begin, each as far on as the longest page yet reaches. */
function* offsets(pass: Pass<unknown>, { overlaps, until }: Plan): Generator<number> {
  let left = overlaps;
  for (let covered = pass.largest(); covered < until; ) {
    const at = covered - (left > 0 ? 1 : 0);
    left -= 1;
    yield at;
    covered = at + pass.largest();
  }
}

/** A page that came back shorter than asked left a stretch unread, or hides records that do not show. */
async function* fillGap<R>(
  read: Read<R>,
  [from, until]: readonly [number, number],
): AsyncGenerator<void> {
  let at = from;
  while (at < until) {
    const start = Math.max(0, at - 1);
    const { records, fresh } = await read(start, Math.min(pageSize, until + 1 - start));
    yield;
    if (fresh === 0) return;
    at = start + records.length;
  }
}

/**
 * On from the furthest record until all that are counted are there, or nothing new comes. Where nothing
 * is counted each page begins with the last record of the page before: if it does not, records moved, or
 * the offset means something else.
 */
async function* readTail<R>(pass: Pass<R>, read: Read<R>): AsyncGenerator<void> {
  while (!pass.hasAll() || pass.doubtsCount) {
    const end = pass.end();
    const back = pass.count() === undefined && end > 1;
    if (back) {
      const again = yield* readOn(read, end - 1);
      if (again.fresh > 0) continue;
      pass.sawEnd = pass.overlapsAt(end - 1);
    }
    // A page may be shorter than asked although more follows.
    const behind = yield* readOn(read, end);
    if (behind.fresh > 0) continue;
    // Behind the end there is nothing, a refusal, or the last page once more.
    pass.stuck = pass.repeatsFirst(behind) && !pass.sawEnd;
    pass.sawEnd = back ? pass.sawEnd : !pass.stuck;
    return;
  }
}

async function* readOn<R>(read: Read<R>, from: number): AsyncGenerator<void, Segment<R>> {
  const segment = await read(from, pageSize).catch(nothingIfRefused);
  yield;
  return segment;
}

function nothingIfRefused(error: unknown): Segment<never> {
  if (error instanceof Refused) return { from: 0, records: [], fresh: 0 };
  throw error;
}

/** Where the offset is ignored, one large page may still bring all. */
async function readAtOnce<R>(pass: Pass<R>, read: Read<R>, count: number): Promise<void> {
  pass.unpaged = true;
  const total = pass.count();
  if (total === undefined && count > 1) {
    // A list that comes whole, whatever size was asked for, is not paged at all.
    const fewer = await read(0, Math.ceil(count / 2));
    pass.sawEnd = fewer.records.length === count && pass.isFirstPage(fewer);
    if (pass.sawEnd) return;
  }
  const wanted = Math.min(total ?? largestSize, largestSize);
  if (wanted > count) await read(0, wanted).catch(nothingIfRefused);
  if (total === undefined) pass.sawEnd = pass.found.size === 1;
}

interface Keys {
  from: number;
  keys: unknown[];
}

/** What one pass over a collection has brought so far. */
class Pass<R> {
  readonly isFirst: boolean;
  /** The count was seen to move before: what it counts is looked for behind it too. */
  readonly doubtsCount: boolean;
  readonly found = new Map<unknown, R>();
  requests = 0;
  /** It comes as one answer, as a tree does. */
  whole = false;
  /** The offset is ignored: every page is the first. */
  stuck = false;
  /** Read without paging, so that repeating it would bring the same. */
  unpaged = false;
  /** Nothing came after the last record. */
  sawEnd = false;
  /** What the service counted, at its highest. */
  #total: number | undefined;
  #countMoved = false;
  #someAreNew = false;
  #allAreDated = true;
  readonly #startedAt = Date.now();
  #serviceStartedAt: number | undefined;
  readonly #segments: Keys[] = [];

  constructor(previous?: Pass<R>) {
    this.isFirst = previous === undefined;
    this.doubtsCount = previous?.countMoved() ?? false;
  }

  countMoved(): boolean {
    return this.#countMoved;
  }

  /** Returns how many of them are new. */
  add(from: number, page: Page<R>): number {
    const known = this.found.size;
    const now = page.answeredAt ?? Date.now();
    this.#serviceStartedAt ??= now - (Date.now() - this.#startedAt) - (page.answeredAt ? 0 : 5_000);
    const keys = keysOf(page.records);
    page.records.forEach((record, at) => {
      this.found.set(keys[at], record);
      this.#judgeAge(bornAt(record), now);
    });
    this.#count(page.total);
    const fresh = this.found.size - known;
    // Behind the end some services send the last page once more: that is no place in the list.
    if (keys.length > 0 && (fresh > 0 || from < this.end())) this.#segments.push({ from, keys });
    return fresh;
  }

  /** What the service dates later than now was dated by other means, and may be old or new. */
  #judgeAge(born: number | undefined, now: number): void {
    if (born === undefined || born > now + 60_000) this.#allAreDated = false;
    else this.#someAreNew ||= born >= (this.#serviceStartedAt ?? now);
  }

  /** Whether each record so far says when it was made, so that a new one would show. */
  tellsAges(): boolean {
    return this.#allAreDated;
  }

  #count(total: number | undefined): void {
    this.#countMoved ||= this.#segments.length > 0 && total !== this.#total;
    if (total !== undefined) this.#total = Math.max(this.#total ?? 0, total);
  }

  /** What the service counts; nothing where it does not, or gave more than it counts. */
  count(): number | undefined {
    return this.#total !== undefined && this.found.size > this.#total ? undefined : this.#total;
  }

  progress(): Progress {
    return { read: this.found.size, total: this.count() };
  }

  hasAll(): boolean {
    return this.found.size === this.count();
  }

  /** Records of the longest page. */
  largest(): number {
    return Math.max(1, ...this.#segments.map(({ keys }) => keys.length));
  }

  repeatsFirst(segment: Segment<R>): boolean {
    return segment.from > 0 && segment.records.length > 0 && this.isFirstPage(segment);
  }

  isFirstPage({ records }: Segment<R>): boolean {
    const first = this.#segments[0]?.keys ?? [];
    return keysOf(records).every((key, at) => key === first[at]);
  }

  /** The offset behind the furthest record. */
  end(): number {
    return Math.max(0, ...this.#segments.map(({ from, keys }) => from + keys.length));
  }

  /** Whether two pages brought the record at this offset, and the same one. */
  overlapsAt(offset: number): boolean {
    const pages = this.#segments.filter(
      ({ from, keys }) => from <= offset && offset < from + keys.length,
    );
    const seen = pages.map(({ from, keys }) => keys[offset - from]);
    return seen.length > 1 && new Set(seen).size === 1;
  }

  /** Stretches of offsets below the count that no page covers. */
  gaps(): [from: number, until: number][] {
    const gaps: [number, number][] = [];
    let covered = 0;
    for (const { from, keys } of this.#inOrder()) {
      if (from > covered) gaps.push([covered, from]);
      covered = Math.max(covered, from + keys.length);
    }
    const total = this.count() ?? 0;
    if (covered < total) gaps.push([covered, total]);
    return gaps;
  }

  isTrusted(previous: Pass<R> | undefined): boolean {
    return this.#isClean() || this.#confirms(previous);
  }

  /**
   * Whether nothing that was there all the time can be missing.
   *
   * Where the service counts, and dates its records: it counted the same each time, as many different
   * records came, and none of them was made since the start. So as many came as there were at the start,
   * and each was there then: they are all.
   *
   * Where every page overlaps the one before, neither is needed: as long as the common record is the same
   * in both, what came before it is in the one page or before, and what came after it in the other or
   * behind.
   *
   * Whole pages of records without a date that leave no room for overlaps are taken at the count's word:
   * only a record that was deleted while another was added would not show.
   */
  #isClean(): boolean {
    if (this.whole) return true;
    if (!this.#isCounted() || this.#countMoved || this.#someAreNew) return false;
    return this.unpaged || this.#holdsTogether();
  }

  /**
   * Nothing but what the pass before had brought, and as much as the service counted all along. What was
   * added after this start cannot be among it, so it all was there then, and was all there was. So records
   * that were added a moment before the reading do not keep it from being trusted.
   */
  #confirms(previous: Pass<R> | undefined): boolean {
    if (previous === undefined || this.#countMoved || !this.#isCounted()) return false;
    if (![...this.found.keys()].every((key) => previous.found.has(key))) return false;
    return this.count() !== undefined || this.#holdsTogether();
  }

  #holdsTogether(): boolean {
    if (!this.#agrees()) return false;
    const shows = this.#allAreDated || this.largest() >= pageSize;
    return (this.count() !== undefined && shows) || this.#isChained();
  }

  /** Whether reading on would bring nothing new. */
  isSameAs(previous: Pass<R> | undefined): boolean {
    if (previous === undefined || this.found.size !== previous.found.size) return false;
    return [...this.found.keys()].every((key) => previous.found.has(key));
  }

  reading(found: Map<unknown, R>, stopped?: ApiError): Reading<R> {
    const records = [...found.values()];
    const total = Math.max(this.#total ?? 0, records.length);
    if (found === this.found && !stopped) {
      return { records, coverage: { complete: true, read: records.length, total: records.length } };
    }
    const reason = stopped ? whyStopped(stopped) : this.#whyIncomplete();
    const coverage: Coverage = { complete: false, read: records.length, total, reason };
    if (!(stopped instanceof RateLimited) || stopped.seconds === undefined) {
      return { records, coverage };
    }
    const resumesAt = Date.now() + stopped.seconds * 1000;
    // A moment rather than a time to wait, because it is told for a while.
    const moment = new Date(resumesAt).toISOString().slice(0, 19);
    coverage.reason = `${reason}; the rest can be had from ${moment}Z on`;
    return { records, coverage: { ...coverage, resumesAt } };
  }

  #whyIncomplete(): string {
    if (this.stuck || this.unpaged) {
      return 'the service does not page on, so only its first page can be read (the setting page-param names its offset parameter)';
    }
    const { size } = this.found;
    if (this.#total !== undefined && size < this.#total && !this.#someAreNew) {
      return `the service counts ${this.#total} but gave ${size}`;
    }
    return this.#agrees()
      ? 'records kept changing while they were read'
      : 'the pages that the service gave do not join up';
  }

  #isCounted(): boolean {
    return this.count() === undefined ? this.sawEnd : this.hasAll();
  }

  #inOrder(): Keys[] {
    return [...this.#segments].sort((a, b) => a.from - b.from);
  }

  /** No two pages have different records at the same offset. */
  #agrees(): boolean {
    const at = new Map<number, unknown>();
    for (const { from, keys } of this.#segments) {
      for (const [index, key] of keys.entries()) {
        if ((at.get(from + index) ?? key) !== key) return false;
        at.set(from + index, key);
      }
    }
    return at.size === this.found.size;
  }

  /** Each page has a record in common with what came before it. */
  #isChained(): boolean {
    let covered = 0;
    for (const { from, keys } of this.#inOrder()) {
      if (from > Math.max(0, covered - 1)) return false;
      covered = Math.max(covered, from + keys.length);
    }
    return true;
  }
}

/**
 * Records without an id are told apart by all that they hold, and those of one page that hold the same by
 * their turn.
 */
function keysOf(records: readonly unknown[]): unknown[] {
  const seen = new Map<string, number>();
  return records.map((record) => {
    const { id } = record as { id?: string };
    if (id) return id;
    const text = JSON.stringify(record);
    const turn = seen.get(text) ?? 0;
    seen.set(text, turn + 1);
    return turn === 0 ? text : `${text} ${turn}`;
  });
}

/** Down to the second, and of a known zone: anything less does not tell what is new. */
const exactTime = /T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/;

function bornAt(record: unknown): number | undefined {
  const { createdAt, updatedAt } = record as { createdAt?: unknown; updatedAt?: unknown };
  const time = createdAt ?? updatedAt;
  return typeof time === 'string' && exactTime.test(time) ? Date.parse(time) : undefined;
}

function whyStopped(error: ApiError): string {
  if (error instanceof RateLimited) return "the tenant's rate budget is used up for now";
  if (error instanceof TimedOut) return 'time ran out';
  if (error instanceof NotPermitted) return 'the service stopped permitting it';
  if (error instanceof Refused) return 'the service refused to go on';
  if (error instanceof TooLarge) return 'a page of it is larger than this server accepts';
  if (error instanceof BadResponse || error instanceof WrongAddress) {
    return 'the service sent something that cannot be read';
  }
  return 'the service stopped answering';
}

/** Runs ahead of the reader by up to `width`, and hands on in the order asked for. */
async function* inParallel<T, U>(
  inputs: Iterable<T>,
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
