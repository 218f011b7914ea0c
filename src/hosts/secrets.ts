import { createHash, timingSafeEqual } from 'node:crypto';

/** Takes the same time wherever the two differ, and however long they are. */
export function isSameSecret(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
