import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { errorCode } from '../values.ts';

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

/**
 * Replaces a file by a draft beside it that is synced to disk, so that no reader and no crash sees a part of it.
 * @param check called before the replacement; its error leaves the file as it is
 */
export async function replaceFile(
  path: string,
  content: Buffer | string,
  check: () => Promise<void> = async () => {},
): Promise<void> {
  const draft = `${path}.${randomUUID()}.draft`;
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
