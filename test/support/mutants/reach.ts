import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { mutants } from './switch.ts';

/** Called for each test file where `npm run mutants` records which mutants it reaches, its processes included. */
export function recordReached(): void {
  beforeAll(() => {
    const file = relative('.', String(expect.getState().testPath));
    process.env.TEST_MUTANT = join(mutants.folder, file.replaceAll('/', '+'));
    mkdirSync(process.env.TEST_MUTANT, { recursive: true });
  });
  afterAll(() => mutants.leave(String(process.env.TEST_MUTANT)));
}
