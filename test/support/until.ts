import { expect } from 'vitest';

/** What must become so, however busy the machine is: looked at again and again. */
export const until = <T>(look: () => T) => expect.poll(look, { timeout: 20_000, interval: 30 });
