import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { visible } from '../../src/text/characters.ts';
import { openOverService } from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';

const keys = ['key-of-24-characters-long', 'key|with\\separators|of-cells'];

describe.each(keys)('the key %s', (key) => {
  const joiner = '\u200d';
  const split = `${key.slice(0, 9)}${joiner}${key.slice(9)}`;

  test.each<[string, Row]>([
    ['a text', { description: `Use ${key}` }],
    ['a text, split by a character that is not visible', { description: `Use ${split}` }],
    ['a name', { name: key }],
    ['a custom field', { custom_fields: [`note=${key}`] }],
    ['the name of a custom field', { custom_fields: [`${key}=1`] }],
  ])('is not written as %s, and not kept', async (_, args) => {
    const { answering, it, puts } = await openOverService({ key });
    const answer = await it.upsert({ external_id: 'opp-1', ...args });
    expect(answer.text).toMatch(
      /^Nothing was written\. A value contains the API key|must not contain U/,
    );
    expect(answer.text).not.toContain(key);
    expect(answering.asked).toEqual([]);
    expect(puts()).toBe(0);
    for (const name of await readdir(it.folder))
      expect(await readFile(join(it.folder, name), 'utf8')).not.toContain(key);
  });

  test('is in no answer where the service repeats it in parts', async () => {
    const { upstream, rows, it } = await openOverService({ key });
    const invisible = `${key.slice(0, 5)}\u200b${key.slice(5)}`;
    for (const row of upstream.records['/company']) Object.assign(row, { name: invisible });
    for (const row of rows) row.company = { id: 'x', name: invisible };
    for (const name of ['cpq_list_companies', 'cpq_list_opportunities', 'cpq_brief_pipeline']) {
      const result = await it.client.callTool({ name, arguments: {} });
      const texts = JSON.stringify(result, (_, value) =>
        typeof value === 'string' ? visible(value).replaceAll('\\|', '|') : value,
      );
      expect(JSON.parse(texts), name).toBeDefined();
      expect(texts.includes(JSON.stringify(key).slice(1, -1)), name).toBe(false);
    }
  });
});
