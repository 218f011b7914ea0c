import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isObject } from '../values.ts';

/**
 * Appends lines to a file and syncs it to disk. Creates the file, readable by its owner only. If a crash cut the
 * last line short, ends that line first.
 * @returns the offset of the first appended line
 */
export async function appendLines(path: string, lines: readonly string[]): Promise<number> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(path, 'a+', 0o600);
  try {
    const { size, mode } = await file.stat();
    // A file from a backup, or created by hand, may be readable by others.
    if (mode & 0o077) await file.chmod(0o600);
    const torn = size > 0 && (await endsMidLine(file, size));
    await file.appendFile(`${torn ? '\n' : ''}${lines.join('\n')}\n`);
    await file.sync();
    if (size === 0) await syncFolder(folder);
    return torn ? size + 1 : size;
  } finally {
    await file.close();
  }
}

async function endsMidLine(file: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
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

/** Parses a line; undefined if it is not a JSON object. */
export function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return isObject(entry) ? entry : undefined;
  } catch {
    return undefined; // Counted as damaged by the caller.
  }
}
