import { readFile } from 'node:fs/promises';
import { appendLines, parseLine } from './json-lines.ts';
import type { Journal } from './port.ts';

/**
 * A journal in a file: one JSON object per line, readable by its owner only. `append` returns after the entry is
 * synced to disk. A line that is incomplete after a crash does not affect the others.
 */
export class JournalFile implements Journal {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async append(entry: Record<string, unknown>): Promise<void> {
    await appendLines(this.#path, [JSON.stringify(entry)]);
  }

  async read(): Promise<{ entries: Record<string, unknown>[]; damaged: number }> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    const lines = text.split('\n').filter((line) => line !== '');
    const entries = lines.map(parseLine).filter((entry) => entry !== undefined);
    return { entries, damaged: lines.length - entries.length };
  }
}
