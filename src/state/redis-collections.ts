import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { pause } from './pause.ts';
import {
  type CollectionPlace,
  type SharedCollections,
  type SharedReading,
  StateUnavailable,
} from './port.ts';
import { generationOf } from './redis-bus.ts';
import { keyOf } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { holding, newToken, usualLockMs } from './redis-lock.ts';

/**
 * KEYS: generation, reading, lock. ARGV: milliseconds that count as fresh, token, milliseconds of the
 * lock. Answers the generation and what there is: a reading and its age, the lock, or the news that
 * another process has it. The lock is one of its generation: who reads what has changed since is not
 * waited for.
 */
const lookScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local generation = redis.call('GET', KEYS[1]) or '0'
local held = redis.call('HMGET', KEYS[2], 'generation', 'asOf')
if held[1] == generation and now - held[2] < tonumber(ARGV[1]) then
  return {generation, 'held', redis.call('HGET', KEYS[2], 'body'), now - held[2]}
end
local lock = KEYS[3] .. ':' .. generation
if redis.call('SET', lock, ARGV[2], 'NX', 'PX', ARGV[3]) then return {generation, 'yours'} end
return {generation, 'wait'}
`;

/** KEYS: generation, reading. ARGV: generation, body, age, milliseconds to keep. */
const keepScript = `
if (redis.call('GET', KEYS[1]) or '0') ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local asOf = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[3]
redis.call('HSET', KEYS[2], 'generation', ARGV[1], 'body', ARGV[2], 'asOf', asOf)
return redis.call('PEXPIRE', KEYS[2], ARGV[4])
`;

type Read = () => Promise<SharedReading & { keepMs: number }>;
type Found =
  | { what: 'held'; reading: SharedReading }
  | { what: 'yours'; generation: string }
  | { what: 'wait' };

const firstLookMs = 50;
const lastLookMs = 500;
/** A larger one stays with the process that read it. */
const mostBytes = 32 * 1024 * 1024;

const pack = promisify<Buffer, { params: Record<number, number> }, Buffer>(brotliCompress);
const unpack = promisify<Buffer, Buffer>(brotliDecompress);
/** Nearly as small as the highest, in a fraction of its time. */
const packing = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Collections that many processes hold in Redis, compressed, each read by one of them. */
export class RedisCollections implements SharedCollections {
  readonly #link: RedisLink;
  readonly #lockMs: number;

  constructor(link: RedisLink, lockMs = usualLockMs) {
    this.#link = link;
    this.#lockMs = lockMs;
  }

  async obtain(
    place: CollectionPlace,
    freshMs: number,
    read: Read,
    signal: AbortSignal,
  ): Promise<SharedReading> {
    const token = newToken();
    for (let waitMs = firstLookMs; ; waitMs = Math.min(lastLookMs, waitMs * 1.5)) {
      signal.throwIfAborted();
      const found = await this.#look(place, freshMs, token);
      // Without Redis every process reads for itself.
      if (found === undefined) return read();
      if (found.what === 'held') return found.reading;
      if (found.what === 'yours') return this.#readFor(place, found.generation, token, read);
      await pause(waitMs * (0.75 + Math.random() / 2), signal);
    }
  }

  async #look(place: CollectionPlace, freshMs: number, token: string): Promise<Found | undefined> {
    const keys = [...keysOf(place), lockOf(place)];
    try {
      const answer = await this.#link.run(lookScript, keys, [freshMs, token, this.#lockMs]);
      const [generation, what, body, ageMs] = answer as [Buffer, Buffer, Buffer?, number?];
      if (body) return { what: 'held', reading: { value: await open(body), ageMs: ageMs ?? 0 } };
      const said = what.toString();
      return said === 'yours' ? { what: said, generation: String(generation) } : { what: 'wait' };
    } catch (error) {
      if (error instanceof StateUnavailable) return undefined;
      throw error;
    }
  }

  #readFor(
    place: CollectionPlace,
    generation: string,
    token: string,
    read: Read,
  ): Promise<SharedReading> {
    const lock = `${lockOf(place)}:${generation}`;
    return holding(this.#link, lock, token, this.#lockMs, async () => {
      const made = await read();
      await this.#keep(place, generation, made).catch(() => {}); // It is then only held here.
      return made;
    });
  }

  async #keep(
    place: CollectionPlace,
    generation: string,
    { value, ageMs, keepMs }: SharedReading & { keepMs: number },
  ): Promise<void> {
    const body = await pack(Buffer.from(JSON.stringify(value)), packing);
    if (body.length > mostBytes) return;
    await this.#link.run(keepScript, keysOf(place), [generation, body, ageMs, keepMs]);
  }
}

const open = async (body: Buffer): Promise<unknown> => JSON.parse((await unpack(body)).toString());

const keysOf = ({ tenant, reader, collection }: CollectionPlace): string[] => [
  generationOf(tenant, collection),
  keyOf(tenant, 'collection', reader, collection),
];

const lockOf = ({ tenant, reader, collection }: CollectionPlace): string =>
  keyOf(tenant, 'reading', reader, collection);
