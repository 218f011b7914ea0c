import { forEachInSlices } from '../slices.ts';
import { parseWithoutSecrets } from '../text/secrets.ts';
import { isObject } from '../values.ts';
import { compress, decompress } from './compression.ts';

/** Larger collections are not shared: in bytes, compressed and as JSON. */
export const maxEncodedBytes = 32 * 1024 * 1024;
const maxJsonBytes = 256 * 1024 * 1024;

/**
 * Encodes a collection as lines of JSON, compressed: first the value with an empty list of `records`, then each record,
 * because all of them in one text would be written and parsed without a pause. `undefined` if it is too large.
 */
export async function encodeCollection(value: unknown): Promise<Buffer | undefined> {
  const records = isObject(value) && Array.isArray(value.records) ? value.records : [];
  const lines: Buffer[] = [];
  const add = (line: unknown) => void lines.push(Buffer.from(`${JSON.stringify(line)}\n`));
  add(records.length > 0 && isObject(value) ? { ...value, records: [] } : value);
  await forEachInSlices(records, add);
  const json = Buffer.concat(lines);
  if (json.length > maxJsonBytes) return undefined;
  const body = await compress(json);
  return body.length > maxEncodedBytes ? undefined : body;
}

/** Decodes a collection, without the secrets of this process. `undefined` if it is damaged. */
export async function decodeCollection(body: Buffer): Promise<unknown> {
  const json = await decompress(body, maxJsonBytes).catch(() => Buffer.of());
  const lines: unknown[] = [];
  await forEachInSlices(linesOf(json), (line) => lines.push(parseWithoutSecrets(line)));
  if (lines.includes(undefined)) return undefined;
  const [value, ...records] = lines;
  return isObject(value) && records.length > 0 ? { ...value, records } : value;
}

function* linesOf(text: Buffer): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(10, start);
    yield text.toString('utf8', start, end);
    start = end + 1;
  }
}
