import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { sampled } from '../../vitest.slow.config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const importsSampling = /from '[./]+\/support\/sampling\.ts'/;

test('files that run a sample of their cases are run whole by the slow suite', async () => {
  const names = (await readdir(join(root, 'test'), { recursive: true })).filter((name) =>
    name.endsWith('.test.ts'),
  );
  const sources = await Promise.all(
    names.map((name) => readFile(join(root, 'test', name), 'utf8')),
  );
  const found = names.filter((_, at) => importsSampling.test(sources[at] ?? ''));
  expect(found.map((name) => `test/${name}`).toSorted()).toEqual(sampled.toSorted());
});
