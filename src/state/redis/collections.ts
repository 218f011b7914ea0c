import { compress, decompress } from '../compression.ts';
import { delay } from '../delay.ts';
import {
  type CollectionKey,
  type SharedCollections,
  type SharedReading,
  StateUnavailable,
} from '../port.ts';
import { generationKey } from './bus.ts';
import { keyOf } from './keys.ts';
import type { RedisLink } from './link.ts';
import { defaultLockMs, newToken, runWithLock } from './lock.ts';
import { listReply } from './replies.ts';

/**
 * KEYS: generation, copy, lock. ARGV: maximum age in milliseconds, token, milliseconds of the lock. Returns the
 * generation and one of: `cached` with the copy and its age; `locked`, this process has the lock; `wait`, another
 * process has it. The lock's name contains the generation, so no process waits for one that reads an outdated
 * collection.
 */
const lookupScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
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
local time = redis.call('TIME')
local asOf = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[3]
redis.call('HSET', KEYS[2], 'generation', ARGV[1], 'body', ARGV[2], 'asOf', asOf)
return redis.call('PEXPIRE', KEYS[2], ARGV[4])
`;

type LoadCollection = () => Promise<SharedReading & { keepMs: number }>;
type LookupResult =
  | { what: 'cached'; reading: SharedReading }
  | { what: 'locked'; generation: string }
  | { what: 'wait' };

const firstPollMs = 50;
const maxPollMs = 500;
/** Larger collections are not shared: in bytes, compressed and as JSON. */
const maxBytes = 32 * 1024 * 1024;
const maxJsonBytes = 256 * 1024 * 1024;

/** Collections that several processes share in Redis, compressed. */
export class RedisCollections implements SharedCollections {
  readonly #link: RedisLink;
  readonly #lockMs: number;

  constructor(link: RedisLink, lockMs = defaultLockMs) {
    this.#link = link;
    this.#lockMs = lockMs;
  }

  async getOrLoad(
    key: CollectionKey,
    freshMs: number,
    load: LoadCollection,
    signal: AbortSignal,
  ): Promise<SharedReading> {
    const token = newToken();
    for (let waitMs = firstPollMs; ; waitMs = Math.min(maxPollMs, waitMs * 1.5)) {
      signal.throwIfAborted();
      const found = await this.#lookup(key, freshMs, token);
      // Without Redis, every process loads for itself.
      if (found === undefined) return load();
      if (found.what === 'cached') return found.reading;
      if (found.what === 'locked') return this.#loadLocked(key, found.generation, token, load);
      await delay(waitMs * (0.75 + Math.random() / 2), signal);
    }
  }

  async #lookup(
    key: CollectionKey,
    freshMs: number,
    token: string,
  ): Promise<LookupResult | undefined> {
    const keys = [...collectionKeys(key), lockKey(key)];
    try {
      const reply = await this.#link.runScript(lookupScript, keys, [freshMs, token, this.#lockMs]);
      const [generation, what, body, ageMs = 0] = listReply(reply);
      if (Buffer.isBuffer(body)) return await this.#toResult(key, body, Number(ageMs));
      const status = String(what);
      return status === 'locked'
        ? { what: status, generation: String(generation) }
        : { what: 'wait' };
    } catch (error) {
      if (error instanceof StateUnavailable) return undefined;
      throw error;
    }
  }

  /** Deletes a damaged copy, so that it is loaded again. */
  async #toResult(key: CollectionKey, body: Buffer, ageMs: number): Promise<LookupResult> {
    try {
      return { what: 'cached', reading: { value: await decode(body), ageMs } };
    } catch {
      await this.#link.send(['DEL', copyKey(key)]);
      return { what: 'wait' };
    }
  }

  #loadLocked(
    key: CollectionKey,
    generation: string,
    token: string,
    load: LoadCollection,
  ): Promise<SharedReading> {
    const lock = `${lockKey(key)}:${generation}`;
    return runWithLock(this.#link, lock, token, this.#lockMs, async () => {
      const loaded = await load();
      await this.#store(key, generation, loaded).catch(() => {}); // Then it is only cached here.
      return loaded;
    });
  }

  async #store(
    key: CollectionKey,
    generation: string,
    { value, ageMs, keepMs }: SharedReading & { keepMs: number },
  ): Promise<void> {
    const json = Buffer.from(JSON.stringify(value));
    if (json.length > maxJsonBytes) return;
    const body = await compress(json);
    if (body.length > maxBytes) return;
    await this.#link.runScript(storeScript, collectionKeys(key), [generation, body, ageMs, keepMs]);
  }
}

const decode = async (body: Buffer): Promise<unknown> =>
  JSON.parse((await decompress(body, maxJsonBytes)).toString());

const copyKey = ({ tenant, reader, collection }: CollectionKey): string =>
  keyOf(tenant, 'collection', reader, collection);

const collectionKeys = (key: CollectionKey): string[] => [
  generationKey(key.tenant, key.collection),
  copyKey(key),
];

const lockKey = ({ tenant, reader, collection }: CollectionKey): string =>
  keyOf(tenant, 'reading', reader, collection);
