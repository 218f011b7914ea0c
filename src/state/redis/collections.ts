import { version } from '../../version.ts';
import { poll } from '../delay.ts';
import { decodeCollection, encodeCollection } from '../encoded-collection.ts';
import {
  type CollectionKey,
  ifUnavailable,
  type SharedCollections,
  type SharedReading,
} from '../port.ts';
import { generationKey, generationMs } from './bus.ts';
import { keyOf, listReply, nowScript, type RedisLink } from './link.ts';
import { defaultLockMs, heldLock, newToken } from './lock.ts';

/**
 * KEYS: generation, copy, lock. ARGV: maximum age in milliseconds, token, milliseconds of the lock. Returns one of:
 * `cached` with the copy; `locked`, this process has the lock, with the copy that is there; `wait`, another process has
 * it. Then the copy's age, 1 if it is of the current generation, and the generation. The lock's name contains the
 * generation, so no process waits for one that reads an outdated collection.
 */
const lookupScript = `${nowScript}
local generation = redis.call('GET', KEYS[1]) or '0'
local copy = redis.call('HMGET', KEYS[2], 'generation', 'asOf')
local age = copy[2] and now - copy[2] or -1
local current = copy[1] == generation and 1 or 0
local found = 'cached'
if current == 0 or age < 0 or age >= tonumber(ARGV[1]) then
  local lock = KEYS[3] .. ':' .. generation
  if not redis.call('SET', lock, ARGV[2], 'NX', 'PX', ARGV[3]) then return {'wait'} end
  found = 'locked'
end
return {found, redis.call('HGET', KEYS[2], 'body') or '', age, current, generation}
`;

/**
 * KEYS: generation, copy. ARGV: generation, body, age, milliseconds to keep, milliseconds of the generation, which must
 * outlive the copy. A copy of the current generation is not replaced by one of an earlier.
 */
const storeScript = `
local current = redis.call('GET', KEYS[1]) or '0'
if current ~= ARGV[1] and redis.call('HGET', KEYS[2], 'generation') == current then return 0 end
${nowScript}
local asOf = now - ARGV[3]
redis.call('HSET', KEYS[2], 'generation', ARGV[1], 'body', ARGV[2], 'asOf', asOf)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return redis.call('PEXPIRE', KEYS[2], ARGV[4])
`;

/** Collections that several processes share in Redis, compressed. */
export const redisCollections = (link: RedisLink, lockMs = defaultLockMs): SharedCollections => ({
  async getOrLoad(key, freshMs, load, signal) {
    const keys = [...collectionKeys(key), lockKey(key)];
    const token = newToken();
    const look = async () => {
      const reply = link.runScript(lookupScript, keys, [freshMs, token, lockMs]);
      const found = await reply.then(
        listReply,
        ifUnavailable(() => undefined),
      );
      // Without Redis, every process loads for itself.
      if (found === undefined) return load(undefined);
      const [what, body, age, isCurrent, generation] = found;
      const copy = async () => {
        const [ageMs, isOutdated] = [Number(age), isCurrent !== 1];
        if (!Buffer.isBuffer(body) || ageMs < 0) return undefined;
        const value = await decodeCollection(body).catch(() => undefined);
        return value === undefined ? undefined : { value, ageMs, isOutdated };
      };
      if (String(what) === 'wait') return undefined;
      if (String(what) === 'cached') {
        const cached = await copy();
        if (!cached) await link.send(['UNLINK', copyKey(key)]).catch(ifUnavailable(() => {}));
        return cached;
      }
      const lock = heldLock(link, `${lockKey(key)}:${generation}`, token, lockMs);
      try {
        const loaded = await load(await copy());
        await store(link, key, String(generation), loaded).catch(() => {}); // Then it is only cached here.
        return loaded;
      } finally {
        await lock.release();
      }
    };
    return poll(look, signal);
  },
  async ageOf(key) {
    const asOf = await link.send(['HGET', copyKey(key), 'asOf']).catch(ifUnavailable(() => null));
    return asOf === null ? undefined : Math.max(0, Date.now() - Number(asOf));
  },
});

async function store(
  link: RedisLink,
  key: CollectionKey,
  generation: string,
  { value, ageMs, keepMs }: SharedReading & { keepMs: number },
): Promise<void> {
  const body = await encodeCollection(value);
  const values = body && [generation, body, ageMs, keepMs, generationMs];
  if (values) await link.runScript(storeScript, collectionKeys(key), values);
}

/** Copies of other versions of this program may have other fields. */
const copyKey = ({ tenant, reader, collection }: CollectionKey): string =>
  keyOf(tenant, 'collection', reader, collection, version);

const collectionKeys = (key: CollectionKey): string[] => [
  generationKey(key.tenant, key.collection),
  copyKey(key),
];

const lockKey = ({ tenant, reader, collection }: CollectionKey): string =>
  keyOf(tenant, 'reading', reader, collection);
