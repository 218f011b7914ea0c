import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../values.ts';

/** A handler for `catch`: returns `instead` where there is no such file, and rethrows every other error. */
export const ifMissing =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (errorCode(error) === 'ENOENT') return instead;
    throw error;
  };

/** Writes a new file, readable by its owner only, and syncs it to disk. @throws Error if it exists */
export async function writeSynced(path: string, content: Buffer | string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new name for the draft of a file, beside it. */
export const draftPath = (path: string): string => `${path}.${randomUUID()}.draft`;

const isDraft = /\.[0-9a-f-]+\.draft$/;
/** A draft of this age was left by a process that was killed. */
const abandonedMs = 3_600_000;

/** Removes abandoned drafts of the files whose names begin with `prefix`. */
export async function removeAbandonedDrafts(folder: string, prefix = ''): Promise<void> {
  const files = await readdir(folder).catch(ifMissing<string[]>([]));
  for (const file of files.filter((name) => name.startsWith(prefix) && isDraft.test(name))) {
    const path = join(folder, file);
    const found = await stat(path).catch(ifMissing(undefined));
    if (found && Date.now() - found.mtimeMs > abandonedMs) await rm(path, { force: true });
  }
}

/**
 * Replaces a file by a draft beside it that is synced to disk, so that no reader and no crash sees a part of it.
 * @param check called before the replacement; its error leaves the file as it is
 */
export async function replaceFile(
  path: string,
  content: Buffer | string,
  check: () => Promise<void> = async () => {},
): Promise<void> {
  const draft = draftPath(path);
  try {
    await writeSynced(draft, content);
    await check();
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {}); // The first error is the one to report.
    throw error;
  }
}

/** Syncs a folder, so that a new file in it survives a crash. Windows does this by itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
