import { randomBytes } from 'node:crypto';
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

/** @throws StateUnavailable */
export async function tryLock(
  link: RedisLink,
  key: string,
  token: string,
  ms: number,
): Promise<boolean> {
  return (await link.send(['SET', key, token, 'NX', 'PX', String(ms)])) !== null;
}

/** Runs `work` while holding a lock that was acquired before; renews the lock and releases it at the end. */
export async function runWithLock<T>(
  link: RedisLink,
  key: string,
  token: string,
  ms: number,
  work: (isHeld: () => Promise<boolean>) => Promise<T>,
): Promise<T> {
  const isHeld = async () => Number(await link.runScript(renewScript, [key], [token, ms])) === 1;
  const renew = () => void isHeld().catch(() => {}); // The lock then expires.
  const timer = setInterval(renew, ms / 3).unref();
  try {
    return await work(isHeld);
  } finally {
    clearInterval(timer);
    await link.runScript(releaseScript, [key], [token]).catch(() => {}); // The lock expires by itself.
  }
}
