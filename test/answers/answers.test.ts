import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runAgain } from '../support/script.ts';

const folder = 'test/answers';
const scripts = readdirSync(folder).filter((name) => name.endsWith('.txt'));

// What a person has read and approved. A change of words, figures or requests shows as a difference: read it, and approve it by
// `npx vitest run test/answers -u`.
test.each(scripts)('%s', async (name) => {
  const path = join(folder, name);
  await expect(await runAgain(readFileSync(path, 'utf8'))).toMatchFileSnapshot(`./${name}`);
});
