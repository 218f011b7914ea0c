import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { hashFile, hashOfViews } from '../../scripts/view-sources.ts';

test('the pictures of the documents show the views as they are: npm run draw:images', async () => {
  expect((await readFile(hashFile, 'utf8')).trim()).toBe(hashOfViews('.'));
});
