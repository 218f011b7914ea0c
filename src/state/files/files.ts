import { mkdir, open, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { errorCode } from '../../values.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import type { Lock } from '../lock.ts';

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
 * Replaces a file, or one to which it links, by a draft beside it that is synced to disk, so that no reader and no crash
 * sees a part of it.
 * @param mode its permissions, by default of its owner only
 */
export async function replaceFile(
  path: string,
  content: Buffer | string | Readable,
  mode = 0o600,
): Promise<void> {
  const target = await realpath(path).catch(ifMissing(path));
  return replacing.runExclusive(target, async () => {
    // That of a process that was killed is overwritten, or left.
    const draft = `${target}.${process.pid}.draft`;
    try {
      await writeFile(draft, content, { mode, flush: true });
      await rename(draft, target);
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

/** A lock that was not renewed for this time was left by a process that was killed. */
export const defaultLeaseMs = 10_000;

export const noLock: Lock = { isHeld: async () => true, release: async () => {} };

/** Of several processes one takes over a lock that was left. */
async function takeOver(path: string, leaseMs: number): Promise<boolean> {
  const isLeft = async (file: string) => {
    const { mtimeMs } = await stat(file).catch(ifMissing({ mtimeMs: Date.now() }));
    return Math.abs(Date.now() - mtimeMs) >= leaseMs;
  };
  if (!(await isLeft(path))) return false;
  const turn = `${path}.turn`;
  try {
    await writeFile(turn, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // Where no file can be created, nothing can be locked.
    if (errorCode(error) !== 'EEXIST') return true;
    if (await isLeft(turn)) await rm(turn, { force: true });
    return false;
  }
  try {
    if (!(await isLeft(path))) return false;
    await utimes(path, new Date(), new Date());
    return true;
  } finally {
    await rm(turn, { force: true });
  }
}

/** A lock of all processes, as a file; `undefined` if another process has it. */
export async function tryLock(path: string, leaseMs = defaultLeaseMs): Promise<Lock | undefined> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => {});
  try {
    await writeFile(path, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'EMFILE' || code === 'ENFILE') throw error;
    // Where no file can be created, nothing can be locked, nor kept.
    if (code !== 'EEXIST') return noLock;
    if (!(await takeOver(path, leaseMs))) return undefined;
  }
  const renew = () => void utimes(path, new Date(), new Date()).catch(() => {}); // Then it expires.
  renew();
  const timer = setInterval(renew, leaseMs / 3).unref();
  return {
    ...noLock,
    async release() {
      clearInterval(timer);
      await rm(path, { force: true }).catch(() => {}); // Then it expires.
    },
  };
}
