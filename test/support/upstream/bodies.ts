import {
  brotliCompressSync,
  constants,
  crc32,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import type { Active } from './behaviour.ts';
import { isRow } from './records.ts';

const mebibyte = 2 ** 20;

/** Placeholder for raw bytes until the JSON is serialized. */
const mark = '"@@grafted@@"';

/** Repeats every key, the first time with `null`: parsers use the last one. */
function withTwins(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(withTwins)}]`;
  if (!isRow(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => {
    const name = JSON.stringify(key);
    return `${name}:null,${name}:${withTwins(member)}`;
  })}}`;
}

/** Raw bytes for the value of a field that no JSON serializer produces. */
function foreignBytes(on: Active): Buffer | undefined {
  if (on.depth) return Buffer.from('['.repeat(on.depth) + ']'.repeat(on.depth));
  if (on.hugeMiB) return Buffer.from(`"${'x'.repeat(on.hugeMiB * mebibyte)}"`);
  if (on.invalidUtf8) return Buffer.from('"caf\xe9 \xc3\x28"', 'latin1');
  return undefined;
}

/** The answer with a placeholder in its first record, in any envelope. */
function marked(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? [marked(value[0]), ...value.slice(1)] : value;
  if (!isRow(value)) return value;
  const list = Object.entries(value).find(([, member]) => Array.isArray(member));
  const isEnvelope = list !== undefined && !('id' in value) && !('name' in value);
  if (isEnvelope) return { ...value, [list[0]]: marked(list[1]) };
  return { ...value, note: JSON.parse(mark) };
}

function grafted(text: string, bytes: Buffer): Buffer {
  const at = text.indexOf(mark);
  if (at < 0) return Buffer.from(text);
  const [before, after] = [text.slice(0, at), text.slice(at + mark.length)];
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}

/** The JSON of the answer with the faults of the switches. */
export function jsonBody(value: unknown, on: Active): Buffer {
  const foreign = foreignBytes(on);
  const write = on.duplicateKeys ? withTwins : (plain: unknown) => JSON.stringify(plain);
  const written = write(foreign ? marked(value) : value);
  const text = on.longIds ? written.replace(/"(\d{19})"/g, '$1') : written;
  return foreign ? grafted(text, foreign) : Buffer.from(text);
}

export function shaped(body: Buffer, on: Active): Buffer {
  const whole = on.bom ? Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]) : body;
  return on.truncate === undefined
    ? whole
    : whole.subarray(0, Math.floor(whole.length * on.truncate));
}

/** A gzip of this many MiB of zeros, made from a compressed block that repeats. */
function gzipBomb(mebibytes: number): Buffer {
  const zeros = Buffer.alloc(mebibyte);
  const block = deflateRawSync(zeros, { finishFlush: constants.Z_FULL_FLUSH });
  const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  const tail = Buffer.alloc(10);
  let sum = 0;
  for (let n = 0; n < mebibytes; n++) sum = crc32(zeros, sum);
  tail.writeUInt16LE(3, 0);
  tail.writeUInt32LE(sum, 2);
  tail.writeUInt32LE((mebibytes * mebibyte) % 2 ** 32, 6);
  return Buffer.concat([head, ...Array.from({ length: mebibytes }, () => block), tail]);
}

/** Created once, because the checksum takes a while. */
const bombs = new Map<number, Buffer>();

function bombOf(mebibytes: number): Buffer {
  const bomb = bombs.get(mebibytes) ?? gzipBomb(mebibytes);
  bombs.set(mebibytes, bomb);
  return bomb;
}

const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

export interface Encoded {
  body: Buffer;
  encoding?: string;
}

export function encoded(body: Buffer, on: Active, accepted: string): Encoded {
  if (on.bombMiB) return { body: bombOf(on.bombMiB), encoding: 'gzip' };
  if (on.encoding === undefined) return { body };
  if (on.encoding === 'unasked gzip') return { body: gzipSync(body), encoding: 'gzip' };
  if (on.encoding === 'false gzip') return { body, encoding: 'gzip' };
  const wanted = accepted.split(',').map((name) => name.split(';', 1)[0]?.trim());
  if (!wanted.includes(on.encoding)) return { body };
  return { body: encoders[on.encoding](body), encoding: on.encoding };
}

function insideCharacters(body: Buffer): number[] {
  const cuts = [0];
  body.forEach((byte, at) => {
    if ((byte & 0xc0) === 0x80) cuts.push(at);
  });
  return cuts;
}

const everySo = (length: number, step: number): number[] =>
  Array.from({ length: Math.max(1, Math.ceil(length / step)) }, (_, n) => n * step);

/** The chunks of the body. */
export function pieces(body: Buffer, chunks: number | 'characters'): Buffer[] {
  const cuts = chunks === 'characters' ? insideCharacters(body) : everySo(body.length, chunks);
  return cuts.map((from, n) => body.subarray(from, cuts[n + 1]));
}
