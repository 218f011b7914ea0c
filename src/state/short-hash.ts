import { createHash } from 'node:crypto';

/** The first 16 hexadecimal digits of the SHA-256 hash. */
export const shortHash = (value: string | Buffer): string =>
  createHash('sha256').update(value).digest('hex').slice(0, 16);
