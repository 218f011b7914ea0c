import { afterAll } from 'vitest';
import { endAll } from './process.ts';
import { closeAll } from './shared.ts';

// Stops everything that the file started, and searches its output for keys.
afterAll(async () => {
  await closeAll();
  await endAll();
});
