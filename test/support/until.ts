import { expect } from 'vitest';

/** Time limit and interval of polls, generous because the machine may be busy. */
export const patience = { timeout: 20_000, interval: 30 };

/**
 * Polls until the expectation holds. A concurrent test uses `poll` of its own `expect` with `patience`, because the
 * global one does not know its test.
 */
export const until = <T>(look: () => T, timeout = patience.timeout) =>
  expect.poll(look, { ...patience, timeout });
