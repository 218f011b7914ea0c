import { defineConfig } from 'vitest/config';
import { define } from './scripts/defines.mjs';

/** Everything that a bare clone with Node and npm can run. Slow suites have a configuration of their own. */
export default defineConfig({
  define,
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.slow.test.ts', 'node_modules/**'],
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/setup.ts'],
    // Processes of their own: a native library is loaded, and every file starts servers besides.
    pool: 'forks',
    // One more than the cores of a small machine, because many tests wait.
    maxWorkers: 3,
    // Tests that mostly wait are marked concurrent.
    maxConcurrency: 20,
    // Tests with real sockets and processes can fail on a machine that is busy with something else. Inputs are the same
    // in the second run, so that a defect fails in both; the report marks what had to be repeated.
    retry: process.env.CI ? 1 : 0,
    // A second, the default, is too short on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    // A limit for what hangs, far above what a test takes on a machine with a load of twenty.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
  },
});
