import { randomBytes } from 'node:crypto';
import { parseObject } from '../../values.ts';
import { exclusiveRunner } from '../lock.ts';
import {
  defaultInboxLimits,
  type InboxLimits,
  ifUnavailable,
  type Journal,
  type SnapshotStore,
  type State,
  StateUnavailable,
  type StoredPart,
} from '../port.ts';
import { shortHash } from '../short-hash.ts';
import { writeStatus } from '../write-status.ts';
import { redisBus } from './bus.ts';
import { redisCollections } from './collections.ts';
import { redisInbox } from './inbox.ts';
import { keyOf, type LinkOptions, listReply, openLink, type RedisLink } from './link.ts';
import { defaultLockMs, heldLock, newToken, setOnce } from './lock.ts';
import { redisRates } from './rates.ts';

export interface RedisOptions extends LinkOptions {
  inbox?: InboxLimits;
  lockMs?: number;
}

/**
 * State that several processes share in one Redis (or Valkey) database. If Redis cannot be reached, the state
 * becomes available later.
 * @throws Error when Redis rejects the user or password
 */
export async function redisState(options: RedisOptions): Promise<State> {
  const { inbox = defaultInboxLimits, lockMs = defaultLockMs } = options;
  const link = await openLink(options);
  const process = newToken();
  const bus = redisBus(link, process, options.report);
  const writes = writeStatus({
    report: options.report,
    isOutage: () => link.lostSince !== undefined,
    async probe() {
      await link.runScript(probeScript, [keyOf(shortHash(process), 'probe')], []);
      await bus.listen();
    },
  });
  // The next reconnect, or the next look at the health, tries again.
  const listen = () => writes.watch('updates', bus.listen()).catch(ifUnavailable(() => {}));
  link.onReconnect(() => {
    // Redis accepted a write before the reconnect was reported.
    writes.reset();
    void listen();
  });
  await listen();
  await checkPolicy(link, options.report);
  return {
    rates: redisRates(link),
    async claim(name, expiresAt) {
      const ms = Math.max(1, expiresAt - Date.now());
      return setOnce(link, keyOf(shortHash(name), 'once'), '1', ms);
    },
    bus,
    collections: redisCollections(link, lockMs),
    inbox: (tenant) => writes.inbox(`inbox ${tenant}`, redisInbox(link, bus, tenant, inbox)),
    health: async () =>
      link.lostSince
        ? { kind: 'redis', ok: false, fault: 'unreachable', since: link.lostSince.toISOString() }
        : writes.health('redis'),
    secret: sharedSecret(link),
    journal: (tenant) =>
      writes.journal(`journal ${tenant}`, redisJournal(link, keyOf(tenant, 'journal'))),
    snapshots: (tenant) => redisSnapshots(link, tenant),
    stored: () => redisStored(link),
    async remove(parts) {
      for (const { place } of parts) await link.send(['UNLINK', place]);
    },
    runExclusive: exclusiveRunner(async (name) => {
      const [key, token] = [keyOf(shortHash(name), 'lock'), newToken()];
      const isLocked = await setOnce(link, key, token, lockMs);
      return isLocked ? heldLock(link, key, token, lockMs) : undefined;
    }),
    close: () => link.close(),
  };
}

/** Reports that Redis may delete what nobody else has, if it says so. */
async function checkPolicy(link: RedisLink, report: RedisOptions['report']): Promise<void> {
  const memory = String(await link.send(['INFO', 'memory']).catch(ifUnavailable(() => '')));
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(memory) ?? [];
  if (policy === 'noeviction' || /^maxmemory:0\s/m.test(memory)) return;
  report('shared state may be lost', { policy, remedy: 'set maxmemory-policy noeviction' });
}

/** Needs what journals and inboxes need: memory, a Redis that is no replica, the right to run scripts and to publish. KEYS: any. */
const probeScript = `
redis.call('PUBLISH', KEYS[1], '{}')
redis.call('XADD', KEYS[1], '*', 'entry', '')
return redis.call('DEL', KEYS[1])
`;

const isSecret = /^[0-9a-f]{64}$/;

/** Created by the first process. Each process remembers it, so that it can be restored if Redis loses it. */
function sharedSecret(link: RedisLink): () => Promise<Uint8Array> {
  const key = 'cpq:secret';
  let known = randomBytes(32).toString('hex');
  let isShared = false;
  const read = async () => {
    await link.send(['SET', key, known, 'NX']);
    const stored = String(await link.send(['GET', key]));
    if (!isSecret.test(stored)) throw new StateUnavailable('Redis has no valid signing secret');
    known = stored;
    isShared = true;
  };
  return async () => {
    await read().catch((error: unknown) => {
      // Legacy sessions, and so reads, go on while Redis is away or full.
      if (!isShared) throw error;
    });
    return Buffer.from(known, 'hex');
  };
}

const batchSize = 1_000;

/** A journal in a Redis stream, which is never trimmed and never expires. */
const redisJournal = (link: RedisLink, key: string): Journal => ({
  async append(entry) {
    await link.send(['XADD', key, '*', 'entry', JSON.stringify(entry)]);
  },
  async read() {
    const entries: Record<string, unknown>[] = [];
    let damaged = 0;
    for (let after = '-'; ; ) {
      const range = ['XRANGE', key, after, '+', 'COUNT', String(batchSize)];
      const batch = listReply(await link.send(range)).map(listReply);
      for (const [, fields] of batch) {
        const entry = parseObject(String(listReply(fields)[1]));
        if (entry) entries.push(entry);
        else damaged += 1;
      }
      const last = batch.at(-1);
      if (!last || batch.length < batchSize) return { entries, damaged };
      after = `(${String(last[0])}`;
    }
  },
});

/** What the keys of tenants contain. The others expire, and contain no data: rates, locks, used consents. */
const kinds: Readonly<Record<string, StoredPart['kind']>> = {
  journal: 'changes',
  inbox: 'events',
  history: 'history',
  collection: 'collections',
  generation: 'collections',
};

async function redisStored(link: RedisLink): Promise<StoredPart[]> {
  const parts = new Map<string, StoredPart>();
  let cursor = '0';
  do {
    const scan = ['SCAN', cursor, 'MATCH', 'cpq:{*}:*', 'COUNT', '1000'];
    const [next, keys] = listReply(await link.send(scan));
    for (const place of listReply(keys).map(String)) {
      const [, tenant, part = ''] = /^cpq:\{(.+?)\}:(\w+)/.exec(place) ?? [];
      const kind = kinds[part];
      if (tenant !== undefined && kind) parts.set(place, { tenant, kind, place });
    }
    cursor = String(next);
  } while (cursor !== '0');
  return [...parts.values()].sort((one, other) => (one.place < other.place ? -1 : 1));
}

/** Snapshots of a tenant in a Redis hash, which never expires: one field for each name. */
function redisSnapshots(link: RedisLink, tenant: string): SnapshotStore {
  const key = keyOf(tenant, 'history');
  return {
    names: async () => ((await link.send(['HKEYS', key])) as string[]).sort(),
    async read(name) {
      const value = (await link.sendForBytes(['HGET', key, name])) as Buffer | null;
      return value ?? undefined;
    },
    async write(name, value) {
      await link.send(['HSET', key, name, value]);
    },
    async remove(names) {
      if (names.length > 0) await link.send(['HDEL', key, ...names]);
    },
  };
}
