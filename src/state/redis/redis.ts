import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { KeyedMutex } from '../keyed-mutex.ts';
import {
  defaultInboxLimits,
  type Health,
  type InboxLimits,
  type State,
  StateUnavailable,
} from '../port.ts';
import { shortHash } from '../short-hash.ts';
import { WriteStatus } from '../write-status.ts';
import { RedisBus } from './bus.ts';
import { redisCollections } from './collections.ts';
import { redisInbox } from './inbox.ts';
import { redisJournal } from './journal.ts';
import { keyOf, type LinkOptions, RedisLink } from './link.ts';
import { defaultLockMs, newToken, runWithLock, tryLock } from './lock.ts';
import { RedisRates } from './rates.ts';
import { redisSnapshots, redisSnapshotTenants } from './snapshots.ts';

export interface RedisOptions extends LinkOptions {
  /** Number of processes: while Redis is unavailable, each uses its share of a rate budget. */
  replicas: number;
  inbox?: InboxLimits;
  /** Lifetime of a lock after the process that held it has died. */
  lockMs?: number;
}

const maxLockWaitMs = 30_000;
const lockPollMs = 60;

/**
 * State that several processes share in one Redis (or Valkey) database. If Redis cannot be reached, the state
 * becomes available later.
 * @throws Error when Redis rejects the user or password
 */
export async function redisState(options: RedisOptions): Promise<State> {
  const { replicas, inbox = defaultInboxLimits, lockMs = defaultLockMs } = options;
  const link = await RedisLink.open(options);
  const process = newToken();
  const bus = new RedisBus(link, process, options.report);
  const mutex = new KeyedMutex();
  const advice = configurationAdvice(link);
  const writes = new WriteStatus(options.report, () => link.lostSince !== undefined);
  // Redis accepted a write before the reconnect was reported.
  link.onReconnect(() => writes.reset());
  await bus.start();
  return {
    rates: new RedisRates(link, process, 1 / replicas),
    async claim(name, expiresAt) {
      const ms = Math.max(1, expiresAt - Date.now());
      return tryLock(link, keyOf(shortHash(name), 'once'), '1', ms);
    },
    bus,
    collections: redisCollections(link, lockMs),
    inbox: (tenant) => writes.inbox(`inbox ${tenant}`, redisInbox(link, bus, tenant, inbox)),
    health: () => healthOf(link, replicas, advice(), writes),
    secret: sharedSecret(link),
    journal: (tenant) =>
      writes.journal(`journal ${tenant}`, redisJournal(link, keyOf(tenant, 'journal'))),
    snapshots: (tenant) => redisSnapshots(link, tenant),
    snapshotTenants: () => redisSnapshotTenants(link),
    // Calls of this process wait for each other here, so that only one of them polls Redis.
    runExclusive: (name, work) =>
      mutex.runExclusive(name, () => withLock(link, name, lockMs, work)),
    close: () => link.close(),
  };
}

const isSecret = /^[0-9a-f]{64}$/;

/** Created by the first process. Each process remembers it, so that it can be restored if Redis loses it. */
function sharedSecret(link: RedisLink): () => Promise<Uint8Array> {
  const key = 'cpq:secret';
  let known = randomBytes(32).toString('hex');
  return async () => {
    await link.send(['SET', key, known, 'NX']);
    const stored = String(await link.send(['GET', key]));
    if (!isSecret.test(stored)) throw new StateUnavailable('Redis has no valid signing secret');
    known = stored;
    return Buffer.from(known, 'hex');
  };
}

/** @throws StateUnavailable when Redis is unavailable, or another process holds the lock for too long */
async function withLock<T>(
  link: RedisLink,
  name: string,
  lockMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const key = keyOf(shortHash(name), 'lock');
  const token = newToken();
  const giveUpAt = Date.now() + maxLockWaitMs;
  while (!(await tryLock(link, key, token, lockMs))) {
    if (Date.now() > giveUpAt)
      throw new StateUnavailable('another process holds the lock for too long');
    await pause(lockPollMs * (0.5 + Math.random()));
  }
  return runWithLock(link, key, token, lockMs, work);
}

function healthOf(
  { lostSince }: RedisLink,
  replicas: number,
  advice: readonly string[],
  writes: WriteStatus,
): Health {
  if (lostSince) {
    const note = `Redis cannot be reached: this process uses 1/${replicas} of each rate budget and its own copies of collections, rejects webhooks and writes nothing.`;
    const since = lostSince.toISOString();
    return { kind: 'redis', ok: false, fault: 'unreachable', since, notes: [note] };
  }
  const health = writes.health('redis');
  return { ...health, notes: [...health.notes, ...advice] };
}

/** @returns warnings about settings of Redis that can lose stored data, as of the last connection */
function configurationAdvice(link: RedisLink): () => readonly string[] {
  let notes: string[] = [];
  const check = async () => {
    const facts = String(await link.send(['INFO']).catch(() => '')); // The user may lack the permission.
    notes = [];
    if (/^aof_enabled:0\r?$/m.test(facts)) notes.push(noLogAdvice);
    if (/^maxmemory_policy:(?:allkeys|volatile)-/m.test(facts)) notes.push(evictionAdvice);
  };
  link.onReconnect(() => void check());
  void check();
  return () => notes;
}

const noLogAdvice =
  'Redis writes no append-only file: if it stops, all data since its last snapshot is lost. Set appendonly yes.';
const evictionAdvice =
  'Redis may evict stored data, such as received events and used consents. Set maxmemory-policy to noeviction.';
