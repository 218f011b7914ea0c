import { mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SnapshotStore } from '../port.ts';
import { ifMissing, replaceFile, syncFolder } from './files.ts';

const isName = /^[a-z0-9-]+$/;

/** Snapshots in a folder, one file for each name, readable by their owner only. */
export function snapshotFiles(folder: string): SnapshotStore {
  const list = () => readdir(folder).catch(ifMissing<string[]>([]));
  /** @throws RangeError for a name that could lead out of the folder */
  const pathOf = (name: string) => {
    if (!isName.test(name)) throw new RangeError(`not the name of a snapshot: ${name}`);
    return join(folder, name);
  };
  return {
    names: async () => (await list()).filter((file) => isName.test(file)).sort(),
    read: async (name) => readFile(pathOf(name)).catch(ifMissing(undefined)),
    async write(name, value) {
      const path = pathOf(name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(path, value);
      await syncFolder(folder);
    },
    async remove(names) {
      for (const name of names) await rm(pathOf(name), { force: true });
      // Drafts were left by a process that was killed.
      for (const file of await list())
        if (file.endsWith('.draft')) await rm(join(folder, file), { force: true });
      if ((await list()).length === 0) await rmdir(folder).catch(() => {}); // Written to meanwhile.
    },
  };
}
