import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createBrotliDecompress } from 'node:zlib';
import { parseWithoutSecrets } from '../text/secrets.ts';
import { isObject } from '../values.ts';

/** Larger collections are not shared: in bytes, compressed and as JSON. */
export const maxEncodedBytes = 32 * 1024 * 1024;
const maxJsonBytes = 256 * 1024 * 1024;
/** Nearly as small as the highest quality, in a fraction of the time. */
const quality = 4;
/** So few that no other call has to wait while they are written or parsed. */
const recordsPerLine = 100;

/**
 * Encodes a collection as lines of JSON, compressed: first the value with an empty list of `records`, then lists of these.
 * `undefined` if it is too large.
 */
export async function encodeCollection(value: unknown): Promise<Buffer | undefined> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  const body = await pipeline(linesOf(value), createBrotliCompress({ params }), buffer);
  return body.length > maxEncodedBytes ? undefined : body;
}

function* linesOf(value: unknown): Generator<Buffer> {
  const toLine = (each: unknown) => Buffer.from(`${JSON.stringify(each)}\n`);
  const records = isObject(value) && Array.isArray(value.records) ? value.records : [];
  yield toLine(records.length > 0 && isObject(value) ? { ...value, records: [] } : value);
  for (let at = 0; at < records.length; at += recordsPerLine)
    yield toLine(records.slice(at, at + recordsPerLine));
}

/** Decodes a collection, without the secrets of this process. @throws if it is damaged */
export async function decodeCollection(body: Buffer): Promise<unknown> {
  const lines: unknown[] = [];
  const parse = async (text: AsyncIterable<Buffer>) => {
    let length = 0;
    let unparsed: Buffer[] = [];
    for await (const chunk of text) {
      length += chunk.length;
      if (length > maxJsonBytes) throw new RangeError('too large');
      unparsed.push(chunk);
      if (!chunk.includes(10)) continue;
      let rest = Buffer.concat(unparsed);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        lines.push(parseWithoutSecrets(rest.toString('utf8', 0, end)));
        rest = rest.subarray(end + 1);
      }
      unparsed = [rest];
    }
  };
  await pipeline([body], createBrotliDecompress(), parse);
  const [value, ...records] = lines;
  if (lines.includes(undefined)) throw new SyntaxError('not JSON');
  return isObject(value) && records.length > 0 ? { ...value, records: records.flat() } : value;
}
