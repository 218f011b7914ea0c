import { resolve } from 'node:path';

const preloaded = resolve('test/support/clock.cjs');

/** Variables of a Node process whose clock starts at noon of this day, UTC, because answers depend on the day. */
export function clockAt(day: string): Record<string, string> {
  const now = Date.now() - Number(process.env.TEST_CLOCK_AHEAD_MS ?? 0);
  return {
    NODE_OPTIONS: `--require ${JSON.stringify(preloaded)}`,
    TEST_CLOCK_AHEAD_MS: String(Date.parse(`${day}T12:00:00Z`) - now),
  };
}
