import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Adds lines to the end of a file, which is made where there is none, readable by its owner alone; safe
 * on disk when this returns. A line that a crash cut short is ended first, so that nothing is glued to it.
 * @returns the offset at which the first of them begins
 */
export async function appendLines(path: string, lines: readonly string[]): Promise<number> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(path, 'a+', 0o600);
  try {
    const { size, mode } = await file.stat();
    // It may have come from a backup, or been made by hand, for everyone to read.
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

/** A new file is only as safe as the entry in its folder, which Windows keeps safe by itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The JSON object of a line; undefined when it is none. */
export function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    const isEntry = typeof entry === 'object' && entry !== null && !Array.isArray(entry);
    return isEntry ? (entry as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // Counted as damaged by the caller.
  }
}
