import { describe, expect, test } from 'vitest';
import { ServicePages } from '../../src/reading/service-pages.ts';
import { type Reading, readCollection } from '../../src/reading/walk.ts';
import type { ApiClient } from '../../src/service/client.ts';
import { ApiError } from '../../src/service/errors.ts';
import { toRecord } from '../../src/service/records/recognition.ts';
import type { RecordOf, Resource } from '../../src/service/records/records.ts';
import { readPage } from '../../src/service/response.ts';
import { type Page, type PageRequest, routes } from '../../src/service/routes.ts';
import fc from '../support/fast-check.ts';
import { openTenant, toolCall, walkCall } from '../support/hardening-tenant.ts';
import type { Row } from '../support/hosts.ts';
import { quickOrAll } from '../support/sampling.ts';
import { closing } from '../support/shared.ts';
import type { Active, UpstreamRequest } from '../support/upstream/behaviour.ts';
import { list, RejectedQuery as RefusedByModel } from '../support/upstream/paging.ts';
import { random } from '../support/upstream/random.ts';
import type { ResourcePath } from '../support/upstream/records.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/**
 * Walks of a collection that changes meanwhile, with every kind of paging that a service may have. The paging code
 * is that of the misbehaving upstream, without its sockets, so that thousands of cases can be tried.
 */

const hour = 3_600_000;
/** Three passes over 450 records, one record a page, and as many requests for retries. */
const maxRequests = 2_700;

interface Change {
  /** Before the n-th request is answered. */
  before: number;
  /** `replace`: one record is deleted and another inserted at the same moment, so that the count stays. */
  what: 'insert' | 'delete' | 'replace' | 'move' | 'edit';
  /** The position, as a share of the list. */
  at: number;
  to: number;
}

interface Scenario {
  resource: Resource;
  count: number;
  on: Active;
  /** Each record has its creation time. */
  dated: boolean;
  changes: readonly Change[];
  /** How far the service's clock is ahead of ours, in milliseconds. */
  ahead: number;
  /** Whether responses contain the service's time. */
  tellsTime: boolean;
}

/** The service of a scenario. */
class Model implements Pick<ApiClient, 'page' | 'pageParam'> {
  readonly pageParam = 'from';
  readonly rows: Row[];
  readonly queries: PageRequest[] = [];
  readonly #scenario: Scenario;
  readonly #turn: <T>(work: () => T) => Promise<T>;
  readonly #random = random(1);
  /** Requests that were not answered yet: the most of them at any time. */
  maxInFlight = 0;
  #inFlight = 0;
  #answered = 0;
  #made = 0;

  constructor(scenario: Scenario, nextTurn: <T>(work: () => T) => Promise<T>) {
    this.#scenario = scenario;
    this.#turn = nextTurn;
    this.rows = Array.from({ length: scenario.count }, () => this.#newRow(-hour));
  }

  async page<R extends Resource>(resource: R, query: PageRequest): Promise<Page<RecordOf[R]>> {
    this.queries.push(query);
    if (this.queries.length > maxRequests) throw new Error('asks without end');
    this.#inFlight += 1;
    this.maxInFlight = Math.max(this.maxInFlight, this.#inFlight);
    // Requests and answers may overtake each other, and answers wait to be read.
    const answer = await this.#turn(() => this.#answer(resource, query));
    this.#inFlight -= 1;
    return this.#turn(() => {
      if (answer instanceof RefusedByModel) throw new ApiError('refused', { host: 'model' });
      return answer;
    });
  }

  #now = (): number => Date.now() + this.#scenario.ahead;

  #newRow(age: number): Row {
    this.#made += 1;
    const row = { id: `r${this.#made}`, name: `Row ${this.#made}` };
    if (!this.#scenario.dated) return row;
    const time = new Date(this.#now() + age).toISOString();
    return { ...row, createdAt: time, updatedAt: time };
  }

  #answer<R extends Resource>(resource: R, query: PageRequest) {
    this.#answered += 1;
    for (const change of this.#scenario.changes) {
      if (change.before === this.#answered) this.#apply(change);
    }
    const search = new URLSearchParams();
    if (query.size !== undefined) search.set('size', String(query.size));
    if (query.from) search.set('from', String(query.from));
    if (query.sort) search.set('sort', query.sort);
    const request = { query: search, n: this.#answered } as UpstreamRequest;
    const path = routes[resource].path as ResourcePath;
    const body = list(path, this.rows, request, this.#scenario.on, this.#random);
    if (body instanceof RefusedByModel) return body;
    const page = readPage(structuredClone(body), { host: 'model' }, { headers: {} });
    for (const record of page.records) toRecord(resource, record);
    const second = Math.floor(this.#now() / 1000) * 1000;
    const told = this.#scenario.tellsTime ? { ...page, answeredAt: second } : page;
    return told as Page<RecordOf[R]>;
  }

  #apply({ what, at, to }: Change): void {
    const { rows } = this;
    const place = Math.floor(at * rows.length);
    if (what === 'delete' || what === 'replace') rows.splice(place, 1);
    if (what === 'insert') rows.splice(place, 0, this.#newRow(0));
    if (what === 'replace') rows.splice(Math.round(to * rows.length), 0, this.#newRow(0));
    if (what === 'move') {
      const [row] = rows.splice(place, 1);
      if (row) rows.splice(Math.floor(to * rows.length), 0, this.#touched(row));
    }
    const edited = rows[place];
    if (what === 'edit' && edited) rows[place] = this.#touched({ ...edited, name: 'Edited' });
  }

  #touched(row: Row): Row {
    if (!this.#scenario.dated) return row;
    return { ...row, updatedAt: new Date(this.#now()).toISOString() };
  }
}

interface Read {
  reading: Reading<Row>;
  model: Model;
  /** Names of the visible records that existed from the first request to the last. */
  stayed: string[];
  before: string[];
}

/** Reads the collection; the scheduler decides the order of answers. */
async function readScenario(scenario: Scenario, s?: fc.Scheduler): Promise<Read> {
  const nextTurn = <T>(work: () => T): Promise<T> =>
    s ? s.schedule(Promise.resolve()).then(work) : Promise.resolve().then(work);
  const model = new Model(scenario, nextTurn);
  const shown = () => visibleIn(model.rows, scenario.on).map(({ id }) => String(id));
  const before = shown();
  const walking = readCollection({
    pages: new ServicePages(model),
    resource: scenario.resource,
    query: {},
    call: walkCall,
    report: () => {},
  });
  const reading = (s ? await s.waitFor(walking) : await walking) as Reading<Row>;
  expect(model.maxInFlight).toBeLessThanOrEqual(6);
  const now = new Set(shown());
  return { reading, model, before, stayed: before.filter((id) => now.has(id)) };
}

function visibleIn(rows: readonly Row[], on: Active): Row[] {
  const request = { query: new URLSearchParams({ size: '100000' }), n: 1 } as UpstreamRequest;
  const all = on.hidden ? { hidden: on.hidden } : {};
  const body = list('/company', rows, request, all, random(1)) as { results: Row[] };
  return body.results;
}

/** Expects what holds for every walk. */
function expectHonest({ reading: { records, coverage }, stayed }: Read): void {
  const ids = records.map(({ id }) => String(id));
  expect(new Set(ids).size).toBe(ids.length);
  expect(coverage.read).toBe(ids.length);
  expect(coverage.total).toBeGreaterThanOrEqual(ids.length);
  if (!coverage.complete) {
    expect(coverage.reason).toMatch(/^[a-z]/);
    return;
  }
  expect(coverage).toEqual({ complete: true, read: ids.length, total: ids.length });
  expect(ids).toEqual(expect.arrayContaining(stayed));
}

function expectAll({ reading: { records, coverage }, before }: Read): void {
  expect(coverage).toMatchObject({ complete: true, read: before.length });
  expect(records.map(({ id }) => String(id)).toSorted()).toEqual(before.toSorted());
}

/** Whole pages of a usual size. */
const mayBeCut = (count: number): boolean => count >= 50 && (count % 20 === 0 || count % 25 === 0);

const counted = fc.constantFrom<Active>(
  { envelope: 'results' },
  { envelope: 'data' },
  { envelope: 'items', total: 'text' },
);
const uncounted = fc.constantFrom<Active>(
  { envelope: 'array' },
  { envelope: 'results', total: 'absent' },
);
const beyond = fc.constantFrom<Active>(
  {},
  { beyondEnd: 'refused' },
  { beyondEnd: 'last page' },
  { sort: 'ignored' },
);
const sizes = fc.oneof(
  fc.constant<Active>({}),
  fc.integer({ min: 2, max: 40 }).map((maxSize): Active => ({ maxSize })),
  fc.integer({ min: 2, max: 40 }).map((fixedSize): Active => ({ fixedSize })),
);
const merged = (...parts: fc.Arbitrary<Active>[]): fc.Arbitrary<Active> =>
  fc.tuple(...parts).map((all): Active => Object.assign({}, ...all));

/** Kinds of paging that can be read to the end. */
const sane = fc.oneof(
  merged(counted, sizes, beyond),
  merged(uncounted, sizes, beyond),
  merged(fc.oneof(counted, uncounted), fc.constant<Active>({ everything: true })),
  merged(counted, fc.constant<Active>({ ignoreFrom: true })),
);

const shortReads = fc.constantFrom<Active>({ shortReads: 'half' }, { shortReads: 'random' });

/** Kinds of paging that cannot always be read to the end, or only with very many requests. */
const odd = fc.oneof(
  merged(fc.constant<Active>({ ignoreFrom: true }), counted, sizes),
  merged(
    fc.constant<Active>({ ignoreFrom: true }),
    uncounted,
    fc.integer({ min: 2, max: 40 }).map((maxSize): Active => ({ maxSize })),
  ),
  merged(
    fc.constantFrom<Active>(
      { offset: { counts: 'records from 1' } },
      { offset: { counts: 'pages' } },
      { offset: { name: 'offset' } },
      { unstableOrder: true },
      { unstableOrder: true, sort: 'ignored' },
      { total: { moves: 3 } },
      { total: { off: 5 } },
      { total: { is: 0 } },
      { total: { is: null } },
      { total: { is: 1e15 } },
    ),
    fc.constant<Active>({ envelope: 'results' }),
    fc.integer({ min: 2, max: 40 }).map((maxSize): Active => ({ maxSize })),
    beyond,
  ),
  merged(shortReads, counted, sizes, beyond),
  merged(
    fc.record({
      hidden: fc.record({ oneIn: fc.integer({ min: 2, max: 5 }), counted: fc.boolean() }),
    }),
    counted,
    sizes,
    beyond,
  ),
);

const oddAndStill = fc.oneof(odd, merged(shortReads, uncounted, sizes, beyond));

const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const changesOf = (...kinds: Change['what'][]) =>
  fc.array(
    fc.record({
      before: fc.integer({ min: 2, max: 14 }),
      what: fc.constantFrom(...kinds),
      // Mostly at the ends of the list, where most changes happen.
      at: fc.oneof(fc.constantFrom(0, 0.999), share),
      to: fc.oneof(fc.constantFrom(0, 0.999), share),
    }),
    { maxLength: 6 },
  );

const clocks = {
  ahead: fc.integer({ min: -hour, max: hour }),
  tellsTime: fc.constant(true),
};

const scenarios = (parts: Partial<{ [N in keyof Scenario]: fc.Arbitrary<Scenario[N]> }>) =>
  fc.record<Scenario>({
    resource: fc.constantFrom<Resource>('company', 'category'),
    count: fc.integer({ min: 0, max: 150 }),
    on: sane,
    dated: fc.boolean(),
    changes: fc.constant([]),
    ...clocks,
    ...parts,
  });

/** `CPQ_TEST_RUNS=20` tries twenty times as many. */
const factor = Number(process.env.CPQ_TEST_RUNS ?? 1);
const runs = (all: number) => ({ numRuns: factor * quickOrAll(all / 4, all) });

describe('the number of requests of a reading', () => {
  const perHundred = (count: number) => Math.max(1, Math.ceil(count / 100));

  test.each([
    ['opportunity', '/opportunity', 1_100, 11],
    ['product', '/product', 5_000, 50],
  ] as const)('%s: %i records', async (resource, path, count, maxExpected) => {
    const upstream = closing(await startUpstream({ counts: { [path]: count }, maxSize: 100 }));
    const tenant = closing(openTenant({ url: upstream.url }));
    const { records, coverage } = await tenant.collection(resource, toolCall());
    expect(coverage).toEqual({ complete: true, read: count, total: count });
    expect(new Set(records.map(({ id }) => id)).size).toBe(count);
    expect(upstream.requests.length).toBeLessThanOrEqual(maxExpected);
    await tenant.collection(resource, toolCall());
    expect(upstream.requests.length).toBeLessThanOrEqual(maxExpected);
  });

  test('is one for each hundred counted records', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 5_100 }), fc.boolean(), async (count, dated) => {
        const on: Active = { envelope: 'results', maxSize: 100 };
        const quiet = { changes: [], ahead: 0, tellsTime: true };
        const read = await readScenario({ resource: 'company', count, on, dated, ...quiet });
        expectAll(read);
        // A first page of a common size that holds the whole count may hold only the count of the page.
        const isDoubtful = [10, 20, 25, 30, 40, 50, 100].includes(count);
        expect(read.model.queries.length).toBeLessThanOrEqual(
          perHundred(count) + Number(isDoubtful),
        );
      }),
      runs(60),
    );
  });

  test.each([
    [1_500, 2],
    [2_500, 1],
  ])('%i records that change all the time: %i more passes', async (count, passes) => {
    const on: Active = { envelope: 'results', maxSize: 100 };
    const insert = { what: 'insert', at: 0.5, to: 0 } as const;
    const changes = Array.from({ length: 200 }, (_, before) => ({ ...insert, before }));
    const quiet = { dated: false, ahead: 0, tellsTime: true };
    const read = await readScenario({ resource: 'company', count, on, changes, ...quiet });
    expectHonest(read);
    const starts = read.model.queries.filter(({ from, sort }) => from === 0 && sort);
    expect(starts).toHaveLength(passes);
  });

  test('is slightly higher with smaller pages', async () => {
    const sizes = fc.integer({ min: 10, max: 99 });
    await fc.assert(
      fc.asyncProperty(fc.nat(3_000), fc.boolean(), sizes, async (count, dated, maxSize) => {
        const on: Active = { envelope: 'results', maxSize };
        const quiet = { changes: [], ahead: 0, tellsTime: true };
        const read = await readScenario({ resource: 'company', count, on, dated, ...quiet });
        expectAll(read);
        // Each page must begin with the last record of the page before.
        const maxExpected = 1 + Math.ceil(count / (maxSize - 1));
        expect(read.model.queries.length).toBeLessThanOrEqual(maxExpected);
      }),
      runs(60),
    );
  });
});

test('a count that is far off is no reason to ask for what changed', async () => {
  const on: Active = { envelope: 'results', maxSize: 100, total: { off: 500 } };
  const quiet = { dated: true, changes: [], ahead: 0, tellsTime: true };
  const { reading, model } = await readScenario({ resource: 'company', count: 450, on, ...quiet });
  expect(reading.coverage.complete).toBe(false);
  expect(model.queries.filter(({ sort }) => sort === '-updatedAt')).toEqual([]);
});

describe('a collection that does not change', () => {
  test('is read completely, each record once, and known to be complete', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios({}), fc.scheduler(), async (scenario, s) => {
        const read = await readScenario(scenario, s);
        const isCounted = scenario.on.envelope !== 'array' && scenario.on.total !== 'absent';
        const { count, on } = scenario;
        const isWhole = count < 50 || (on.everything ? count % 50 !== 0 : !mayBeCut(count));
        if (isCounted || isWhole) return expectAll(read);
        // A service that does not count may end a list there.
        expectHonest(read);
        expect(read.reading.records.length).toBe(count);
        expect(read.reading.coverage.reason).toContain('there may be more');
      }),
      runs(600),
    );
  });
});

describe('a collection that changes while it is read', () => {
  const anyChange = changesOf('insert', 'delete', 'replace', 'edit');
  const balanced = changesOf('replace').filter((all) => all.length > 0 && all.length < 3);
  const whole = fc.constantFrom<Active>({}, { maxSize: 100 });
  test.each<[what: string, cases: fc.Arbitrary<Scenario>, count: number]>([
    ['not at all, with any paging', scenarios({ on: oddAndStill }), 600],
    [
      'with dates',
      scenarios({
        // Without a count a deletion leaves no trace, and could hide a move.
        on: merged(counted, sizes, beyond),
        changes: changesOf('insert', 'delete', 'replace', 'move', 'edit'),
        dated: fc.constant(true),
        count: fc.integer({ min: 0, max: 450 }),
      }),
      1_000,
    ],
    [
      'without dates, in records that keep their places',
      scenarios({ changes: anyChange, dated: fc.constant(false) }),
      1_000,
    ],
    [
      'by equal numbers of additions and deletions',
      fc.oneof(
        scenarios({ changes: balanced, on: merged(counted, sizes, beyond) }),
        scenarios({
          changes: balanced,
          on: merged(counted, whole),
          count: fc.constantFrom(200, 300, 400, 397),
          dated: fc.constant(true),
        }),
      ),
      1_000,
    ],
    ['with any paging', scenarios({ changes: anyChange, on: odd }), 1_000],
  ])('%s: has each unchanged record once, or is reported incomplete', async (_, cases, count) => {
    await fc.assert(
      fc.asyncProperty(cases, fc.scheduler(), async (scenario, s) =>
        expectHonest(await readScenario(scenario, s)),
      ),
      runs(count),
    );
  });

  test('is read again once it stops changing, and then known to be complete', async () => {
    const changes = changesOf('insert', 'delete', 'replace').map((all) =>
      all.map((change) => ({ ...change, before: 2 })),
    );
    const on = merged(
      counted,
      fc.integer({ min: 20, max: 40 }).map((maxSize): Active => ({ maxSize })),
    );
    await fc.assert(
      fc.asyncProperty(
        scenarios({ changes, on, count: fc.integer({ min: 80, max: 150 }) }),
        async (scenario) => {
          const { reading, stayed, model } = await readScenario(scenario);
          expect(reading.coverage.complete).toBe(true);
          expect(reading.records.length).toBe(model.rows.length);
          expect(reading.records.map(({ id }) => id)).toEqual(expect.arrayContaining(stayed));
        },
      ),
      runs(300),
    );
  });
});
