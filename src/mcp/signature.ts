import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** A code of a text that only holders of the key can make; 132 bits. */
export const codeOf = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);

/** A text with its code, which holds for one purpose. */
export const signed = (key: Uint8Array, purpose: string, body: string): string =>
  `${body}.${codeOf(key, `${purpose} ${body}`)}`;

/** Whether a whole text is exactly this body with its code. */
export const isSigned = (key: Uint8Array, purpose: string, body: string, text: string): boolean =>
  isSameSecret(text, signed(key, purpose, body));

/** Compares in constant time, independent of length. */
export function isSameSecret(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
