import { brotliCompressSync, constants } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { type SharedReading, type State, StateUnavailable } from '../../src/state/port.ts';
import { redisBus } from '../../src/state/redis/bus.ts';
import { type RedisOptions, redisState } from '../../src/state/redis/redis.ts';
import { shortHash } from '../../src/state/short-hash.ts';
import { version } from '../../src/version.ts';
import { everything, open } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import type { Environment } from '../support/process.ts';
import { run, runHere } from '../support/process.ts';
import { type Redis, startRedis } from '../support/redis.ts';
import { type Address, addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';
import { hold, until } from '../support/until.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

const redis = shared(() => startRedis());
let number = 0;
const newTenant = (): string => (0xbeef000000000000n + BigInt(number++)).toString(16);

const stateIn = async ({ url }: Redis, more: Partial<RedisOptions> = {}): Promise<State> =>
  closing(await redisState({ url, report: () => {}, ...more }));

/** This Redis, a connection to it, and a tenant that no other test uses. */
async function connected(it: Redis) {
  return { it, state: await stateIn(it), tenant: newTenant() };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const never = new AbortController().signal;

const place = (tenant: string) => ({ tenant, reader: 'reader', collection: 'quote' });
const copyOf = (tenant: string) => `cpq:{${tenant}}:collection:reader:quote:${version}`;
const reading = (value: unknown) => ({ value, ageMs: 0, keepMs: 60_000 });

function collectionsOf(state: State) {
  if (!state.collections) throw new Error('nothing is shared');
  return state.collections;
}

/** Until the process that holds the lock has renewed it: a lock that is not renewed has less time left at each look. */
async function untilRenewed(it: Redis, lock: string): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  const isRenewed = async () => {
    const leftMs = Number((await it.ask('PTTL', lock)).slice(1).split('\r')[0]);
    const isMore = leftMs > least;
    least = Math.min(least, leftMs);
    return isMore;
  };
  await until(isRenewed).toBe(true);
}

/** Gives every key another type, as another program would that uses the same names. */
async function replaceKeys(it: Redis): Promise<number> {
  const names = (await it.ask('KEYS', 'cpq:*')).match(/cpq:\S+/g) ?? [];
  for (const name of names) {
    const isList = (await it.ask('TYPE', name)).includes('list');
    await it.ask('DEL', name);
    await it.ask(...(isList ? ['SET', name, 'theirs'] : ['RPUSH', name, 'theirs']));
  }
  return names.length;
}

describeWith('redis', 'keys of another type in Redis', () => {
  test('stop neither lists nor briefs, and are named where nothing can be answered', async () => {
    const it = await startRedis();
    const upstream = closing(await startUpstream());
    const env = {
      CPQ_REDIS_URL: it.url.href,
      CPQ_FRESH_SECONDS: '1',
      CPQ_WEBHOOK_SECRET: webhookSecret,
    };
    const server = await open({ at: upstream, ...everything, env });
    await deliver(webhooksAt(server.url ?? '', 'default'), { event: 'quote.ordered' });
    const readings = ['cpq_list_companies', 'cpq_brief_pipeline', 'cpq_brief_quotes'];
    for (const name of [...readings, 'cpq_list_changes', 'cpq_list_events'])
      await server.call(name);
    expect(await replaceKeys(it)).toBeGreaterThan(5);
    await pause(1_100);
    for (const name of readings) expect((await server.call(name)).text).not.toBe('');
    const changes = await server.ask('cpq_list_changes');
    const events = await server.ask('cpq_list_events');
    for (const { text } of [changes, events]) expect(text).not.toContain('went wrong');
    expect(events.text).toContain(
      'Redis reports WRONGTYPE: give this server a database of its own',
    );
    const refused = await deliver(webhooksAt(server.url ?? '', 'default'), { event: 'quote.sent' });
    expect(refused.status).toBe(503);
  });
});

describeWith('redis', 'collections in Redis', () => {
  test('leave no key of a tenant that is forgotten', async () => {
    const { it, state, tenant } = await connected(await redis());
    const load = async () => reading({ records: [] });
    await collectionsOf(state).getOrLoad(place(tenant), 0, load, never);
    await state.bus.publish(tenant, { collection: 'quote' });
    await state.remove((await state.stored()).filter((part) => part.tenant === tenant));
    expect(await it.ask('KEYS', `cpq:{${tenant}}:*`)).toMatch(/^\*0\s/);
  });

  test('are kept unless the setting is off, or the tenant is embedded', async () => {
    const it = await startRedis();
    const upstream = closing(await startUpstream());
    const address: Address = { baseUrl: upstream.url, key: 'any-key' };
    const keptBy = async (at: Address | 'embedded', more: Environment) => {
      const env = { CPQ_REDIS_URL: it.url.href, ...more };
      const server = await open({ at, ...everything, env });
      await server.call('cpq_brief_pipeline');
      const names = await it.ask('KEYS', 'cpq:*:collection*');
      await it.ask('FLUSHALL');
      return names.includes('collection');
    };
    expect(await keptBy(address, {})).toBe(true);
    expect(await keptBy(address, { CPQ_KEEP_COLLECTIONS: 'off' })).toBe(false);
    expect(await keptBy('embedded', {})).toBe(false);
  });
});

describeWith('redis', 'a long journal in Redis', () => {
  test('has each entry once', async () => {
    const journal = (await stateIn(await redis())).journal(newTenant());
    const all = Array.from({ length: 2_001 }, (_, at) => at);
    await Promise.all(all.map((at) => journal.append({ at })));
    const { entries } = await journal.read();
    expect(entries.map(({ at }) => at)).toEqual(all);
  });
});

const compressed = (text: string): Buffer =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

/** Sets a field of a hash to bytes that are no text. */
const writeBytes = ({ ask }: Redis, key: string, field: string, value: Buffer) => {
  const script = `redis.call('HSET', KEYS[1], ARGV[1], (ARGV[2]:gsub('..', function(hex)
    return string.char(tonumber(hex, 16)) end)))`;
  return ask('EVAL', script, '1', key, field, value.toString('hex'));
};

/** Gets the quotes of a tenant, with this value if they have to be read. */
const quotesOf = async (state: State, tenant: string, value: unknown): Promise<unknown> => {
  const read = async () => reading(value);
  // Longer than a test may take: a damaged copy that is not removed would be waited for until it is too old.
  return (await collectionsOf(state).getOrLoad(place(tenant), 600_000, read, never)).value;
};

describeWith('redis', 'a copy of a collection in Redis', () => {
  test('is compressed, and read again where it is damaged or would fill the memory', async () => {
    const { it, state, tenant } = await connected(await redis());
    const copy = copyOf(tenant);
    const records = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `Quote ü ${id}` }));
    await quotesOf(state, tenant, records);
    const size = await it.ask('HSTRLEN', copy, 'body');
    expect(Number(size.slice(1).split('\r')[0])).toBeLessThan(JSON.stringify(records).length / 4);
    await it.ask('HSET', copy, 'body', 'damaged');
    expect(await quotesOf(state, tenant, 'second')).toBe('second');
    expect(await quotesOf(state, tenant, 'third')).toBe('second');
    await writeBytes(it, copy, 'body', compressed(`"${'-'.repeat(300_000_000)}"`));
    expect(await quotesOf(state, tenant, 'fourth')).toBe('fourth');
  });

  test('is not replaced by a reading that began before a change', async () => {
    const it = await redis();
    const [one, other, tenant] = [await stateIn(it), await stateIn(it), newTenant()];
    const slow = async () => {
      await other.bus.publish(tenant, { collection: 'quote' });
      expect(await quotesOf(other, tenant, 'after')).toBe('after');
      return reading('before');
    };
    const first = await collectionsOf(one).getOrLoad(place(tenant), 600_000, slow, never);
    expect([first.value, await quotesOf(one, tenant, 'again')]).toEqual(['before', 'after']);
  });
});

describeWith('redis', 'damaged values in Redis', () => {
  test('of the inbox hide no other event of the page', async () => {
    const { it, state, tenant } = await connected(await redis());
    const ids = ['plain', 'bytes', 'other JSON', 'deleted', 'whole'];
    for (const id of ids)
      await state.inbox(tenant).add({ id, at: 1_000, subject: 'quote', event: id, body: '{}' });
    const key = `cpq:{${tenant}}:inbox:events`;
    await it.ask('HSET', key, 'plain', '{"id":');
    await it.ask('HSET', key, 'bytes', '\u0001no JSON');
    await it.ask('HSET', key, 'other JSON', '[]');
    await it.ask('HDEL', key, 'deleted');
    const { rows, total } = await state.inbox(tenant).list(() => true, { from: 0, size: 9 });
    const index = (id: string) => ({ id, at: 1_000, subject: 'quote', event: id });
    expect(rows.map(({ event }) => event)).toEqual([
      { ...index('whole'), body: '{}' },
      ...['deleted', 'other JSON', 'bytes', 'plain'].map((id) => ({ ...index(id), body: '' })),
    ]);
    expect(total).toBe(5);
  });
});

describeWith('redis', 'a shared reading in Redis', () => {
  test('is taken over by the next process when the first one dies', async () => {
    const it = await redis();
    const [one, other] = [await stateIn(it, { lockMs: 300 }), await stateIn(it, { lockMs: 300 })];
    const tenant = newTenant();
    const began = hold();
    const load = () => {
      began.release();
      return new Promise<never>(() => {});
    };
    void collectionsOf(one).getOrLoad(place(tenant), 60_000, load, never);
    await began.held;
    // Like a killed process, it neither releases nor renews the lock.
    await one.close();
    expect(await quotesOf(other, tenant, 'taken over')).toBe('taken over');
  });

  test('is not taken over from a slow process', async () => {
    const it = await redis();
    const [one, other] = [
      await stateIn(it, { lockMs: 3_000 }),
      await stateIn(it, { lockMs: 3_000 }),
    ];
    const tenant = newTenant();
    let reads = 0;
    const read = async () => {
      reads += 1;
      await untilRenewed(it, `cpq:{${tenant}}:reading:reader:quote:0`);
      return reading('slow');
    };
    const both = await Promise.all(
      [one, other].map((state) =>
        collectionsOf(state).getOrLoad(place(tenant), 60_000, read, never),
      ),
    );
    expect(both.map(({ value }: SharedReading) => value)).toEqual(['slow', 'slow']);
    expect(reads).toBe(1);
  });
});

const rule = { limit: 40, windowMs: 600_000, reserve: 0 };

async function takeAll(state: State, key: string, most = 100): Promise<number> {
  let taken = 0;
  while (taken < most && (await state.rates.take(key, rule, Date.now())).taken) taken += 1;
  return taken;
}

describeWith('redis', 'the rate budget in Redis', () => {
  test('uses the clock of Redis, not those of the processes', async () => {
    const it = await redis();
    const [one, other] = [await stateIn(it), await stateIn(it)];
    const key = newTenant();
    const hour = 3_600_000;
    let taken = 0;
    for (let at = 0; at < 50; at++) {
      const ahead = await one.rates.take(key, rule, Date.now() + hour);
      const behind = await other.rates.take(key, rule, Date.now() - hour);
      taken += Number(ahead.taken) + Number(behind.taken);
    }
    expect(taken).toBe(40);
  });

  test('is divided among the processes while Redis is unavailable', async () => {
    const it = await startRedis();
    const states = await Promise.all(Array.from({ length: 4 }, () => stateIn(it)));
    const key = newTenant();
    let taken = 0;
    for (const state of states) taken += await takeAll(state, key, 5);
    expect(taken).toBe(20);
    // Every replica knows the remaining budget.
    for (const state of states) await state.rates.correct(key, rule, 20, Date.now());
    await it.kill();
    for (const state of states) {
      const own = await takeAll(state, key);
      expect(own).toBeGreaterThan(0);
      taken += own;
    }
    expect(taken).toBeLessThanOrEqual(40);
    for (const state of states) {
      expect((await state.rates.take(key, rule, Date.now())).taken).toBe(false);
    }
  });

  test('is shared again when Redis returns', async () => {
    const it = await startRedis();
    const states = await Promise.all(Array.from({ length: 4 }, () => stateIn(it)));
    const key = newTenant();
    let taken = 0;
    for (const state of states) taken += await takeAll(state, key, 3);
    await it.kill();
    await it.start();
    for (const state of states) await until(async () => (await state.health()).ok).toBe(true);
    for (const state of states) taken += await takeAll(state, key);
    expect(taken).toBe(40);
  });
});

describeWith('redis', 'a lock in Redis', () => {
  test('is released when its process dies, and not taken from a slow one', async () => {
    const it = await redis();
    const [one, other, third] = [
      await stateIn(it, { lockMs: 3_000 }),
      await stateIn(it, { lockMs: 3_000 }),
      await stateIn(it, { lockMs: 3_000 }),
    ];
    const name = newTenant();
    const [first, second] = [hold(), hold()];
    void one.runExclusive(name, () => {
      first.release();
      return new Promise(() => {});
    });
    await first.held;
    await one.close();
    const order: string[] = [];
    const slow = other.runExclusive(name, async () => {
      second.release();
      await untilRenewed(it, `cpq:{${shortHash(name)}}:lock`);
      order.push('slow');
    });
    await second.held;
    await Promise.all([slow, third.runExclusive(name, async () => order.push('next'))]);
    expect(order).toEqual(['slow', 'next']);
  });

  test('is known to be lost where another process has it', async () => {
    const { it, state, tenant: name } = await connected(await redis());
    const held = await state.runExclusive(name, async (isHeld) => {
      const before = await isHeld();
      await it.ask('SET', `cpq:{${shortHash(name)}}:lock`, 'of another process');
      return [before, await isHeld()];
    });
    expect(held).toEqual([true, false]);
  });
});

const refusals = [
  ['OOM', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
  ['READONLY', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
] as const;

describeWith('redis', 'without Redis', () => {
  test('journal, claims, inbox and locks fail, and health reports it', async () => {
    const it = await startRedis();
    const told: string[] = [];
    const state = await stateIn(it, { report: (event) => told.push(event) });
    const tenant = newTenant();
    expect(await state.health()).toEqual({ kind: 'redis', ok: true });
    await state.journal(tenant).append({ at: 1 });
    const secret = await state.secret();
    await state.rates.block(tenant, Date.now() + 60_000);
    await it.kill();
    const lost = { name: 'StateUnavailable' };
    await expect(state.journal(tenant).append({ at: 2 })).rejects.toMatchObject(lost);
    await expect(state.journal(tenant).read()).rejects.toMatchObject(lost);
    await expect(state.claim('a', Date.now() + 1_000)).rejects.toMatchObject(lost);
    await expect(state.runExclusive('a', async () => 'done')).rejects.toMatchObject(lost);
    const event = { id: 'e', subject: 'quote', event: 'updated', body: '{}' };
    await expect(state.inbox(tenant).add(event)).rejects.toMatchObject(lost);
    await expect(state.inbox(tenant).list(() => true, { from: 0, size: 1 })).rejects.toMatchObject(
      lost,
    );
    const { since, ...health } = await state.health();
    expect(health).toEqual({ kind: 'redis', ok: false, fault: 'unreachable' });
    expect(Date.parse(since ?? '')).toBeGreaterThan(0);
    // Sessions that it signed go on.
    expect(await state.secret()).toEqual(secret);
    // And so does a pause that the service asked for.
    expect((await state.rates.take(tenant, rule, Date.now())).taken).toBe(false);
    expect(await quotesOf(state, tenant, 'read here')).toBe('read here');

    await it.start();
    await until(async () => (await state.health()).ok).toBe(true);
    expect(await state.journal(tenant).read()).toEqual({ entries: [{ at: 1 }], damaged: 0 });
    expect(await state.inbox(tenant).add(event)).toBe('new');
    expect(told).toEqual(['shared state lost', 'shared state back']);
  });

  test('a process starts, and connects when Redis is available', async () => {
    const it = await startRedis();
    await it.kill();
    const state = await stateIn(it);
    expect((await state.health()).ok).toBe(false);
    expect((await state.rates.take(newTenant(), rule, Date.now())).taken).toBe(true);
    await it.start();
    await until(async () => (await state.health()).ok).toBe(true);
    expect(await state.claim('a', Date.now() + 1_000)).toBe(true);
  });

  test('Redis counts as lost while it is connected but does not answer', async () => {
    const { it, state } = await connected(await startRedis());
    it.freeze();
    await expect(state.claim('a', Date.now() + 60_000)).rejects.toMatchObject({
      name: 'StateUnavailable',
    });
    expect((await state.health()).ok).toBe(false);
    it.resume();
    await until(async () => (await state.health()).ok).toBe(true);
    await until(() => state.claim('b', Date.now() + 1).catch(() => false)).toBe(true);
  });

  for (const [how, refuse, allow] of refusals) {
    test(`nothing can be written while Redis answers ${how}`, async () => {
      const { it, state } = await connected(await startRedis());
      await it.ask(...refuse);
      await expect(state.journal('0123456789abcdef').append({ at: 1 })).rejects.toMatchObject({
        name: 'StateUnavailable',
        code: `Redis reports ${how}`,
      });
      expect(await state.health()).toMatchObject({ ok: false, fault: 'unwritable' });
      expect((await state.rates.take(newTenant(), rule, Date.now())).taken).toBe(true);
      await it.ask(...allow);
      await until(async () => (await state.health()).ok).toBe(true);
      expect(await state.claim('a', Date.now() + 60_000)).toBe(true);
    });
  }
});

/** Adds a user. @returns its address */
async function userOf(it: Redis, ...rules: string[]): Promise<URL> {
  await it.ask('ACL', 'SETUSER', 'team', 'on', '>canary0password', ...rules);
  return Object.assign(new URL(it.url), { username: 'team', password: 'canary0password' });
}

describeWith('redis', 'a user of Redis without the right to publish', () => {
  test('is reported at the start; events are refused, not stored, until it has the right', async () => {
    const it = await startRedis();
    const url = await userOf(it, 'resetchannels', '~cpq:*', '+@all', '-@dangerous');
    const report = vi.fn();
    const state = await stateIn({ ...it, url }, { report });
    const code = expect.stringMatching(/^Redis reports NOPERM: its user needs the rule .*&cpq:\*/);
    expect(report.mock.calls).toEqual([['state cannot be written', { name: 'updates', code }]]);
    const tenant = newTenant();
    const add = () => {
      const event = { id: 'e', subject: 'quote', event: 'updated', body: '{}' };
      return state.inbox(tenant).add(event, { collection: 'quote' });
    };
    await expect(add()).rejects.toMatchObject({ code });
    await expect(add()).rejects.toMatchObject({ code });
    expect(await state.health()).toMatchObject({ ok: false, fault: 'unwritable' });
    await it.ask('ACL', 'SETUSER', 'team', '&cpq:*');
    expect((await state.health()).ok).toBe(true);
    expect(await add()).toBe('new');
    const heard = vi.fn();
    state.bus.subscribe(tenant, heard);
    await (await stateIn(it)).bus.publish(tenant, { collection: 'quote' });
    await until(() => heard.mock.calls).toEqual([[{ collection: 'quote' }]]);
  });
});

describeWith('redis', 'a slow Redis or a stalled process', () => {
  test('an event stored without an answer is not stored again', async () => {
    const { it, state, tenant } = await connected(await startRedis());
    const heard: unknown[] = [];
    state.bus.subscribe(tenant, (update) => heard.push(update));
    it.freeze();
    const event = { id: 'e', subject: 'quote', event: 'updated', body: '{}' };
    const adding = state.inbox(tenant).add(event, { collection: 'quote' });
    await expect(adding).rejects.toMatchObject({ name: 'StateUnavailable' });
    expect(heard).toEqual([]);
    it.resume();
    await until(() => heard).toEqual(['missed']);
    expect(await state.inbox(tenant).add(event, { collection: 'quote' })).toBe('known');
  });

  test('a process that was suspended reads the answer instead of reporting a timeout', async () => {
    const it = await redis();
    const told: string[] = [];
    const state = await stateIn(it, { report: (event) => told.push(event) });
    const claiming = state.claim(newTenant(), Date.now() + 60_000);
    // The command is sent first; then this process blocks for longer than the timeout.
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    expect(await claiming).toBe(true);
    expect(told).toEqual([]);
  });
});

describeWith('redis', 'after Redis was lost', () => {
  test('a subscriber is told about missed updates after reconnecting', async () => {
    const it = await startRedis();
    const [one, other] = [await stateIn(it), await stateIn(it)];
    const tenant = newTenant();
    const heard: unknown[] = [];
    one.bus.subscribe(tenant, (update) => heard.push(update));
    await it.kill();
    await it.start();
    await until(() => heard).toEqual(['missed']);
    await until(async () => (await other.health()).ok).toBe(true);
    await other.bus.publish(tenant, { collection: 'quote' });
    await until(() => heard.at(-1)).toEqual({ collection: 'quote' });
  });

  test('what could not be published meanwhile is published', async () => {
    const { it, state, tenant } = await connected(await startRedis());
    await it.kill();
    await expect(state.bus.publish(tenant, { collection: 'quote' })).rejects.toThrow();
    await it.start();
    await until(async () => (await state.health()).ok).toBe(true);
    await until(() => it.ask('GET', `cpq:{${tenant}}:generation:quote`)).toMatch(/^\$1\s+1\s/);
  });

  test('answers of persons, of which there may be any number, are not published later', async () => {
    const sent: unknown[] = [];
    let isLost = true;
    const runScript = async (_: string, keys: readonly string[]) => {
      if (isLost) throw new StateUnavailable('lost');
      sent.push(keys);
    };
    const bus = redisBus({ runScript, listen: async () => {} } as never, 'one', () => {});
    for (const update of [{ answer: { to: 'a question', result: {} } }, { collection: 'quote' }])
      await expect(bus.publish('tenant', update)).rejects.toThrow();
    isLost = false;
    await bus.listen();
    expect(sent).toEqual([[expect.stringContaining('generation:quote')]]);
  });

  test('what Redis refused after the reconnect, too, is published once it accepts it', async () => {
    const { it, state, tenant } = await connected(await startRedis());
    const heard: unknown[] = [];
    state.bus.subscribe(tenant, (update) => heard.push(update));
    await it.ask('CONFIG', 'SET', 'min-replicas-to-write', '1');
    await expect(state.bus.publish(tenant, { collection: 'quote' })).rejects.toThrow();
    for (const type of ['normal', 'pubsub']) await it.ask('CLIENT', 'KILL', 'TYPE', type);
    await until(() => heard.at(-1)).toBe('missed');
    expect((await state.health()).ok).toBe(false);
    await it.ask('CONFIG', 'SET', 'min-replicas-to-write', '0');
    await until(async () => (await state.health()).ok).toBe(true);
    expect(await it.ask('GET', `cpq:{${tenant}}:generation:quote`)).toMatch(/^\$1\s+1\s/);
  });

  test('the secret that signs tokens stays the same, even if Redis lost it', async () => {
    const { it, state } = await connected(await startRedis());
    const before = Buffer.from(await state.secret());
    await it.kill();
    await it.start({ empty: true });
    await until(async () => (await state.health()).ok).toBe(true);
    expect(Buffer.from(await state.secret())).toEqual(before);
    expect(Buffer.from(await (await stateIn(it)).secret())).toEqual(before);
  });
});

/** How to read what is stored under each kind of name. */
const readers: Record<string, (name: string) => string[]> = {
  string: (name) => ['GET', name],
  hash: (name) => ['HGETALL', name],
  stream: (name) => ['XRANGE', name, '-', '+'],
  zset: (name) => ['ZRANGE', name, '0', '-1'],
  list: (name) => ['LRANGE', name, '0', '-1'],
  set: (name) => ['SMEMBERS', name],
};

async function everythingIn(redis: Redis): Promise<string> {
  const names = (await redis.ask('KEYS', '*')).match(/^cpq:.+$/gm) ?? [];
  const parts = await Promise.all(
    names.map(async (name) => {
      const [, kind = ''] = /^\+(\w+)/.exec(await redis.ask('TYPE', name)) ?? [];
      const reader = readers[kind];
      if (!reader) throw new Error(`${name} is a ${kind}`);
      return `${name}\n${await redis.ask(...reader(name))}`;
    }),
  );
  return parts.join('\n');
}

describeWith('redis', 'a Redis that may delete what it has', () => {
  test('is reported, by doctor too', async () => {
    const it = await startRedis();
    await it.ask('CONFIG', 'SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');
    const report = vi.fn();
    await stateIn(it, { report });
    const remedy = 'set maxmemory-policy noeviction';
    const facts = { policy: 'allkeys-lru', remedy };
    expect(report.mock.calls).toEqual([['shared state may be lost', facts]]);
    const doctor = await runHere(['doctor', '--sandbox'], {
      CPQ_REDIS_URL: it.url.href,
      CPQ_AUTH: 'oauth',
      CPQ_PUBLIC_URL: 'http://127.0.0.1/mcp',
      CPQ_OAUTH_ISSUER: `http://127.0.0.1:${it.url.port}`,
    });
    const found = doctor.stdout.replaceAll(/\s+/g, ' ');
    expect(found).toContain(`shared state may be lost, allkeys-lru, ${remedy}`);
    expect(found).toContain(
      'FAIL identity provider the metadata of the identity provider names no',
    );
    // Without a limit it deletes nothing.
    await it.ask('CONFIG', 'SET', 'maxmemory', '0');
    const later = vi.fn();
    await stateIn(it, { report: later });
    expect(later).not.toHaveBeenCalledWith('shared state may be lost', expect.anything());
  });
});

describeWith('redis', 'a process with Redis', () => {
  test('ends when its stdin does', async () => {
    const env = { CPQ_SANDBOX: '1', CPQ_REDIS_URL: (await redis()).url.href };
    expect(await run(['stdio'], env)).toMatchObject({ status: 0, stderr: '' });
  });
});

describeWith('redis', 'secrets and warnings', () => {
  test('the journal is in Redis, and no key', async () => {
    const it = await startRedis();
    const address = addressIn(await startSandbox({ scale: 0.1 }));
    const env = { CPQ_REDIS_URL: it.url.href, CPQ_CONSENT: 'token' };
    const { ask, call } = await open({ at: address, ...everything, env });
    await call('cpq_list_categories', {});
    const args = { external_id: 'KEPT-1', create: true, name: 'Kept in Redis' };
    const { data } = await ask('cpq_upsert_opportunity', args);
    await call('cpq_upsert_opportunity', { ...args, confirm: data.confirm });
    const kept = await everythingIn(it);
    expect(kept).toContain('Kept in Redis');
    expect(kept).not.toContain(address.key);
  });

  test('no token is signed with a damaged secret', async () => {
    const { it, state } = await connected(await startRedis());
    await it.ask('SET', 'cpq:secret', 'null');
    await expect(state.secret()).rejects.toMatchObject({ name: 'StateUnavailable' });
    await it.ask('DEL', 'cpq:secret');
    expect(Buffer.from(await state.secret())).toHaveLength(32);
  });

  test('neither address nor password appear in Redis or in logs', async () => {
    const password = 'canary0redis0password';
    const it = await startRedis(password);
    const told: string[] = [];
    const tell = (event: string, facts: Record<string, unknown>) =>
      told.push(JSON.stringify({ event, ...facts }));
    const state = await stateIn(it, { report: tell });
    const address = 'https://tenant.example.com';
    await state.rates.take(address, rule, Date.now());
    await state.rates.correct(address, rule, 10, Date.now());
    await state.inbox(newTenant()).add({ id: 'e', subject: 'quote', event: 'updated', body: '{}' });
    await state.secret();
    const keys = await it.ask('KEYS', '*');
    expect(keys).toMatch(/cpq:\{[0-9a-f]{16}\}:rate:times/);
    expect(
      keys.split('\r\n').filter((line) => /^[^*$]/.test(line) && !line.startsWith('cpq:')),
    ).toEqual(['+OK']);
    expect(keys).not.toContain('tenant.example');
    await it.kill();
    const error = await state.claim('a', Date.now() + 1_000).catch((it: unknown) => it);
    expect(error).toMatchObject({ name: 'StateUnavailable' });
    await until(() => told).toHaveLength(1);
    expect(`${told}${String(error)}${JSON.stringify(await state.health())}`).not.toContain(
      password,
    );
  });

  test('a wrong password is reported at once, without the password', async () => {
    const it = await startRedis('canary0redis0password');
    const url = new URL(it.url);
    url.password = 'canary0wrong0password';
    const opening = redisState({ url, report: () => {} });
    const error = await opening.then(
      () => new Error('it was let in'),
      (refused: Error) => refused,
    );
    expect(error.message).toMatch(/^Redis at 127\.0\.0\.1:\d+ rejects the connection: WRONGPASS/);
    expect(`${error.message}${error.stack}`).not.toContain('canary0wrong0password');
  });

  test('a password that was changed is reported, once, after the loss of the connection', async () => {
    const it = await startRedis();
    const url = await userOf(it, '~*', '&*', '+@all');
    const report = vi.fn();
    await stateIn({ ...it, url }, { report });
    const events = () => report.mock.calls.map(([event, { code }]) => [event, code]);
    await it.ask('ACL', 'SETUSER', 'team', '<canary0password');
    await it.ask('CLIENT', 'KILL', 'USER', 'team');
    await until(events).toContainEqual(['shared state lost', 'WRONGPASS']);
    await it.ask('ACL', 'SETUSER', 'team', '>canary0password');
    await until(() => events().at(-1)).toEqual(['shared state back', undefined]);
    expect(events().filter(([, code]) => code === 'WRONGPASS')).toHaveLength(1);
  });

  test('a server over stdio does not start with a wrong password', async () => {
    const it = await startRedis('canary0redis0password');
    const url = new URL(it.url);
    url.password = 'canary0wrong0password';
    const address = { CPQ_BASE_URL: 'http://127.0.0.1:9', CPQ_API_KEY: 'key' };
    const { status, stderr } = await run(['stdio'], { ...address, CPQ_REDIS_URL: url.href });
    expect(status).toBe(1);
    expect(stderr).toContain('WRONGPASS');
    expect(stderr).not.toContain('canary0wrong0password');
  });
});
