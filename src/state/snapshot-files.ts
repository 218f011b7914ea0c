import { mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing, replaceFile, syncFolder } from './files.ts';
import type { SnapshotStore } from './port.ts';

const isName = /^[a-z0-9-]+$/;
const isDraft = /^[a-z0-9-]+\.[0-9a-f-]+\.draft$/;
/** A draft of this age was left by a process that was killed. */
const abandonedMs = 3_600_000;

/** Snapshots in a folder, one file for each name, readable by their owner only. */
export class SnapshotFiles implements SnapshotStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async names(): Promise<string[]> {
    return (await this.#list()).filter((file) => isName.test(file)).sort();
  }

  async read(name: string): Promise<Buffer | undefined> {
    return readFile(this.#path(name)).catch(ifMissing(undefined));
  }

  async write(name: string, value: Buffer): Promise<void> {
    const path = this.#path(name);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await replaceFile(path, value);
    await syncFolder(this.#folder);
    await this.#removeAbandonedDrafts();
  }

  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(this.#path(name), { force: true });
    await this.#removeAbandonedDrafts();
    if ((await this.#list()).length === 0) await rmdir(this.#folder).catch(() => {}); // Written to meanwhile.
  }

  /** @throws RangeError for a name that could lead out of the folder */
  #path(name: string): string {
    if (!isName.test(name)) throw new RangeError(`not the name of a snapshot: ${name}`);
    return join(this.#folder, name);
  }

  async #list(): Promise<string[]> {
    return readdir(this.#folder).catch(ifMissing([]));
  }

  async #removeAbandonedDrafts(): Promise<void> {
    for (const file of (await this.#list()).filter((name) => isDraft.test(name))) {
      const path = join(this.#folder, file);
      const found = await stat(path).catch(ifMissing(undefined));
      if (found && Date.now() - found.mtimeMs > abandonedMs) await rm(path, { force: true });
    }
  }
}
