import { expect, test } from 'vitest';
import { describeWithNpm, runProgram } from '../support/npm.ts';
import { everyWay, theKey } from '../support/reached.ts';
import { shownTools } from '../support/samples.ts';

/**
 * The Agents SDK makes every argument of a tool required: the model sends null for those that it leaves out. It
 * offers a tool unchanged if its schema cannot be rewritten.
 */

const packages = ['@openai/agents@0.20.0', 'zod@4.6.7'];

interface Text {
  type: string;
  text: string;
}

interface Said {
  tools: { name: string; strict: boolean; parameters?: Schema; why?: string }[];
  answer: Text;
  refusal: Text;
  plain: Text[];
}

interface Schema {
  properties: Record<string, unknown>;
  required: string[];
  additionalProperties: boolean;
}

describeWithNpm('the Agents SDK', () => {
  test.each(everyWay)('over %s', async (_, reached) => {
    const result = (await runProgram('openai-agents.mjs', await reached(), ...packages)) as Said;
    expect(result.tools.map(({ name }) => name)).toEqual(shownTools.map(({ name }) => name));
    expect(result.tools.filter(({ strict }) => !strict)).toEqual([]);
    for (const { parameters } of result.tools) {
      expect(parameters?.additionalProperties).toBe(false);
      expect(parameters?.required).toEqual(Object.keys(parameters?.properties ?? {}));
    }
    expect(result.answer.text).toMatch(/^3 of \d+ companies/);
    expect(result.plain[0]?.text).toMatch(/^3 of \d+ companies/);
    expect(result.refusal.text).toContain('size must be');
    expect(JSON.stringify(result)).not.toContain(await theKey());
  });
});
