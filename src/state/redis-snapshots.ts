import type { SnapshotStore } from './port.ts';
import type { RedisLink } from './redis-link.ts';

/** Snapshots in a Redis hash, which never expires: one field for each name. */
export class RedisSnapshots implements SnapshotStore {
  readonly #link: RedisLink;
  readonly #key: string;

  constructor(link: RedisLink, key: string) {
    this.#link = link;
    this.#key = key;
  }

  async names(): Promise<string[]> {
    const names = (await this.#link.send(['HKEYS', this.#key])) as string[];
    return names.sort();
  }

  async read(name: string): Promise<Buffer | undefined> {
    const value = (await this.#link.sendForBytes(['HGET', this.#key, name])) as Buffer | null;
    return value ?? undefined;
  }

  async write(name: string, value: Buffer): Promise<void> {
    await this.#link.send(['HSET', this.#key, name, value]);
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.#link.send(['HDEL', this.#key, ...names]);
  }
}
