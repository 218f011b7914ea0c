import { expect } from 'vitest';

/** How long, and how often, is looked for what must become so however busy the machine is. */
export const patience = { timeout: 20_000, interval: 30 };

/**
 * What must become so: looked at again and again. A concurrent test uses `poll` of its own `expect` with `patience`,
 * because the global one does not know which test it is in.
 */
export const until = <T>(look: () => T, timeout = patience.timeout) =>
  expect.poll(look, { ...patience, timeout });
