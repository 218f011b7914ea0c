import { mkdir, readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { ProfileStore } from '../port.ts';
import { ifMissing, removeAbandonedDrafts, replaceFile } from './files.ts';
import { parseLine } from './json-lines.ts';

/** A profile in a file that only its owner can read. It is replaced as a whole. */
export const profileFile = (path: string): ProfileStore => ({
  async load() {
    const stored = parseLine(await readFile(path, 'utf8').catch(ifMissing('')));
    return Number(stored?.expiresAt) > Date.now() ? stored?.value : undefined;
  },
  async save(value, keepMs) {
    const folder = dirname(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await replaceFile(path, JSON.stringify({ expiresAt: Date.now() + keepMs, value }));
    await removeAbandonedDrafts(folder, `${basename(path)}.`);
  },
});
