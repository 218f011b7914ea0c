import { expect, onTestFinished, test, vi } from 'vitest';
import { ServicePages } from '../../src/reading/service-pages.ts';
import { type Reading, readCollection } from '../../src/reading/walk.ts';
import type { ApiClient } from '../../src/service/client.ts';
import { ApiError } from '../../src/service/errors.ts';
import type { RecordOf, Resource } from '../../src/service/records/records.ts';
import type { Page, PageRequest } from '../../src/service/routes.ts';
import fc from '../support/fast-check.ts';
import { walkCall } from '../support/hardening-tenant.ts';
import { quickOrAll } from '../support/sampling.ts';

/** Readings that are brought up to date, of collections that change before and while that is done. */

interface Row {
  id: string;
  name: string;
  createdAt: string;
  updatedAt: string | null;
  deletedAt?: string;
}

interface Service {
  count: number;
  sorts: 'yes' | 'ignored' | 'refused';
  usual: 'createdAt' | '-createdAt' | '-updatedAt' | 'id';
  maxSize: number;
  /** Whether deleted records stay in the list, and whether a deletion changes `updatedAt`. */
  deletes: 'removed' | 'listed' | 'listed, not updated';
  /** Every n-th record has no `updatedAt`. */
  undatedOneIn: number;
}

interface Change {
  what: 'insert' | 'edit' | 'delete' | 'restore';
  at: number;
  /** Milliseconds that pass before. */
  after: number;
  /** Before the n-th request of the reading; 0 before the first. */
  before: number;
}

const day = 86_400_000;
class Model implements Pick<ApiClient, 'page' | 'pageParam'> {
  readonly pageParam = 'from';
  readonly service: Service;
  rows: Row[];
  requests = 0;
  pending: readonly Change[] = [];
  /** Called when time passes. */
  onWait: (ms: number) => void = () => {};
  #now = Date.parse('2026-03-01T12:00:00.250Z');
  #made = 0;

  constructor(service: Service) {
    this.service = service;
    this.rows = Array.from({ length: service.count }, (_, at) => {
      // Several records were changed at the same moment.
      const row = this.#newRow(
        this.#now - day * (1 + ((at * 7) % 13)) - Math.floor(at / 20) * 5_000,
      );
      const isUndated = (at + 1) % service.undatedOneIn === 0;
      return isUndated ? { ...row, updatedAt: null } : row;
    });
    // The rule for deletions that are not updates needs a deleted record.
    for (const at of [0, 0.4]) this.#delete(at, this.#now - day / 2);
  }

  async page<R extends Resource>(_: R, query: PageRequest): Promise<Page<RecordOf[R]>> {
    this.requests += 1;
    for (const change of this.pending) if (change.before === this.requests) this.apply(change);
    if (query.sort && this.service.sorts === 'refused')
      throw new ApiError('refused', { host: 'model' });
    const isSorted = query.sort && this.service.sorts === 'yes';
    const all = this.#sorted(isSorted ? String(query.sort) : this.service.usual);
    const from = query.from ?? 0;
    const size = Math.min(query.size ?? 20, this.service.maxSize);
    const answeredAt = Math.floor(this.#now / 1000) * 1000;
    const records = structuredClone(all.slice(from, from + size)) as unknown as RecordOf[R][];
    return { records, total: all.length, answeredAt };
  }

  wait(ms: number): void {
    this.#now += ms;
    this.onWait(ms);
  }

  #sorted(order: string): Row[] {
    const [, sign, field = ''] = /^([+-]?)(\w+)$/.exec(order) ?? [];
    const textOf = (row: Row) => String(row[field as keyof Row] ?? '');
    const up = (one: Row, other: Row) =>
      Number(textOf(one) > textOf(other)) - Number(textOf(one) < textOf(other));
    return this.rows.toSorted((one, other) => (sign === '-' ? up(other, one) : up(one, other)));
  }

  apply({ what, at, after }: Change): void {
    this.wait(after);
    const place = Math.floor(at * this.rows.length);
    const row = this.rows[place];
    const updatedAt = new Date(this.#now).toISOString();
    if (what === 'insert') this.rows.push(this.#newRow(this.#now));
    if (what === 'delete') this.#delete(at, this.#now);
    if (!row) return;
    if (what === 'edit') this.rows[place] = { ...row, name: `${row.name}+`, updatedAt };
    if (what === 'restore' && row.deletedAt) {
      const { deletedAt: _, ...restored } = row;
      this.rows[place] = { ...restored, updatedAt };
    }
  }

  #delete(at: number, time: number): void {
    const { deletes } = this.service;
    const place = Math.floor(at * this.rows.length);
    const row = this.rows[place];
    if (!row || row.deletedAt) return;
    const deletedAt = new Date(time).toISOString();
    if (deletes === 'removed') this.rows.splice(place, 1);
    else
      this.rows[place] = {
        ...row,
        deletedAt,
        ...(deletes === 'listed' && { updatedAt: deletedAt }),
      };
  }

  #newRow(time: number): Row {
    this.#made += 1;
    const at = new Date(time).toISOString();
    return { id: `r${this.#made}`, name: `Row ${this.#made}`, createdAt: at, updatedAt: at };
  }

  byId(): Map<string, string> {
    return new Map(this.rows.map((row) => [row.id, JSON.stringify(row)]));
  }
}

const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const services: fc.Arbitrary<Service> = fc.record({
  count: fc.integer({ min: 3, max: 300 }),
  sorts: fc.constantFrom('yes' as const, 'yes', 'yes', 'ignored', 'refused'),
  usual: fc.constantFrom('createdAt', '-createdAt', '-updatedAt', 'id'),
  maxSize: fc.constantFrom(100, 100, 40),
  deletes: fc.constantFrom('removed', 'listed', 'listed, not updated'),
  undatedOneIn: fc.constantFrom(1_000, 1_000, 50, 2),
});
const changes = (before: fc.Arbitrary<number>) =>
  fc.array(
    fc.record<Change>({
      what: fc.constantFrom('insert', 'edit', 'edit', 'delete', 'restore'),
      at: share,
      after: fc.constantFrom(0, 0, 1, 700, 30_000, day / 10),
      before,
    }),
    { maxLength: 12 },
  );
const runs = (all: number) => ({
  numRuns: Number(process.env.CPQ_TEST_RUNS ?? 1) * quickOrAll(all / 4, all),
});

type Rows = Reading<Row>;

async function read(model: Model, pages: ServicePages, earlier?: Rows): Promise<Rows> {
  model.requests = 0;
  const reading = readCollection(
    { pages, resource: 'opportunity', query: {}, call: walkCall, report: () => {} },
    earlier as never,
  );
  return (await reading) as unknown as Rows;
}

const textsOf = ({ records }: Rows) => new Map(records.map((row) => [row.id, JSON.stringify(row)]));

test('equals a whole reading after any changes', async () => {
  const rounds = fc.array(changes(fc.constant(0)), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(services, rounds, async (service, all) => {
      const model = new Model(service);
      const pages = new ServicePages(model);
      let reading = await read(model, pages);
      for (const round of all) {
        for (const change of round) model.apply(change);
        model.wait(3_000);
        reading = await read(model, pages, reading);
        expect(reading.coverage).toMatchObject({ complete: true, read: model.rows.length });
        expect(textsOf(reading)).toEqual(model.byId());
      }
    }),
    runs(800),
  );
});

test('has what changed while it was read at the next time', async () => {
  const rounds = fc.array(changes(fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(services, rounds, async (service, all) => {
      const model = new Model(service);
      const pages = new ServicePages(model);
      let reading: Rows | undefined;
      for (const round of all) {
        const before = model.byId();
        model.pending = round;
        reading = await read(model, pages, reading);
        model.pending = [];
        const now = model.byId();
        const texts = textsOf(reading);
        if (!reading.coverage.complete) continue;
        const stayed = [...before.keys()].filter((id) => now.has(id));
        expect(stayed.filter((id) => !texts.has(id))).toEqual([]);
        const isOther = (id: string) =>
          now.get(id) === before.get(id) && texts.get(id) !== now.get(id);
        expect(stayed.filter(isOther)).toEqual([]);
      }
      model.wait(3_000);
      reading = await read(model, pages, reading);
      expect(textsOf(reading)).toEqual(model.byId());
    }),
    runs(800),
  );
});

const large: Service = {
  ...{ count: 2_000, sorts: 'yes', usual: '-createdAt', maxSize: 100 },
  ...{ deletes: 'removed', undatedOneIn: 5_000 },
};

test.each([
  ['removed', 1],
  ['listed', 2],
  ['listed, not updated', 2],
] as const)('takes few requests: deleted records are %s', async (deletes, requests) => {
  const model = new Model({ ...large, deletes });
  const pages = new ServicePages(model);
  const first = await read(model, pages);
  expect(model.requests).toBe(20);
  for (let at = 0; at < 20; at++)
    model.apply({ what: 'edit', at: at / 20, after: 60_000, before: 0 });
  const second = await read(model, pages, first);
  // It is shown once that the order turns round.
  expect(model.requests).toBe(requests + 1);
  expect(textsOf(second)).toEqual(model.byId());
  // Whether a deletion is an update is learnt from one that happens, and not from an edit before it.
  if (deletes === 'removed') return;
  model.apply({ what: 'edit', at: 0.7, after: 60_000, before: 0 });
  model.apply({ what: 'delete', at: 0.7, after: 10_000, before: 0 });
  const third = await read(model, pages, second);
  expect(textsOf(third)).toEqual(model.byId());
  model.apply({ what: 'delete', at: 0.6, after: 60_000, before: 0 });
  const fourth = await read(model, pages, third);
  expect(textsOf(fourth)).toEqual(model.byId());
  expect(model.requests).toBe(deletes === 'listed' ? 1 : 2);
});

test('finds what changed early in a long reading without another one', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const model = new Model(large);
  const pages = new ServicePages(model);
  // The first is on a page that was read before, the last on one that was not.
  model.pending = [
    { what: 'edit', at: 13 / 2_000, after: 0, before: 8 },
    { what: 'edit', at: 1_987 / 2_000, after: 30_000, before: 9 },
    // Changes nothing, but time passes.
    { what: 'restore', at: 0.5, after: 5_000, before: 12 },
  ];
  model.onWait = (ms) => void vi.advanceTimersByTime(ms);
  const first = await read(model, pages);
  expect(first.coverage.complete).toBe(true);
  expect(textsOf(first)).not.toEqual(model.byId());
  const second = await read(model, pages, first);
  expect(textsOf(second)).toEqual(model.byId());
  expect(model.requests).toBeLessThanOrEqual(2);
});

test('takes few requests although a record has a time in the future', async () => {
  const model = new Model(large);
  Object.assign(model.rows[7] ?? {}, { updatedAt: '2030-01-01T00:00:00.000Z' });
  const pages = new ServicePages(model);
  const first = await read(model, pages);
  model.apply({ what: 'edit', at: 0.5, after: 60_000, before: 0 });
  expect(textsOf(await read(model, pages, first))).toEqual(model.byId());
  expect(model.requests).toBeLessThanOrEqual(2);
});

test('does not begin again when a record changes during a long reading', async () => {
  const model = new Model(large);
  model.pending = [{ what: 'insert', at: 0, after: 1_000, before: 10 }];
  const pages = new ServicePages(model);
  const reading = await read(model, pages);
  expect(reading.coverage.complete).toBe(true);
  expect(textsOf(reading)).toEqual(model.byId());
  expect(model.requests).toBeLessThanOrEqual(23);
});

/** More than fit on a page of an update. */
const edits = (before: number): Change[] =>
  Array.from({ length: 150 }, (_, at) => ({ what: 'edit', at: at / 2_000, after: 1, before }));

test('is brought up to date again after many records changed between two pages of an update', async () => {
  const model = new Model(large);
  const pages = new ServicePages(model);
  const first = await read(model, pages);
  for (const change of edits(0)) model.apply(change);
  model.pending = edits(2);
  const whole = await read(model, pages, first);
  expect(model.requests).toBeGreaterThan(20);
  model.pending = [];
  await read(model, pages, whole);
  expect(model.requests).toBeLessThanOrEqual(5);
});

test('keeps no removed record in whose place another was added between two pages of an update', async () => {
  const model = new Model(large);
  const pages = new ServicePages(model);
  const first = await read(model, pages);
  for (const change of edits(0)) model.apply(change);
  model.apply({ what: 'delete', at: 0.9, after: 1, before: 0 });
  model.pending = [{ what: 'insert', at: 0, after: 1, before: 2 }];
  expect(textsOf(await read(model, pages, first))).toEqual(model.byId());
});
