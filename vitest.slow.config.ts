import { defineConfig } from 'vitest/config';
import usual from './vitest.config.ts';

/** Suites that take minutes, or need more than Node and npm. */
export default defineConfig({
  ...usual,
  test: {
    ...usual.test,
    include: ['test/**/*.slow.test.ts'],
    exclude: ['node_modules/**'],
    passWithNoTests: true,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
