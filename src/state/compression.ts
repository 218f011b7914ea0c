import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';

const brotli = promisify<Buffer, { params: Record<number, number> }, Buffer>(brotliCompress);
/** Nearly as small as the highest quality, in a fraction of the time. */
export const defaultQuality = 4;

export const compress = (body: Buffer, quality = defaultQuality): Promise<Buffer> =>
  brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });

const unbrotli = promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress);

/**
 * @param maxLength in bytes: a few kilobytes that were written by others may hold gigabytes
 * @throws for a damaged or longer content
 */
export const decompress = (body: Buffer, maxLength: number): Promise<Buffer> =>
  unbrotli(body, { maxOutputLength: maxLength });
