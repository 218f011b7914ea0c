import { randomBytes } from 'node:crypto';
import { KeyedMutex } from './keyed-mutex.ts';
import {
  defaultInboxLimits,
  type Health,
  type InboxLimits,
  type OnceSet,
  type State,
  StateUnavailable,
} from './port.ts';
import { RedisBus } from './redis-bus.ts';
import { RedisCollections } from './redis-collections.ts';
import { RedisInbox } from './redis-inbox.ts';
import { RedisJournal } from './redis-journal.ts';
import { hashOf, keyOf } from './redis-keys.ts';
import { type LinkOptions, RedisLink } from './redis-link.ts';
import { defaultLockMs, newToken, runWithLock, tryLock } from './redis-lock.ts';
import { RedisRates } from './redis-rates.ts';
import { WriteStatus } from './write-status.ts';

export interface RedisOptions extends LinkOptions {
  /** How many processes share it: while it is away each keeps to its share of a rate budget. */
  replicas: number;
  inbox?: InboxLimits;
  /** How long a lock outlives the process that held it. */
  lockMs?: number;
  /** How long processes tell what they sent while Redis was away, before they share a budget again. */
  settleMs?: number;
}

const maxLockWaitMs = 30_000;
const lockPollMs = 60;

/**
 * State that many processes share in one Redis (or Valkey) database.
 * @throws Error when it refuses this user or password; where it cannot be reached, it is waited for
 */
export async function redisState(options: RedisOptions): Promise<State> {
  const { replicas, inbox = defaultInboxLimits, lockMs = defaultLockMs, settleMs } = options;
  const link = await RedisLink.open(options);
  const process = newToken();
  const bus = new RedisBus(link, process);
  const sharing = { process, share: 1 / replicas };
  const mutex = new KeyedMutex();
  const advice = new ConfigurationAdvice(link);
  const writes = new WriteStatus(options.report, () => link.outage !== undefined);
  // It took a write before it counted as back.
  link.onReconnect(() => writes.reset());
  const inboxOf = (tenant: string) => new RedisInbox(link, bus, tenant, inbox);
  const journalOf = (tenant: string) => new RedisJournal(link, keyOf(tenant, 'journal'));
  return {
    rates: new RedisRates(link, settleMs === undefined ? sharing : { ...sharing, settleMs }),
    once: redisOnceSet(link),
    bus,
    collections: new RedisCollections(link, lockMs),
    inbox: (tenant) => writes.inbox(`inbox ${tenant}`, inboxOf(tenant)),
    health: () => healthOf(link, replicas, advice.notes, writes),
    secret: sharedSecret(link),
    journal: (tenant) => writes.journal(`journal ${tenant}`, journalOf(tenant)),
    // Those of this process wait for one another here, so that only one of them asks Redis.
    runExclusive: (name, work) =>
      mutex.runExclusive(name, () => withLock(link, name, lockMs, work)),
    close: () => link.close(),
  };
}

const redisOnceSet = (link: RedisLink): OnceSet => ({
  async claim(name, expiresAt) {
    const ms = String(Math.max(1, expiresAt - Date.now()));
    return (await link.send(['SET', keyOf(hashOf(name), 'once'), '1', 'NX', 'PX', ms])) !== null;
  },
});

/** Made by whoever comes first. Remembered, so that a Redis that lost it gets the same one back. */
function sharedSecret(link: RedisLink): () => Promise<Uint8Array> {
  const key = 'cpq:secret';
  let known: string | undefined;
  return async () => {
    const candidate = known ?? randomBytes(32).toString('hex');
    await link.send(['SET', key, candidate, 'NX']);
    known = String(await link.send(['GET', key]));
    return Buffer.from(known, 'hex');
  };
}

/** @throws StateUnavailable when Redis is away, or others are at it for too long */
async function withLock<T>(
  link: RedisLink,
  name: string,
  lockMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const key = keyOf(hashOf(name), 'alone');
  const token = newToken();
  const giveUpAt = Date.now() + maxLockWaitMs;
  while (!(await tryLock(link, key, token, lockMs))) {
    if (Date.now() > giveUpAt) throw new StateUnavailable('another process is at it for too long');
    await new Promise((resolve) => setTimeout(resolve, lockPollMs * (0.5 + Math.random())));
  }
  return runWithLock(link, key, token, lockMs, work);
}

function healthOf(
  { outage: lost }: RedisLink,
  replicas: number,
  advice: readonly string[],
  { failure }: WriteStatus,
): Health {
  if (!lost && failure) {
    const notes = [`The last write failed (${failure.code}).`, ...advice];
    const since = failure.since.toISOString();
    return { kind: 'redis', ok: false, fault: 'unwritable', since, notes };
  }
  if (!lost) return { kind: 'redis', ok: true, notes: [...advice] };
  const notes = [
    `${lost.reason}: this process keeps to 1/${replicas} of each rate budget and to collections of its own, takes no webhooks and writes nothing.`,
  ];
  const since = lost.since.toISOString();
  return { kind: 'redis', ok: false, fault: 'unreachable', since, notes };
}

/** What of the settings of Redis endangers what must last. */
class ConfigurationAdvice {
  readonly #link: RedisLink;
  notes: string[] = [];

  constructor(link: RedisLink) {
    this.#link = link;
    link.onReconnect(() => void this.#check());
    void this.#check();
  }

  async #check(): Promise<void> {
    const facts = await this.#link.send(['INFO']).catch(() => ''); // Not everyone may ask.
    const matches = (name: string, value: RegExp) =>
      new RegExp(`^${name}:(${value.source})\\r?$`, 'm').test(String(facts));
    this.notes = [
      ...(matches('aof_enabled', /0/)
        ? [
            'Redis keeps no append-only file: what it took since its last snapshot is lost if it ends. Set appendonly yes.',
          ]
        : []),
      ...(matches('maxmemory_policy', /allkeys-\w+/)
        ? ['Redis may evict the journal and the inbox. Set maxmemory-policy to noeviction.']
        : []),
    ];
  }
}
