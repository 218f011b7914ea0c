import { open, rename, rm, writeFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { errorCode } from '../../values.ts';
import { KeyedMutex } from '../keyed-mutex.ts';

/** A handler for `catch`: returns `instead` where there is no such file, and rethrows every other error. */
export const ifMissing =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (errorCode(error) === 'ENOENT') return instead;
    throw error;
  };

/** The replacements of this process, one at a time for each file. */
const replacing = new KeyedMutex();

/**
 * Replaces a file by a draft beside it that is synced to disk, so that no reader and no crash sees a part of it. Only its
 * owner can read it.
 */
export function replaceFile(path: string, content: Buffer | string | Readable): Promise<void> {
  // That of a process that was killed is overwritten, or left.
  const draft = `${path}.${process.pid}.draft`;
  return replacing.runExclusive(path, async () => {
    try {
      await writeFile(draft, content, { mode: 0o600, flush: true });
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {}); // The first error is the one to report.
      throw error;
    }
  });
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
