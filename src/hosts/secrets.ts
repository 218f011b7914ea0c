import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares in constant time, independent of length. */
export function isSameSecret(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
