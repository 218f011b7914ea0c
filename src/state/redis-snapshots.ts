import type { SnapshotStore } from './port.ts';
import type { RedisLink } from './redis-link.ts';

/** Snapshots in a Redis hash, which never expires: one field for each name. */
export const redisSnapshots = (link: RedisLink, key: string): SnapshotStore => ({
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
});
