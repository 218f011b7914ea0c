import { mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SnapshotStore } from '../port.ts';
import { ifMissing, replaceFile, syncFolder } from './files.ts';

const isName = /^[a-z0-9-]+$/;

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
  }

  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) await rm(this.#path(name), { force: true });
    // Drafts were left by a process that was killed.
    for (const file of await this.#list())
      if (file.endsWith('.draft')) await rm(join(this.#folder, file), { force: true });
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
}
