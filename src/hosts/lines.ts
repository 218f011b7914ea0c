import type { Readable } from 'node:stream';

const lineFeed = 10;

/**
 * Hands on every line of a stream, as text.
 * @returns what ends it
 */
export function readLines(
  stream: Readable,
  maxBytes: number,
  take: (line: string) => void,
  tooLong: () => void,
): () => void {
  let parts: Buffer[] = [];
  let held = 0;
  const read = (bytes: Buffer) => {
    let from = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, from)) {
      const last = bytes.subarray(from, end);
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
      parts = [];
      held = 0;
      from = end + 1;
      take(line.toString('utf8'));
    }
    if (from === bytes.length) return;
    parts.push(from === 0 ? bytes : bytes.subarray(from));
    held += bytes.length - from;
    if (held > maxBytes) tooLong();
  };
  stream.on('data', read);
  return () => {
    stream.off('data', read);
    stream.pause();
  };
}
