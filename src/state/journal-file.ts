import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Journal } from './port.ts';

/**
 * A journal in a file: a JSON object a line, each safe on disk before `append` returns, readable by its
 * owner alone. A line torn by a crash does not hide the others.
 */
export class JournalFile implements Journal {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async append(entry: Record<string, unknown>): Promise<void> {
    const folder = dirname(this.#path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(this.#path, 'a+', 0o600);
    try {
      const { size, mode } = await file.stat();
      // It may have come from a backup, or been made by hand, for everyone to read.
      if (mode & 0o077) await file.chmod(0o600);
      const torn = size > 0 && (await endsTorn(file, size));
      await file.appendFile(`${torn ? '\n' : ''}${JSON.stringify(entry)}\n`);
      await file.sync();
      if (size === 0) await syncFolder(folder);
    } finally {
      await file.close();
    }
  }

  async read(): Promise<{ entries: Record<string, unknown>[]; damaged: number }> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    const lines = text.split('\n').filter((line) => line !== '');
    const entries = lines.map(parse).filter((entry) => entry !== undefined);
    return { entries, damaged: lines.length - entries.length };
  }
}

/** Whether a crash cut the last line short: what follows must not be glued to it. */
async function endsTorn(file: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}

/** A new file is only as safe as the entry in its folder, which Windows keeps safe by itself. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    const isEntry = typeof entry === 'object' && entry !== null && !Array.isArray(entry);
    return isEntry ? (entry as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // Counted as damaged by the caller.
  }
}
