import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isObject } from '../values.ts';
import { parseLine } from './json-lines.ts';
import type { ProfileStore } from './port.ts';

/** A profile in a file that only its owner can read. It is replaced as a whole, and not synced: it may be lost. */
export class ProfileFile implements ProfileStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async load(): Promise<unknown> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    const stored = parseLine(text);
    const isValid = isObject(stored) && Number(stored.expiresAt) > Date.now();
    return isValid ? stored.value : undefined;
  }

  async save(value: unknown, keepMs: number): Promise<void> {
    const draft = `${this.#path}.${process.pid}`;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await writeFile(draft, JSON.stringify({ expiresAt: Date.now() + keepMs, value }), {
      mode: 0o600,
    });
    await rename(draft, this.#path);
  }
}
