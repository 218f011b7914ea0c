import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';

const programs = { redis: 'redis-server', chromium: 'chromium', nginx: 'nginx' } as const;

/**
 * Tests that need a program besides Node. Without it they are skipped, with a message; with `CPQ_TEST_EVERYTHING`
 * they run, and fail, instead.
 */
export function describeWith(need: keyof typeof programs, name: string, tests: () => void): void {
  const program = programs[need];
  describeWhere(isInstalled(program), `${program}, which is not installed`, name, tests);
}

/** The same for other requirements. `needed` says what is missing. */
export function describeWhere(
  isMet: boolean,
  needed: string,
  name: string,
  tests: () => void,
): void {
  const skip = !isMet && !process.env.CPQ_TEST_EVERYTHING;
  if (skip) process.stderr.write(`Skipped: "${name}" needs ${needed}.\n`);
  describe.skipIf(skip)(name, tests);
}

const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => canRun(join(folder, program)));

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
