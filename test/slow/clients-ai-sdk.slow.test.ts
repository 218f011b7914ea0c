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

interface Result {
  content: { type: string; text: string }[];
  structuredContent?: { records: { id: string }[] };
  isError?: boolean;
}

interface Said {
  revision: string;
  server: string;
  instructions: string;
  tools: string[];
  answer: Result;
  refusal: Result;
  resources: string[];
  definitions: string;
  prompts: string[];
}

describeWithNpm('the client of the AI SDK', () => {
  const cases = everyWay.flatMap(([transport, reached]) =>
    eras.map(([revision, older]) => [transport, revision, older, reached] as const),
  );

  test.each(cases)('over %s, revision %s', async (_, revision, older, reached) => {
    const input = { ...(await reached()), older };
    const result = (await runProgram('ai-sdk.mjs', input, ...packages)) as Said;
    expect(result).toMatchObject({ revision, server: 'cpq-mcp' });
    expect(result.instructions).toContain('cpq_brief_pipeline');
    expect(result.tools).toEqual(shownTools.map(({ name }) => name));
    expect(result.prompts).toContain('pipeline-review');
    expect(result.resources).toContain('cpq://definitions');
    expect(result.definitions).toContain('margin');
    expectAnswer(result.answer);
    expect(result.refusal).toMatchObject({ isError: true });
    expect(result.refusal.content[0]?.text).toContain('size must be');
    expect(JSON.stringify(result)).not.toContain(await theKey());
  });
});

function expectAnswer({ content, structuredContent, isError }: Result): void {
  expect(isError ?? false).toBe(false);
  expect(structuredContent?.records).toHaveLength(3);
  for (const { id } of structuredContent?.records ?? []) expect(content[0]?.text).toContain(id);
}
