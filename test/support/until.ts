import { expect } from 'vitest';

/** Timeout and interval of polls, generous because the machine may be busy. */
export const polling = { timeout: 60_000, interval: 30 };

/** For what follows within one process, with `vi.waitFor`. */
export const soon = { ...polling, interval: 5 };

/**
 * Polls until the expectation holds. A concurrent test uses `poll` of its own `expect` with `polling`, because the
 * global one does not know its test.
 */
export const until = <T>(look: () => T, timeout = polling.timeout) =>
  expect.poll(look, { ...polling, timeout });

/** What waits until the test releases it. */
export function hold<T = void>(): { held: Promise<T>; release: (value: T) => void } {
  let release: (value: T) => void = () => {};
  const held = new Promise<T>((resolve) => {
    release = resolve;
  });
  return { held, release };
}
