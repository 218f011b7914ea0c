import { expect, test } from 'vitest';
import { describeWithNpm, runProgram } from '../support/npm.ts';
import { everyWay, theKey } from '../support/reached.ts';
import { shownTools } from '../support/samples.ts';

/** A client with its own implementation of the protocol, in both eras. */

const packages = ['@ai-sdk/mcp@2.0.99', 'zod@4.6.7'];
const eras = [
  ['2026-07-28', false],
  ['2025-11-25', true],
] as const;

interface Answer {
  content: { text: string }[];
  structuredContent: { records: { id: string }[] };
  isError?: boolean;
}

describeWithNpm('the client of the AI SDK', () => {
  const cases = everyWay.flatMap(([transport, reached]) =>
    eras.map(([revision, older]) => [transport, revision, older, reached] as const),
  );

  test.each(cases)('over %s, revision %s', async (_, revision, older, reached) => {
    const input = { ...(await reached()), older };
    const result = await runProgram('ai-sdk.mjs', input, ...packages);
    expect(result).toMatchObject({
      revision,
      server: 'cpq-mcp',
      instructions: expect.stringContaining('cpq_brief_pipeline'),
      tools: shownTools.map(({ name }) => name),
      prompts: expect.arrayContaining(['pipeline-review']),
      resources: expect.arrayContaining(['cpq://definitions']),
      definitions: expect.stringContaining('margin'),
      refusal: { isError: true, content: [{ text: expect.stringContaining('size must be') }] },
    });
    const { content, structuredContent, isError = false } = (result as { answer: Answer }).answer;
    expect([isError, structuredContent.records.length]).toEqual([false, 3]);
    for (const { id } of structuredContent.records) expect(content[0]?.text).toContain(id);
    expect(JSON.stringify(result)).not.toContain(await theKey());
  });
});
