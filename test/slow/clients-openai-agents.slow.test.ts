import { expect, test } from 'vitest';
import { describeWithNpm, runProgram } from '../support/npm.ts';
import { everyWay, theKey } from '../support/reached.ts';
import { shownTools } from '../support/samples.ts';

/**
 * The Agents SDK makes every argument of a tool required: the model sends null for those that it leaves out. It
 * offers a tool unchanged if its schema cannot be rewritten.
 */

const packages = ['@openai/agents@0.20.0', 'zod@4.6.7'];

interface Tool {
  parameters: { properties: object };
}

describeWithNpm('the Agents SDK', () => {
  test.each(everyWay)('over %s', async (_, reached) => {
    const result = await runProgram('openai-agents.mjs', await reached(), ...packages);
    const three = { text: expect.stringMatching(/^3 of \d+ companies/) };
    expect(result).toMatchObject({
      tools: shownTools.map(({ name }) => ({ name, strict: true })),
      answer: three,
      refusal: { text: expect.stringContaining('size must be') },
    });
    const { tools, plain } = result as { tools: Tool[]; plain: unknown[] };
    expect(plain[0]).toMatchObject(three);
    for (const { parameters } of tools)
      expect(parameters).toMatchObject({
        additionalProperties: false,
        required: Object.keys(parameters.properties),
      });
    expect(JSON.stringify(result)).not.toContain(await theKey());
  });
});
