import { readFile } from 'node:fs/promises';
import type { Journal } from '../port.ts';
import { ifMissing } from './files.ts';
import { appendLines, parseLine } from './json-lines.ts';

/**
 * A journal in a file: one JSON object per line, readable by its owner only. `append` returns after the entry is
 * synced to disk. A line that is incomplete after a crash does not affect the others.
 */
export const journalFile = (path: string): Journal => ({
  append: (entry) => appendLines(path, [JSON.stringify(entry)]),
  async read() {
    const text = await readFile(path, 'utf8').catch(ifMissing(''));
    const lines = text.split('\n').filter((line) => line !== '');
    const entries = lines.map(parseLine).filter((entry) => entry !== undefined);
    return { entries, damaged: lines.length - entries.length };
  },
});
