import type { SnapshotStore } from '../port.ts';
import { keyOf, type RedisLink } from './link.ts';

const part = 'history';

/** Snapshots of a tenant in a Redis hash, which never expires: one field for each name. */
export function redisSnapshots(link: RedisLink, tenant: string): SnapshotStore {
  const key = keyOf(tenant, part);
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

/** The tenants that have a hash of snapshots, in alphabetical order. */
export async function redisSnapshotTenants(link: RedisLink): Promise<string[]> {
  const [before, after] = ['cpq:{', `}:${part}`];
  const keys = await link.scan(`${before}*${after}`);
  return keys.map((key) => key.slice(before.length, -after.length)).sort();
}
