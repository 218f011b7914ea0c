/**
 * Files with many similar cases run a sample of them in the quick suite, and all of them in the slow suite:
 * `vitest.slow.config.ts` lists these files and sets the variable.
 */
const runsAll = process.env.CPQ_TEST_ALL_CASES === '1';

/**
 * Every nth case in the quick suite, all cases in the slow suite. Which of them depends on `offset`: counting up,
 * `every` samples have all cases.
 */
export const sample = <T>(cases: readonly T[], every: number, offset = 0): T[] =>
  cases.filter((_, index) => runsAll || (index + offset) % every === 0);

/** Repetitions or cases: the first in the quick suite, the second in the slow suite. */
export const quickOrAll = <T>(quick: T, all: T): T => (runsAll ? all : quick);
