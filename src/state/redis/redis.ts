import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { KeyedMutex } from '../keyed-mutex.ts';
import {
  defaultInboxLimits,
  type Health,
  type InboxLimits,
  type OnceSet,
  type State,
  StateUnavailable,
} from '../port.ts';
import { shortHash } from '../short-hash.ts';
import { WriteStatus } from '../write-status.ts';
import { RedisBus } from './bus.ts';
import { RedisCollections } from './collections.ts';
import { RedisInbox } from './inbox.ts';
import { redisJournal } from './journal.ts';
import { keyOf } from './keys.ts';
import { type LinkOptions, RedisLink } from './link.ts';
import { defaultLockMs, newToken, runWithLock, tryLock } from './lock.ts';
import { redisProfileStore } from './profile.ts';
import { RedisRates } from './rates.ts';
import { redisSnapshots, redisSnapshotTenants } from './snapshots.ts';

export interface RedisOptions extends LinkOptions {
  /** Number of processes: while Redis is unavailable, each uses its share of a rate budget. */
  replicas: number;
  inbox?: InboxLimits;
  /** Lifetime of a lock after the process that held it has died. */
  lockMs?: number;
  /** After an outage, the time in which processes report their requests before they share a budget again. */
  settleMs?: number;
}

const maxLockWaitMs = 30_000;
const lockPollMs = 60;

/**
 * State that several processes share in one Redis (or Valkey) database. If Redis cannot be reached, the state
 * becomes available later.
 * @throws Error when Redis rejects the user or password
 */
export async function redisState(options: RedisOptions): Promise<State> {
  const { replicas, inbox = defaultInboxLimits, lockMs = defaultLockMs, settleMs } = options;
  const link = await RedisLink.open(options);
  const process = newToken();
  const bus = new RedisBus(link, process, options.report);
  const sharing = { process, share: 1 / replicas };
  const mutex = new KeyedMutex();
  const advice = new ConfigurationAdvice(link);
  const writes = new WriteStatus(options.report, () => link.outage !== undefined);
  // Redis accepted a write before the reconnect was reported.
  link.onReconnect(() => writes.reset());
  return {
    rates: new RedisRates(link, settleMs === undefined ? sharing : { ...sharing, settleMs }),
    once: redisOnceSet(link),
    bus,
    collections: new RedisCollections(link, lockMs),
    inbox: (tenant) => writes.inbox(`inbox ${tenant}`, new RedisInbox(link, bus, tenant, inbox)),
    health: () => healthOf(link, replicas, advice.notes, writes),
    secret: sharedSecret(link),
    profile: (tenant) => redisProfileStore(link, keyOf(tenant, 'service')),
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

const redisOnceSet = (link: RedisLink): OnceSet => ({
  async claim(name, expiresAt) {
    const ms = String(Math.max(1, expiresAt - Date.now()));
    return (await link.send(['SET', keyOf(shortHash(name), 'once'), '1', 'NX', 'PX', ms])) !== null;
  },
});

const isSecret = /^[0-9a-f]{64}$/;

/** Created by the first process. Each process remembers it, so that it can be restored if Redis loses it. */
function sharedSecret(link: RedisLink): () => Promise<Uint8Array> {
  const key = 'cpq:secret';
  let known: string | undefined;
  return async () => {
    const candidate = known ?? randomBytes(32).toString('hex');
    await link.send(['SET', key, candidate, 'NX']);
    const stored = await link.send(['GET', key]);
    if (typeof stored !== 'string' || !isSecret.test(stored))
      throw new StateUnavailable('Redis has no valid signing secret');
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
  { outage }: RedisLink,
  replicas: number,
  advice: readonly string[],
  { failure }: WriteStatus,
): Health {
  if (outage) {
    const notes = [
      `${outage.reason}: this process uses 1/${replicas} of each rate budget and its own copies of collections, rejects webhooks and writes nothing.`,
    ];
    const since = outage.since.toISOString();
    return { kind: 'redis', ok: false, fault: 'unreachable', since, notes };
  }
  if (!failure) return { kind: 'redis', ok: true, notes: [...advice] };
  const notes = [`The last write failed (${failure.code}).`, ...advice];
  const since = failure.since.toISOString();
  return { kind: 'redis', ok: false, fault: 'unwritable', since, notes };
}

/** Warnings about settings of Redis that can lose stored data. */
class ConfigurationAdvice {
  readonly #link: RedisLink;
  notes: string[] = [];

  constructor(link: RedisLink) {
    this.#link = link;
    link.onReconnect(() => void this.#check());
    void this.#check();
  }

  async #check(): Promise<void> {
    const facts = await this.#link.send(['INFO']).catch(() => ''); // The user may lack the permission.
    const matches = (name: string, value: RegExp) =>
      new RegExp(`^${name}:(${value.source})\\r?$`, 'm').test(String(facts));
    this.notes = [
      ...(matches('aof_enabled', /0/)
        ? [
            'Redis writes no append-only file: if it stops, all data since its last snapshot is lost. Set appendonly yes.',
          ]
        : []),
      ...(matches('maxmemory_policy', /(?:allkeys|volatile)-[\w-]+/)
        ? [
            'Redis may evict stored data, such as received events and used consents. Set maxmemory-policy to noeviction.',
          ]
        : []),
    ];
  }
}
