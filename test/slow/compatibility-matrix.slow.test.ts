import { writeFile } from 'node:fs/promises';
import { afterAll, describe, test, vi } from 'vitest';
import { known } from '../support/compatibility/known.ts';
import {
  asMarkdown,
  type Cell,
  coversPart,
  deviationsIn,
  judgeVariation,
  reasons,
} from '../support/compatibility/matrix.ts';
import { variations } from '../support/compatibility/variations.ts';

/**
 * Everything that people ask for, asked of the server before every variation of the service. An answer is
 * the whole truth, or says first that it is a part, or is an error that nobody could have read around.
 * Whatever is not has to be listed as a known deviation; one that is listed and gone fails as well, so that
 * the list can only become shorter. With MATRIX_FILE set, the matrix is
 * written there, as Markdown or, to a file named .json, with the reasons.
 */

const matrix: Cell[] = [];

// Enough to fill the pauses between attempts: more at once only take each other's time.
vi.setConfig({ maxConcurrency: 2 });

afterAll(async () => {
  const file = process.env.MATRIX_FILE;
  if (file === undefined) return;
  const text = file.endsWith('.json')
    ? JSON.stringify(matrix, undefined, 1)
    : asMarkdown(variations, matrix);
  await writeFile(file, `${text}\n`);
});

describe.concurrent('the service', () => {
  test.for(variations)('$name', async (variation, { expect }) => {
    const cells = await judgeVariation(variation);
    matrix.push(...cells);
    expect(deviationsIn(cells), reasons(cells)).toEqual(known[variation.name] ?? {});
    expect(coversPart(cells)).toBe(variation.partial ?? false);
  });
});
