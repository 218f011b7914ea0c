import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';

const brotli = promisify<Buffer, { params: Record<number, number> }, Buffer>(brotliCompress);
/** Nearly as small as the highest quality, in a fraction of the time. */
const defaultQuality = 4;

export const compress = (body: Buffer, quality = defaultQuality): Promise<Buffer> =>
  brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
export const decompress = promisify<Buffer, Buffer>(brotliDecompress);
