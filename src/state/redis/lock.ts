import { randomBytes } from 'node:crypto';
import type { Lock } from '../lock.ts';
import type { RedisLink } from './link.ts';

/** KEYS: lock. ARGV: token, milliseconds. */
const renewScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/** KEYS: lock. ARGV: token. */
const releaseScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`;

/** Lifetime of a lock after the process that held it has died. */
export const defaultLockMs = 10_000;

export const newToken = (): string => randomBytes(16).toString('hex');

/** @returns whether it is set now and was not. @throws StateUnavailable */
export const setOnce = async (
  link: RedisLink,
  key: string,
  value: string,
  ms: number,
): Promise<boolean> => (await link.send(['SET', key, value, 'NX', 'PX', String(ms)])) !== null;

/** A lock that was acquired before, by its token. It is renewed until it is released. */
export function heldLock(link: RedisLink, key: string, token: string, ms: number): Lock {
  const isHeld = async () => Number(await link.runScript(renewScript, [key], [token, ms])) === 1;
  const renew = () => void isHeld().catch(() => {}); // The lock then expires.
  const timer = setInterval(renew, ms / 3).unref();
  return {
    isHeld,
    async release() {
      clearInterval(timer);
      await link.runScript(releaseScript, [key], [token]).catch(() => {}); // It expires by itself.
    },
  };
}
