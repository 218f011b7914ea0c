import { describe, expect, test } from 'vitest';
import { type LocalOptions, localState } from '../../src/state/files/local.ts';
import type {
  CollectionKey,
  EarlierReading,
  InboxEntry,
  InboxEvent,
  State,
  Update,
} from '../../src/state/port.ts';
import { redisState } from '../../src/state/redis/redis.ts';
import fc from '../support/fast-check.ts';
import { describeWith } from '../support/needs.ts';
import { startRedis } from '../support/redis.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { hold, until } from '../support/until.ts';

/** Two connections to one state; in a single process they are the same object. */
type Connect = (options?: LocalOptions) => Promise<[State, State]>;

/** Both connections, and a tenant that no other test uses. */
type Pair = ReturnType<typeof pairOf>;

const pairOf = (connect: Connect) => async (options?: LocalOptions) => {
  const [one, other] = await connect(options);
  return { one, other, states: [one, other] as const, tenant: newTenant() };
};

const redis = shared(() => startRedis());

let number = 0;
const newTenant = (): string => (0xc0ffee0000000000n + BigInt(number++)).toString(16);

const oneProcess: Connect = async (options) => {
  const path = newFolder();
  const state = closing(localState(path, options));
  return [state, state];
};

const onRedis: Connect = async (more) => {
  const { url } = await redis();
  const options = { url, report: () => {}, ...more };
  return [closing(await redisState(options)), closing(await redisState(options))];
};

/** Collections are the only state that several processes of one machine share without Redis. */
const onFiles: Connect = async () => {
  const path = newFolder();
  return [localState(path), localState(path)];
};

describe('state of one process', () => contract(pairOf(oneProcess)));
describe('collections in files', () => {
  collections(pairOf(onFiles));
  outdatedCopies(pairOf(onFiles));
});
describeWith('redis', 'state in Redis', () => {
  contract(pairOf(onRedis));
  describe('collections', () => {
    collections(pairOf(onRedis));
    outdatedCopies(pairOf(onRedis));
  });
});

function contract(pair: Pair): void {
  describe('rates', () => rates(pair));
  describe('claims, signing secret, locks', () => small(pair));
  describe('journal', () => journal(pair));
  describe('snapshots', () => snapshots(pair));
  describe('bus', () => {
    bus(pair);
    failingListeners(pair);
  });
  describe('inbox', () => {
    inboxOrder(pair);
    inboxRows(pair);
    inboxLimits(pair);
  });
}

const rule = { limit: 20, windowMs: 600_000, reserve: 0 };

function rates(pair: Pair): void {
  test('never exceed the limit, whoever requests', async () => {
    const { states, tenant: key } = await pair();
    const verdicts = await Promise.all(
      Array.from({ length: 60 }, (_, at) => states[at % 2]?.rates.take(key, rule, Date.now())),
    );
    expect(verdicts.filter((verdict) => verdict?.taken)).toHaveLength(20);
    for (const { rates } of states) {
      const last = await rates.take(key, rule, Date.now());
      expect(last).toMatchObject({ taken: false, remaining: 0 });
      expect(last.waitMs).toBeGreaterThan(0);
    }
  });

  test('hold in every interval of the length of the window', async () => {
    const { one, other, tenant: key } = await pair();
    const short = { limit: 5, windowMs: 200, reserve: 0 };
    // Each was taken between these two times.
    const [asked, told]: [number[], number[]] = [[], []];
    const work = async ({ rates }: State) => {
      while (told.length < 30) {
        const before = performance.now();
        const { taken, waitMs } = await rates.take(key, short, Date.now());
        if (taken) asked.push(before);
        if (taken) told.push(performance.now());
        else await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    };
    await Promise.all([work(one), work(other), work(one)]);
    for (const times of [asked, told]) times.sort((a, b) => a - b);
    const stretches = told.slice(5).map((time, at) => time - (asked[at] ?? 0));
    expect(stretches.length).toBeGreaterThanOrEqual(25);
    for (const stretch of stretches) expect(stretch).toBeGreaterThan(199);
  });

  test('leave the reserve to others, and report the remainder', async () => {
    const { one, other, tenant: key } = await pair();
    const modest = { ...rule, reserve: 15 };
    for (let left = 19; left >= 15; left--) {
      expect(await one.rates.take(key, modest, Date.now())).toMatchObject({
        taken: true,
        remaining: left,
      });
    }
    expect(await other.rates.take(key, modest, Date.now())).toMatchObject({
      taken: false,
      remaining: 15,
    });
    expect(await other.rates.peek(key, rule, Date.now())).toMatchObject({
      taken: true,
      remaining: 15,
    });
    expect(await other.rates.take(key, rule, Date.now())).toMatchObject({
      taken: true,
      remaining: 14,
    });
  });

  test('take over the count that the service reports', async () => {
    const { one, other, tenant: key } = await pair();
    await one.rates.take(key, rule, Date.now());
    await one.rates.correct(key, rule, 2, Date.now());
    expect(await other.rates.peek(key, rule, Date.now())).toMatchObject({ remaining: 2 });
    await other.rates.take(key, rule, Date.now());
    await other.rates.take(key, rule, Date.now());
    expect((await one.rates.take(key, rule, Date.now())).taken).toBe(false);
    await one.rates.correct(key, rule, 17, Date.now());
    expect(await other.rates.peek(key, rule, Date.now())).toMatchObject({ remaining: 17 });
  });

  test('pause for as long as the service requested', async () => {
    const { one, other, tenant: key } = await pair();
    await one.rates.take(key, rule, Date.now());
    await one.rates.block(key, Date.now() + 60_000);
    // A shorter pause, asked for in another response, does not end it.
    await other.rates.block(key, Date.now() + 1_000);
    const verdict = await other.rates.take(key, rule, Date.now());
    expect(verdict).toMatchObject({ taken: false, remaining: 19 });
    expect(verdict.waitMs).toBeGreaterThan(50_000);
    expect(verdict.waitMs).toBeLessThanOrEqual(60_000);
  });

  test('are counted for each tenant separately', async () => {
    const { one, tenant: key } = await pair();
    const another = newTenant();
    for (let at = 0; at < 20; at++) await one.rates.take(key, rule, Date.now());
    expect((await one.rates.take(key, rule, Date.now())).taken).toBe(false);
    expect((await one.rates.take(another, rule, Date.now())).taken).toBe(true);
  });
}

function small(pair: Pair): void {
  test('a claim succeeds once', async () => {
    const { states, tenant: name } = await pair();
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, at) => states[at % 2]?.claim(name, Date.now() + 60_000)),
    );
    expect(claims.filter((claimed) => claimed)).toHaveLength(1);
  });

  test('a claim ends when it expires', async () => {
    const { one, other, tenant: name } = await pair();
    expect(await one.claim(name, Date.now() + 1_000)).toBe(true);
    await until(() => other.claim(name, Date.now() + 60_000)).toBe(true);
  });

  test('the signing secret is the same for all processes', async () => {
    const { one, other } = await pair();
    const [ours, theirs] = await Promise.all([one.secret(), other.secret()]);
    expect(Buffer.from(ours)).toEqual(Buffer.from(theirs));
    expect(ours.length).toBe(32);
  });

  test('work under one name runs one at a time, also after a failure', async () => {
    const { states, tenant: name } = await pair();
    let [inside, most, done] = [0, 0, 0];
    const work = async (at: number) => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
      done += 1;
      if (at % 3 === 0) throw new Error('on purpose');
      return at;
    };
    const all = await Promise.allSettled(
      Array.from({ length: 12 }, (_, at) => states[at % 2]?.runExclusive(name, () => work(at))),
    );
    expect({ most, done }).toEqual({ most: 1, done: 12 });
    expect(all.map(({ status }) => status)).toEqual(
      Array.from({ length: 12 }, (_, at) => (at % 3 === 0 ? 'rejected' : 'fulfilled')),
    );
  });

  test('work under another name does not wait', async () => {
    const { one, other } = await pair();
    const { held, release } = hold();
    const first = one.runExclusive(newTenant(), () => held);
    expect(await other.runExclusive(newTenant(), async () => 'done')).toBe('done');
    release();
    await first;
  });
}

function journal(pair: Pair): void {
  test('returns its entries in order', async () => {
    const { one, other, tenant } = await pair();
    expect(await one.journal(tenant).read()).toEqual({ entries: [], damaged: 0 });
    const entries = Array.from({ length: 30 }, (_, at) => ({ at, text: `line\n${at} ü "→"` }));
    for (const entry of entries) await (entry.at % 2 ? one : other).journal(tenant).append(entry);
    expect(await one.journal(tenant).read()).toEqual({ entries, damaged: 0 });
    expect(await other.journal(newTenant()).read()).toEqual({ entries: [], damaged: 0 });
  });
}

function snapshots(pair: Pair): void {
  const bytes = (text: string) => Buffer.from(`${text}\0ÿ`, 'latin1');

  test('are read as they were written, by everyone, in the order of their names', async () => {
    const { one, other, tenant } = await pair();
    expect(await one.snapshots(tenant).names()).toEqual([]);
    expect(await one.snapshots(tenant).read('2026-01-01')).toBeUndefined();
    for (const name of ['2026-01-02', 'base-2026-01-01', '2026-01-01'])
      await one.snapshots(tenant).write(name, bytes(name));
    await other.snapshots(tenant).write('2026-01-02', bytes('later'));
    expect(await one.snapshots(tenant).names()).toEqual([
      '2026-01-01',
      '2026-01-02',
      'base-2026-01-01',
    ]);
    expect(await one.snapshots(tenant).read('2026-01-02')).toEqual(bytes('later'));
    expect(await other.snapshots(tenant).read('2026-01-01')).toEqual(bytes('2026-01-01'));
  });

  test('are removed, and belong to their tenant', async () => {
    const { one, other, tenant } = await pair();
    const another = newTenant();
    for (const name of ['a', 'b']) await one.snapshots(tenant).write(name, bytes(name));
    await one.snapshots(another).write('a', bytes('theirs'));
    await other.snapshots(tenant).remove(['a', 'never-written']);
    expect(await one.snapshots(tenant).names()).toEqual(['b']);
    await other.snapshots(tenant).remove(['b']);
    await other.snapshots(tenant).remove([]);
    expect(await one.snapshots(tenant).names()).toEqual([]);
    expect(await one.snapshots(another).read('a')).toEqual(bytes('theirs'));
    const tenants = (await one.stored()).map((part) => part.tenant);
    expect(tenants.filter((name) => [tenant, another].includes(name))).toEqual([another]);
  });

  test('of a tenant are found and removed with everything else about it', async () => {
    const { one, other, tenant } = await pair();
    const another = newTenant();
    for (const it of [tenant, another]) {
      await one.journal(it).append({ id: 'c' });
      await one.inbox(it).add({ id: 'e', subject: 's', event: 'e', body: '{}' });
      await one.snapshots(it).write('a', bytes('theirs'));
      const key = { tenant: it, reader: 'r', collection: 'quote' };
      const load = async () => ({ value: {}, ageMs: 0, keepMs: 60_000 });
      await one.collections?.getOrLoad(key, 0, load, new AbortController().signal);
    }
    const partsOf = async (name: string) =>
      (await other.stored()).filter((part) => part.tenant === name);
    const all = ['changes', 'collections', 'events', 'history'];
    expect([...new Set((await partsOf(tenant)).map(({ kind }) => kind))].sort()).toEqual(all);
    await other.remove(await partsOf(tenant));
    expect(await partsOf(tenant)).toEqual([]);
    expect((await one.journal(tenant).read()).entries).toEqual([]);
    expect((await one.inbox(tenant).list(() => true, { from: 0, size: 9 })).total).toBe(0);
    expect(await one.snapshots(tenant).names()).toEqual([]);
    expect((await one.journal(another).read()).entries).toEqual([{ id: 'c' }]);
  });

  test('written by two at once are one or the other, whole', async () => {
    const { states, tenant } = await pair();
    const values = Array.from({ length: 20 }, (_, at) => Buffer.alloc(50_000, at));
    await Promise.all(
      values.map((value, at) => states[at % 2]?.snapshots(tenant).write('d', value)),
    );
    const found = await states[0].snapshots(tenant).read('d');
    expect(values.some((value) => found?.equals(value))).toBe(true);
    expect(await states[1].snapshots(tenant).names()).toEqual(['d']);
  });
}

function bus(pair: Pair): void {
  test('notifies all subscribers of the tenant, and nobody else', async () => {
    const { one, other, tenant } = await pair();
    const another = newTenant();
    const heard: [who: string, what: Update][] = [];
    const hear = (who: string) => (update: Update | 'missed') => {
      if (update !== 'missed') heard.push([who, update]);
    };
    one.bus.subscribe(tenant, hear('one'));
    other.bus.subscribe(tenant, hear('other'));
    other.bus.subscribe(another, hear('another'));
    const update = { collection: 'opportunity', keyRefused: 'o1' };
    const published = one.bus.publish(tenant, update);
    expect(heard).toContainEqual(['one', update]);
    await published;
    await until(() => heard).toContainEqual(['other', update]);
    expect(heard).toHaveLength(2);
  });

  test('stops notifying after unsubscribing', async () => {
    const { one, other, tenant } = await pair();
    const [left, stays]: Update[][] = [[], []];
    const into = (heard: Update[]) => (update: Update | 'missed') => {
      if (update !== 'missed') heard.push(update);
    };
    const leave = one.bus.subscribe(tenant, into(left ?? []));
    one.bus.subscribe(tenant, into(stays ?? []));
    leave();
    await other.bus.publish(tenant, { collection: 'quote' });
    await until(() => stays).toEqual([{ collection: 'quote' }]);
    expect(left).toEqual([]);
  });
}

function failingListeners(pair: Pair): void {
  test('an error of one listener reaches neither the publisher nor the other listeners', async () => {
    const reported: unknown[] = [];
    const { one, other, tenant } = await pair({ report: (...line) => reported.push(line) });
    const heard: Update[] = [];
    const fail = (update: Update | 'missed') => {
      if (update !== 'missed') throw new URIError('not handled');
    };
    for (const { bus } of new Set([one, other])) bus.subscribe(tenant, fail);
    other.bus.subscribe(tenant, (update) => update !== 'missed' && heard.push(update));
    const update = { collection: 'quote', keyRefused: 'q1' };
    await one.bus.publish(tenant, update);
    // Both are stored by one write.
    const added = ['a', 'b'].map((id) => one.inbox(tenant).add(eventOf(id), update));
    expect(await Promise.all(added)).toEqual(['new', 'new']);
    await until(() => heard).toEqual([update, update, update]);
    const line = ['update not handled', { error: 'URIError', message: 'not handled' }];
    expect(reported).toEqual(expect.arrayContaining([line, line, line]));
  });
}

const eventOf = (id: string, more: Partial<InboxEvent> = {}): InboxEvent => ({
  id,
  subject: 'quote',
  event: 'updated',
  body: JSON.stringify({ id, text: 'ü →' }),
  ...more,
});
const everything = () => true;
const all = { from: 0, size: 1_000 };
const ids = (rows: readonly { event: InboxEvent }[]) => rows.map(({ event }) => event.id);

function inboxOrder(pair: Pair): void {
  test('stores each event once, however often and wherever it is delivered', async () => {
    const { states, tenant } = await pair();
    const added = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        states[at % 2]?.inbox(tenant).add(eventOf(`e${at % 20}`)),
      ),
    );
    expect(added.filter((how) => how === 'new')).toHaveLength(20);
    const { rows, total, damaged } = await states[1].inbox(tenant).list(everything, all);
    expect({ total, damaged, distinct: new Set(ids(rows)).size }).toEqual({
      total: 20,
      damaged: 0,
      distinct: 20,
    });
  });

  test('returns the whole event', async () => {
    const { one, other, tenant } = await pair();
    const long = 'x'.repeat(5_000);
    const event = eventOf('a', {
      at: 1_700_000_000_000,
      record: 'q 1',
      body: `{"raw" :  "${long}"}`,
      before: { title: 'old' },
    });
    await one.inbox(tenant).add(event);
    const { rows, keptSince } = await other.inbox(tenant).list(everything, all);
    expect(rows).toEqual([{ event }]);
    expect(Math.abs(Date.now() - (keptSince ?? 0))).toBeLessThan(60_000);
  });

  test('returns an event whole whose record has a tab in its id', async () => {
    const { one, other, tenant } = await pair();
    const event = eventOf('tabbed', { at: 1_700_000_000_000, record: 'q\t1' });
    await one.inbox(tenant).add(event);
    const { rows } = await other.inbox(tenant).list(everything, all);
    expect(rows).toMatchObject([{ event: { id: 'tabbed', event: 'updated', body: event.body } }]);
  });

  test('uses the time of arrival for events without a time', async () => {
    const { one, tenant } = await pair();
    await one.inbox(tenant).add(eventOf('now'));
    await one.inbox(tenant).add(eventOf('before', { at: Date.now() - 3_600_000 }));
    await one.inbox(tenant).add(eventOf('after', { at: Date.now() + 3_600_000 }));
    const { rows } = await one.inbox(tenant).list(everything, all);
    expect(ids(rows)).toEqual(['after', 'now', 'before']);
    expect(Math.abs(Date.now() - (rows[1]?.event.at ?? 0))).toBeLessThan(60_000);
  });

  test('orders events by their own times, then by arrival', async () => {
    const { one, other } = await pair();
    const deliveries = fc.array(
      fc.record({ id: fc.nat(12), minute: fc.nat(3), first: fc.boolean() }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(deliveries, async (all) => {
        const tenant = newTenant();
        const expected: { id: string; at: number }[] = [];
        for (const { id, minute, first } of all) {
          const state = first ? one : other;
          const event = { id: `e${id}`, at: 1_700_000_000_000 + minute * 60_000 };
          const how = await state.inbox(tenant).add(eventOf(event.id, event));
          expect(how).toBe(expected.some((known) => known.id === event.id) ? 'known' : 'new');
          if (how === 'new') expected.push(event);
        }
        // A stable sort of the latest arrival first.
        expected.reverse().sort((a, b) => b.at - a.at);
        const { rows, total } = await other.inbox(tenant).list(everything, { from: 0, size: 99 });
        expect(ids(rows)).toEqual(expected.map(({ id }) => id));
        expect(total).toBe(expected.length);
      }),
      { numRuns: 25 },
    );
  });
}

function inboxRows(pair: Pair): void {
  test('keeps the order of events that are added together, whatever their sizes', async () => {
    const { one } = await pair();
    const inbox = one.inbox(newTenant());
    const added = [50_000, 2, 5_000, 2, 20_000, 2].map((length, at) =>
      inbox.add(eventOf(`e${at}`, { at: 1_000, body: 'x'.repeat(length) })),
    );
    await Promise.all(added);
    const { rows } = await inbox.list(everything, all);
    expect(ids(rows)).toEqual(['e5', 'e4', 'e3', 'e2', 'e1', 'e0']);
  });

  test('returns the requested page of matching events', async () => {
    const { one, tenant } = await pair();
    for (let at = 0; at < 30; at++) {
      const subject = at % 3 === 0 ? 'order' : 'quote';
      await one.inbox(tenant).add(eventOf(`e${at}`, { at: 1_000 * at, subject, record: `r${at}` }));
    }
    const orders = ({ subject }: InboxEntry) => subject === 'order';
    const page = await one.inbox(tenant).list(orders, { from: 2, size: 3 });
    expect(page.total).toBe(10);
    expect(ids(page.rows)).toEqual(['e21', 'e18', 'e15']);
    const entries: InboxEntry[] = [];
    await one.inbox(tenant).list((entry) => entries.push({ ...entry }) > 0, { from: 0, size: 0 });
    expect(entries[29]).toMatchObject({
      id: 'e0',
      at: 0,
      subject: 'order',
      event: 'updated',
      record: 'r0',
    });
  });

  test('returns each event with the previous event of the same record', async () => {
    const { one, tenant } = await pair();
    const add = (id: string, at: number, more: Partial<InboxEvent>) =>
      one.inbox(tenant).add(eventOf(id, { at, ...more }));
    await add('third', 3_000, { record: 'a' });
    await add('first', 1_000, { record: 'a', event: 'created' });
    await add('of another record', 2_500, { record: 'b' });
    await add('of another subject', 2_600, { record: 'a', subject: 'order' });
    await add('second', 2_000, { record: 'a', event: 'ordered' });
    await add('of no record', 2_900, {});
    const list = async () => {
      const accepts = ({ event, subject }: InboxEntry) =>
        event === 'updated' && subject === 'quote';
      const { rows } = await one.inbox(tenant).list(accepts, all);
      return rows.map(({ event, previous }) => [event.id, previous?.id]);
    };
    const others = [
      ['of no record', undefined],
      ['of another record', undefined],
    ];
    expect(await list()).toEqual([['third', 'second'], ...others]);
  });
}

function inboxLimits(pair: Pair): void {
  test('publishes the update of an event once, when it is stored', async () => {
    const { one, other, tenant } = await pair();
    const heard: (Update | 'missed')[] = [];
    other.bus.subscribe(tenant, (update) => update !== 'missed' && heard.push(update));
    const update = { collection: 'quote', keyRefused: 'q1' };
    await one.inbox(tenant).add(eventOf('a'), update);
    await one.inbox(tenant).add(eventOf('a'), update);
    await one.inbox(tenant).add(eventOf('b'), { collection: 'order' });
    await until(() => heard).toEqual([update, { collection: 'order' }]);
  });

  test('keeps a limited number, and drops the first to arrive first', async () => {
    const { one, other, tenant } = await pair({ inbox: { days: 30, events: 10, megabytes: 1 } });
    for (let at = 0; at < 25; at++) {
      await one.inbox(tenant).add(eventOf(`e${at}`, { at: 1_000_000 - at }));
    }
    const { rows, total } = await other.inbox(tenant).list(everything, all);
    expect(total).toBe(10);
    expect(ids(rows)).toEqual(Array.from({ length: 10 }, (_, at) => `e${15 + at}`));
  });

  test('keeps a limited number of bytes', async () => {
    const { one, tenant } = await pair({ inbox: { days: 30, events: 1_000, megabytes: 0.1 } });
    for (let at = 0; at < 30; at++) {
      // Incompressible, so that both kinds of storage have about the same size.
      const body = Array.from({ length: 12_000 }, () => Math.random().toString(36)[2]).join('');
      await one.inbox(tenant).add(eventOf(`e${at}`, { at, body }));
    }
    const { rows, total } = await one.inbox(tenant).list(everything, all);
    expect(total).toBeGreaterThan(5);
    expect(total).toBeLessThan(15);
    expect(ids(rows)[0]).toBe('e29');
  });

  test('keeps events for a limited time', async () => {
    const { one, tenant } = await pair({
      inbox: { days: 3 / 86_400, events: 1_000, megabytes: 1 },
    });
    await one.inbox(tenant).add(eventOf('old', { at: Date.now() + 60_000 }));
    expect((await one.inbox(tenant).list(everything, all)).total).toBe(1);
    await until(async () => (await one.inbox(tenant).list(everything, all)).total).toBe(0);
    expect(await one.inbox(tenant).add(eventOf('old'))).toBe('new');
  });
}

const never = new AbortController().signal;
const place = (tenant: string): CollectionKey => ({
  ...{ tenant, reader: 'reader', collection: 'quote' },
});

type Load = (earlier: EarlierReading | undefined) => Promise<unknown>;

/** Gets the collection, with `load` if it has to be read; `ageMs` is its age then. */
async function getOr(state: State, key: CollectionKey, load: Load, freshMs = 60_000, ageMs = 0) {
  if (!state.collections) throw new Error('nothing is shared');
  const reading = async (earlier: EarlierReading | undefined) => ({
    ...{ value: await load(earlier), ageMs, keepMs: 3_600_000 },
  });
  return state.collections.getOrLoad(key, freshMs, reading, never);
}

/** Reads as `value` if it has to; `given` is the copy that it could have brought up to date. */
async function get(state: State, key: CollectionKey, value: unknown, freshMs?: number) {
  let given: EarlierReading | undefined;
  const load: Load = async (earlier) => {
    given = earlier;
    return value;
  };
  return { ...(await getOr(state, key, load, freshMs)), given };
}

function collections(pair: Pair): void {
  test('are read once for all that wait, and given to others as they were, with their age', async () => {
    const { one, other, tenant } = await pair();
    const key = place(tenant);
    const records = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `Quote ü\n ${id}` }));
    let reads = 0;
    const load = async () => {
      reads += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { records };
    };
    expect(await other.collections?.ageOf(key)).toBeUndefined();
    const waiting = [one, other, one, other].map((it) => getOr(it, key, load, 60_000, 5_000));
    for (const { value } of await Promise.all(waiting)) expect(value).toEqual({ records });
    expect(reads).toBe(1);
    const later = await get(other, key, 'read again');
    expect(later.value).toEqual({ records });
    for (const age of [later.ageMs, await other.collections?.ageOf(key)]) {
      expect(age).toBeGreaterThanOrEqual(5_000);
      expect(age).toBeLessThan(60_000);
    }
    expect((await get(other, key, 'read again', 4_000)).value).toBe('read again');
  });

  test('are not shared between keys with different permissions, tenants or collections', async () => {
    const { one, other, tenant } = await pair();
    const key = place(tenant);
    const keys = [
      key,
      { ...key, reader: 'limited' },
      { ...key, tenant: newTenant() },
      { ...key, collection: 'company' },
    ];
    for (const [at, each] of keys.entries()) expect((await get(one, each, at)).value).toBe(at);
    for (const [at, each] of keys.entries()) expect((await get(other, each, 'x')).value).toBe(at);
  });

  test('are read by the next process when the first one fails', async () => {
    const { one, other, tenant } = await pair();
    const key = place(tenant);
    let second: Promise<unknown> = Promise.resolve();
    const fail = async () => {
      second = get(other, key, 'read after all');
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw new Error('upstream');
    };
    await expect(getOr(one, key, fail)).rejects.toThrow('upstream');
    expect(await second).toMatchObject({ value: 'read after all' });
  });

  test('are not waited for by a cancelled call', async () => {
    const { one, other, tenant } = await pair();
    const key = place(tenant);
    const first = getOr(one, key, async () => {
      const stop = AbortSignal.timeout(50);
      const load = () => Promise.reject(new Error('read twice'));
      await expect(other.collections?.getOrLoad(key, 60_000, load, stop)).rejects.toThrow(
        'timeout',
      );
      return 'first';
    });
    expect((await first).value).toBe('first');
  });
}

function outdatedCopies(pair: Pair): void {
  test('are given, when too old, to whoever reads them again, with whether they changed', async () => {
    const { one, other, tenant } = await pair();
    expect((await get(other, place(tenant), 'first')).given).toBeUndefined();
    const second = await get(other, place(tenant), 'second', 0);
    expect(second.given).toMatchObject({ value: 'first', isOutdated: false });
    await one.bus.publish(tenant, { collection: 'quote' });
    const third = await get(other, place(tenant), 'third');
    expect(third.given).toMatchObject({ value: 'second', isOutdated: true });
    expect((await get(other, place(tenant), 'fourth')).value).toBe('third');
  });

  test('are outdated when something in them changes, also while they are being read', async () => {
    const { one, other, tenant } = await pair();
    const valueAt = async (state: State, value: string) =>
      (await get(state, place(tenant), value)).value;
    const slow = async () => {
      await other.bus.publish(tenant, { collection: 'quote' });
      // A caller after the change neither gets nor waits for a reading that began before it.
      expect(await valueAt(other, 'after')).toBe('after');
      return 'before';
    };
    expect((await getOr(one, place(tenant), slow)).value).toBe('before');
    expect(await valueAt(one, 'again')).toMatch(/^(?:after|again)$/);
    const known = await valueAt(other, 'once more');
    await one.bus.publish(tenant, { collection: 'opportunity' });
    await one.inbox(tenant).add(eventOf('e'), {});
    expect(await valueAt(one, 'not read')).toBe(known);
    await one.inbox(tenant).add(eventOf('f'), { collection: 'quote' });
    expect(await valueAt(other, 'newest')).toBe('newest');
  });
}
