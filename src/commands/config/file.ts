import { randomUUID } from 'node:crypto';
import {
  constants,
  copyFile,
  lstat,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../values.ts';
import type { Entry } from './launch.ts';
import { type EditResult, NotEdited } from './merge.ts';

export interface WriteReport {
  /** The real path: symbolic links are followed, not replaced. */
  path: string;
  entry: Entry;
  changed: boolean;
  /** Path of the backup. */
  backup?: string;
}

/** Owner only, because the file may contain a key. */
const newFileMode = 0o600;

/**
 * Changes a file atomically; keeps its permissions and a backup.
 * @throws NotEdited, with nothing written, if it is not a regular file or another program changed it
 * meanwhile; the system error
 */
export async function changeFile(
  named: string,
  edit: (before: string) => EditResult,
): Promise<WriteReport> {
  const path = await realpath(named).catch(() => named);
  const before = await readIfThere(path);
  const { text, entry } = edit(before ?? '');
  if (text === before) return { path, entry, changed: false };
  if (before === undefined) await mkdir(dirname(path), { recursive: true });
  const backup = before === undefined ? undefined : await copyBeside(path);
  await replace(path, before, text).catch(async (error: unknown) => {
    if (backup !== undefined) await rm(backup, { force: true });
    throw error;
  });
  const written = { path, entry, changed: true };
  return backup === undefined ? written : { ...written, backup };
}

async function readIfThere(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return undefined;
  if (!found.isFile()) throw new NotEdited('is not a plain file');
  return readFile(path, 'utf8');
}

/** Never overwrites an existing backup. */
async function copyBeside(path: string): Promise<string> {
  const stamp = new Date()
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/\D/g, '');
  for (let attempt = 0; ; attempt++) {
    const backup = `${path}.${stamp}${attempt === 0 ? '' : `-${attempt}`}.bak`;
    try {
      await copyFile(path, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || attempt === 100) throw error;
    }
  }
}

async function replace(path: string, before: string | undefined, after: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    await writeWithModeOf(draft, path, after);
    if ((await readIfThere(path)) !== before) {
      throw new NotEdited('was changed by another program meanwhile');
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Copies the mode, and if possible the owner, of the replaced file. */
async function writeWithModeOf(draft: string, model: string, text: string): Promise<void> {
  const like = await stat(model).catch(() => undefined);
  const file = await open(draft, 'wx', newFileMode);
  try {
    await file.writeFile(text);
    if (like) {
      await file.chown(like.uid, like.gid).catch(() => {}); // Only root may change the owner.
      await file.chmod(like.mode & 0o7777);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
