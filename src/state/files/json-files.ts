import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseObject } from '../../values.ts';
import type { Journal } from '../port.ts';
import { ifMissing, syncFolder } from './files.ts';

/** Ends a line that a crash or a full disk cut short; JSON does not contain it. */
const cutMarker = '\u0018';

/** Whether the write of a line failed, so that it was never acknowledged. */
export const isCutLine = (line: string): boolean => line.endsWith(cutMarker);

/**
 * Appends lines to a file and syncs it to disk. Creates the file, readable by its owner only. If the last line was
 * cut short, marks it first.
 */
export async function appendLines(path: string, lines: readonly string[]): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(path, 'a+', 0o600);
  try {
    const { size, mode } = await file.stat();
    // A file from a backup, or created by hand, may be readable by others.
    if (mode & 0o077) await file.chmod(0o600);
    const last = size > 0 && (await file.read(Buffer.alloc(1), 0, 1, size - 1));
    const isCut = last && last.buffer[0] !== 0x0a;
    await file.appendFile(`${isCut ? `${cutMarker}\n` : ''}${lines.join('\n')}\n`);
    await file.sync();
    if (size === 0) await syncFolder(folder);
  } finally {
    await file.close();
  }
}

/**
 * A journal in a file: one JSON object per line, readable by its owner only. `append` returns after the entry is
 * synced to disk. A line that is incomplete after a crash does not affect the others.
 */
export const journalFile = (path: string): Journal => ({
  append: (entry) => appendLines(path, [JSON.stringify(entry)]),
  async read() {
    const text = await readFile(path, 'utf8').catch(ifMissing(''));
    const lines = text.split('\n').filter((line) => line !== '');
    const entries = lines.map(parseObject).filter((entry) => entry !== undefined);
    return { entries, damaged: lines.length - entries.length };
  },
});
