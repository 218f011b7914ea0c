import type { SnapshotStore } from '../port.ts';
import { keyOf, listReply, type RedisLink } from './link.ts';

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
  const tenants = new Set<string>();
  let cursor = '0';
  do {
    const scan = ['SCAN', cursor, 'MATCH', `${before}*${after}`, 'COUNT', '1000'];
    const [next, keys] = listReply(await link.send(scan));
    for (const key of listReply(keys)) tenants.add(String(key).slice(before.length, -after.length));
    cursor = String(next);
  } while (cursor !== '0');
  return [...tenants].sort();
}
