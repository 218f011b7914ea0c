import { parseLine } from '../files/json-lines.ts';
import type { ProfileStore } from '../port.ts';
import type { RedisLink } from './link.ts';

/** A profile in a key that expires. */
export const redisProfileStore = (link: RedisLink, key: string): ProfileStore => ({
  async load() {
    const text = await link.send(['GET', key]);
    return typeof text === 'string' ? parseLine(text) : undefined;
  },
  async save(value, keepMs) {
    await link.send(['SET', key, JSON.stringify(value), 'PX', String(keepMs)]);
  },
});
