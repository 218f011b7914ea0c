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
 * Runs all probes with every variation of the service. An answer is complete, or first says that it is partial, or
 * is an error that could not be avoided. Every other result must be listed as a known deviation; a listed one that
 * no longer occurs fails too, so that the list only becomes shorter. With MATRIX_FILE the matrix is written to this
 * file, as Markdown, or with the reasons if its name ends in .json.
 */

const matrix: Cell[] = [];

// Two use the pauses between attempts; more would slow each other down.
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
