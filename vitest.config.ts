import { defineConfig, mergeConfig } from 'vitest/config';
import { define } from './scripts/defines.mjs';
import { clockAt } from './test/support/clock.ts';

// Whatever the machine's date: tests, servers and the sandbox's data have this one. CI has others besides.
if (!process.env.TEST_CLOCK_AHEAD_MS) {
  Object.assign(process.env, clockAt(process.env.TEST_DATE ?? '2026-11-20'));
}

/** What calls functions, and starts neither a server nor a process. Nothing in it may fail once and pass when repeated. */
const functions = [
  'test/briefs/*.test.ts',
  'test/text/{characters,secrets,untrusted-text}.test.ts',
  'test/changes/{fields,verification}.test.ts',
  'test/api/{envelopes,key-in-json,normalise,recognition}.test.ts',
  'test/consent/question.test.ts',
  'test/events/read.test.ts',
  'test/tools/long-answers.test.ts',
  'test/views/functions.test.ts',
];

/** The common part of all configurations. */
export const common = defineConfig({
  define,
  test: {
    setupFiles: ['test/support/setup.ts'],
    // Processes of their own: a native library is loaded, and the files start servers besides.
    pool: 'forks',
    // One more than the cores of a small machine, because many tests wait.
    maxWorkers: 3,
    // Tests that mostly wait are marked concurrent.
    maxConcurrency: 20,
    // Tests with real sockets and processes can fail on a machine that is busy with something else. Inputs are the same
    // in the second run, so that a defect fails in both; the report marks what had to be repeated.
    retry: process.env.CI ? 1 : 0,
    // A second, the default, is too short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // Limits for what hangs, far above what a test takes on a machine with a load of twenty.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 10_000,
  },
});

const servers = { include: ['test/**/*.test.ts'], globalSetup: ['test/support/build.ts'] };
const slow = ['test/**/*.slow.test.ts', 'node_modules/**'];

/** Everything that a bare clone with Node and npm can run. Slow suites have a configuration of their own. */
export default mergeConfig(common, {
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'functions', include: functions, pool: 'threads', isolate: false, retry: 0 },
      },
      {
        extends: true,
        // A process imports the modules once for all its files, each of which closes what it has opened (`setup.ts`).
        test: { name: 'servers', isolate: false, ...servers, exclude: [...functions, ...slow] },
      },
    ],
  },
});
