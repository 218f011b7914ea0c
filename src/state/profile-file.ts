import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ifMissing } from './files.ts';
import { parseLine } from './json-lines.ts';
import type { ProfileStore } from './port.ts';

/** A profile in a file that only its owner can read. It is replaced as a whole, and not synced: it may be lost. */
export const profileFile = (path: string): ProfileStore => ({
  async load() {
    const stored = parseLine(await readFile(path, 'utf8').catch(ifMissing('')));
    return Number(stored?.expiresAt) > Date.now() ? stored?.value : undefined;
  },
  async save(value, keepMs) {
    const draft = `${path}.${process.pid}`;
    const content = JSON.stringify({ expiresAt: Date.now() + keepMs, value });
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(draft, content, { mode: 0o600 });
    await rename(draft, path);
  },
});
