import { expect } from 'vitest';

/** What must become so, however busy the machine is: looked at again and again. */
export const until = <T>(look: () => T, timeout = 20_000) =>
  expect.poll(look, { timeout, interval: 30 });
