import { createHmac, timingSafeEqual } from 'node:crypto';

/** A code of a text that only holders of the key can make; 132 bits. */
export const codeOf = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);

/** A text with its code, which holds for one purpose. */
export const signed = (key: Uint8Array, purpose: string, body: string): string =>
  `${body}.${codeOf(key, `${purpose} ${body}`)}`;

/** Whether a whole text is exactly this body with its code. */
export const isSigned = (key: Uint8Array, purpose: string, body: string, text: string): boolean =>
  isEqual(text, signed(key, purpose, body));

export function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
