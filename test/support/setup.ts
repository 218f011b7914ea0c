import { afterAll } from 'vitest';
import { endAll } from './process.ts';
import { closeAll } from './shared.ts';

// Whatever a file of tests started is ended with it, and nothing that any of it wrote holds a key.
afterAll(async () => {
  await closeAll();
  await endAll();
});
