import { defineConfig } from 'vitest/config';
import { common } from './vitest.config.ts';

/** The suites of the protocol, once more without the fast path: every request is answered by the SDK. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    globalSetup: ['test/support/build.ts'],
    isolate: false,
    env: { CPQ_FAST_PATH: 'off' },
    include: [
      'test/access/flood.test.ts',
      'test/access/grants.test.ts',
      'test/tools/arguments.test.ts',
      'test/consent/answers.test.ts',
      'test/consent/question.test.ts',
      'test/hosts/http.test.ts',
      'test/hosts/lifecycle.test.ts',
      'test/tools/tools.test.ts',
    ],
  },
});
