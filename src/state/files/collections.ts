import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseObject } from '../../values.ts';
import { version } from '../../version.ts';
import { poll } from '../delay.ts';
import { decodeCollection, encodeCollection, maxEncodedBytes } from '../encoded-collection.ts';
import type { CollectionKey, EarlierReading, SharedCollections, SharedReading } from '../port.ts';
import { shortHash } from '../short-hash.ts';
import type { WriteStatus } from '../write-status.ts';
import { defaultLeaseMs, noLock, replaceFile, tryLock } from './files.ts';

/** A file begins with a line of this length, a JSON object and spaces. The encoded collection follows. */
const headerBytes = 1024;
const prefix = 'collections-';

/** The format, the version of the program, because the records of others may have other fields, and the key. */
const originOf = ({ tenant, reader, collection }: CollectionKey): string =>
  ['collection/1', version, tenant, reader, collection].join(' ');

/** Collections in files, for all processes with this state folder and for the next start. */
export function fileCollections(
  folder: string,
  writes: WriteStatus,
  leaseMs = defaultLeaseMs,
): SharedCollections {
  const pathOf = ({ tenant, reader, collection }: CollectionKey) =>
    join(folder, `${prefix}${tenant}`, `${reader}-${collection}`);
  return {
    getOrLoad(key, freshMs, load, signal) {
      const path = pathOf(key);
      const isFresh = (copy: EarlierReading | undefined): copy is EarlierReading =>
        copy !== undefined && !copy.isOutdated && copy.ageMs < freshMs;
      const look = async () => {
        const generation = await generationOf(path, key);
        const isKept = isFresh(await readCopy(path, key, 'age'));
        const lock = isKept ? noLock : await tryLock(`${path}-${generation}.lock`, leaseMs);
        if (!lock) return undefined;
        try {
          // Another process may have stored it before this one got the lock.
          const copy = await readCopy(path, key, 'content');
          if (isFresh(copy)) return copy;
          const loaded = await load(copy);
          // If it cannot be stored, it is only cached here.
          await writes.watch(path, storeCopy(path, key, generation, loaded)).catch(() => {});
          return loaded;
        } finally {
          await lock.release();
        }
      };
      return poll(look, signal);
    },
    ageOf: async (key) => (await readCopy(pathOf(key), key, 'age'))?.ageMs,
  };
}

/** A copy that has not expired. `undefined` if the file is missing, damaged or not of this key; `age` reads no value. */
async function readCopy(
  path: string,
  key: CollectionKey,
  part: 'age' | 'content',
): Promise<EarlierReading | undefined> {
  const file = await open(path).catch(() => undefined);
  try {
    if (!file || (await file.stat()).size > headerBytes + maxEncodedBytes) return undefined;
    const { buffer } = await file.read({ buffer: Buffer.alloc(headerBytes) });
    const { origin, asOf, keepMs, generation, hash } = parseObject(String(buffer)) ?? {};
    const ageMs = Date.now() - Number(asOf);
    // Below 0 the clock was set back since.
    if (origin !== originOf(key) || !(ageMs >= 0 && ageMs <= Number(keepMs))) return undefined;
    const facts = { ageMs, isOutdated: generation !== (await generationOf(path, key)) };
    if (part === 'age') return { value: undefined, ...facts };
    const body = await file.readFile();
    return shortHash(body) === hash ? { value: await decodeCollection(body), ...facts } : undefined;
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}

async function storeCopy(
  path: string,
  key: CollectionKey,
  generation: string,
  { value, ageMs, keepMs }: SharedReading & { keepMs: number },
): Promise<void> {
  const asOf = Math.round(Date.now() - ageMs);
  const body = await encodeCollection(value);
  if (!body) return;
  const header = { origin: originOf(key), asOf, keepMs, generation, hash: shortHash(body) };
  const line = `${JSON.stringify(header).padEnd(headerBytes - 1)}\n`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, Buffer.concat([Buffer.from(line), body]));
}

/** A copy is outdated if what the file of changes says now differs from what it said before the copy was read. */
const generationOf = (path: string, { collection }: CollectionKey): Promise<string> =>
  readFile(join(dirname(path), `${collection}.changes`), 'utf8').catch(() => 'none');

/** Outdates all copies of a collection. Synchronous, so that no call after the change gets one as fresh. */
export function markOutdated(folder: string, tenant: string, collection: string): void {
  try {
    const path = join(folder, `${prefix}${tenant}`, `${collection}.changes`);
    writeFileSync(path, randomUUID(), { mode: 0o600 });
  } catch {
    // Without the folder there is no copy. On a full disk the file is empty now, so that it differs, too.
  }
}
