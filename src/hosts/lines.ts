import type { Readable } from 'node:stream';

const lineFeed = 10;

/**
 * Calls back with every line of a stream; text after the last line feed counts as a line when the stream
 * ends.
 * @returns a function that stops reading
 */
export function readLines(
  stream: Readable,
  maxBytes: number,
  onLine: (line: string) => void,
  tooLong: () => void,
): () => void {
  let parts: Buffer[] = [];
  let pending = 0;
  const read = (bytes: Buffer) => {
    let from = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, from)) {
      const last = bytes.subarray(from, end);
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
      parts = [];
      pending = 0;
      from = end + 1;
      onLine(line.toString('utf8'));
    }
    if (from === bytes.length) return;
    parts.push(from === 0 ? bytes : bytes.subarray(from));
    pending += bytes.length - from;
    if (pending > maxBytes) tooLong();
  };
  const readRest = () => {
    if (pending > 0) onLine(Buffer.concat(parts).toString('utf8'));
  };
  stream.on('data', read);
  stream.once('end', readRest);
  return () => {
    stream.off('data', read);
    stream.off('end', readRest);
    stream.pause();
  };
}
