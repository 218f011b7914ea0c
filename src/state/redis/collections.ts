import { compress, decompress } from '../compression.ts';
import { delay } from '../delay.ts';
import {
  type CollectionKey,
  ifUnavailable,
  type SharedCollections,
  type SharedReading,
} from '../port.ts';
import { generationKey } from './bus.ts';
import { keyOf, listReply, nowScript, type RedisLink } from './link.ts';
import { defaultLockMs, newToken, runWithLock } from './lock.ts';

/**
 * KEYS: generation, copy, lock. ARGV: maximum age in milliseconds, token, milliseconds of the lock. Returns the
 * generation and one of: `cached` with the copy and its age; `locked`, this process has the lock; `wait`, another
 * process has it. The lock's name contains the generation, so no process waits for one that reads an outdated
 * collection.
 */
const lookupScript = `${nowScript}
local generation = redis.call('GET', KEYS[1]) or '0'
local copy = redis.call('HMGET', KEYS[2], 'generation', 'asOf')
if copy[1] == generation and now - copy[2] < tonumber(ARGV[1]) then
  return {generation, 'cached', redis.call('HGET', KEYS[2], 'body'), now - copy[2]}
end
local lock = KEYS[3] .. ':' .. generation
if redis.call('SET', lock, ARGV[2], 'NX', 'PX', ARGV[3]) then return {generation, 'locked'} end
return {generation, 'wait'}
`;

/** KEYS: generation, copy. ARGV: generation, body, age, milliseconds to keep. */
const storeScript = `
if (redis.call('GET', KEYS[1]) or '0') ~= ARGV[1] then return 0 end
${nowScript}
local asOf = now - ARGV[3]
redis.call('HSET', KEYS[2], 'generation', ARGV[1], 'body', ARGV[2], 'asOf', asOf)
return redis.call('PEXPIRE', KEYS[2], ARGV[4])
`;

const firstPollMs = 50;
const maxPollMs = 500;
/** Larger collections are not shared: in bytes, compressed and as JSON. */
const maxBytes = 32 * 1024 * 1024;
const maxJsonBytes = 256 * 1024 * 1024;

/** Collections that several processes share in Redis, compressed. */
export const redisCollections = (link: RedisLink, lockMs = defaultLockMs): SharedCollections => ({
  async getOrLoad(key, freshMs, load, signal) {
    const keys = [...collectionKeys(key), lockKey(key)];
    const token = newToken();
    for (let waitMs = firstPollMs; ; waitMs = Math.min(maxPollMs, waitMs * 1.5)) {
      signal.throwIfAborted();
      const reply = link.runScript(lookupScript, keys, [freshMs, token, lockMs]);
      const found = await reply.then(
        listReply,
        ifUnavailable(() => undefined),
      );
      // Without Redis, every process loads for itself.
      if (found === undefined) return load();
      const [generation, what, body, ageMs] = found;
      if (Buffer.isBuffer(body)) {
        const value = await decode(body).catch(() => undefined);
        return value === undefined ? load() : { value, ageMs: Number(ageMs) };
      }
      if (String(what) === 'locked') {
        return runWithLock(link, `${lockKey(key)}:${generation}`, token, lockMs, async () => {
          const loaded = await load();
          await store(link, key, String(generation), loaded).catch(() => {}); // Then it is only cached here.
          return loaded;
        });
      }
      await delay(waitMs * (0.75 + Math.random() / 2), signal);
    }
  },
});

async function store(
  link: RedisLink,
  key: CollectionKey,
  generation: string,
  { value, ageMs, keepMs }: SharedReading & { keepMs: number },
): Promise<void> {
  const json = Buffer.from(JSON.stringify(value));
  if (json.length > maxJsonBytes) return;
  const body = await compress(json);
  if (body.length > maxBytes) return;
  await link.runScript(storeScript, collectionKeys(key), [generation, body, ageMs, keepMs]);
}

/** @throws for a damaged copy */
const decode = async (body: Buffer): Promise<unknown> =>
  JSON.parse((await decompress(body, maxJsonBytes)).toString());

const collectionKeys = ({ tenant, reader, collection }: CollectionKey): string[] => [
  generationKey(tenant, collection),
  keyOf(tenant, 'collection', reader, collection),
];

const lockKey = ({ tenant, reader, collection }: CollectionKey): string =>
  keyOf(tenant, 'reading', reader, collection);
