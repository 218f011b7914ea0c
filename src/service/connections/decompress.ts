import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { errorCode, isKeyOf } from '../../values.ts';
import { ApiError, type ErrorFacts } from '../errors.ts';
import type { Received } from './exchange.ts';

/**
 * The response with its body decompressed, at most to `maxBytes`.
 * @throws ApiError if the body is too large or does not match its content encoding
 */
export async function decompressed(
  { status, headers, body }: Received,
  maxBytes: number,
  facts: ErrorFacts,
): Promise<Received> {
  const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
  if (encoding === '' || encoding === 'identity') return { status, headers, body };
  return { status, headers, body: await decompress(body, encoding, maxBytes, facts) };
}

const decoders = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: inflate,
  br: brotliDecompress,
};

async function decompress(
  compressed: Buffer,
  encoding: string,
  maxBytes: number,
  facts: ErrorFacts,
): Promise<Buffer> {
  const decode = isKeyOf(decoders, encoding) ? decoders[encoding] : undefined;
  if (!decode)
    throw new ApiError('unexpected', {
      ...facts,
      problem: 'in a content encoding that was not requested',
    });
  const run = promisify<Buffer, { maxOutputLength: number }, Buffer>(decode);
  try {
    return await run(compressed, { maxOutputLength: maxBytes });
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw new ApiError('too-large', facts);
    throw new ApiError('malformed', {
      ...facts,
      problem: 'not in the declared content encoding, or incomplete',
    });
  }
}
