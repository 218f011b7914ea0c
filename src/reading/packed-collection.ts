import { forEachInSlices } from '../slices.ts';
import { compress, decompress } from '../state/compression.ts';
import type { CachedCollection } from './collection.ts';
import { RecordFreezer } from './frozen-records.ts';

/** A collection that is too large to be cached as it is, in about a tenth of the memory. */
export interface PackedCollection extends Omit<CachedCollection, 'records'> {
  /** Lines of JSON, compressed; several, so that nothing else waits for long. */
  parts: readonly Buffer[];
}

/** Characters of a part. */
const partLength = 2 ** 20;
/** Of a part that ends with a long record. */
const maxPartBytes = 2 ** 28;

export async function pack({ records, ...rest }: CachedCollection): Promise<PackedCollection> {
  const parts: Promise<Buffer>[] = [];
  let lines: string[] = [];
  let length = 0;
  const endPart = () => {
    if (lines.length > 0) parts.push(compress(Buffer.from(lines.join('\n'))));
    lines = [];
    length = 0;
  };
  await forEachInSlices(records, (record) => {
    const line = JSON.stringify(record);
    lines.push(line);
    length += line.length;
    if (length >= partLength) endPart();
  });
  endPart();
  return { ...rest, parts: await Promise.all(parts) };
}

export async function unpack({ parts, ...rest }: PackedCollection): Promise<CachedCollection> {
  const records: Record<string, unknown>[] = [];
  const freezer = new RecordFreezer();
  for (const part of parts) {
    const lines = (await decompress(part, maxPartBytes)).toString().split('\n');
    await forEachInSlices(lines, (line) => {
      const record: Record<string, unknown> = JSON.parse(line);
      freezer.freeze(record);
      records.push(record);
    });
  }
  return { ...rest, records };
}
