import { expect, test } from 'vitest';
import { describeWithNpm, runProgram } from '../support/npm.ts';
import { everyWay, theKey } from '../support/reached.ts';
import { shownTools } from '../support/samples.ts';

/** LangChain checks arguments by the input schema itself, and gives the model the text. */

const packages = ['@langchain/mcp-adapters@1.1.4', '@langchain/core@1.4.0'];

describeWithNpm('the client of LangChain', () => {
  test.each(everyWay)('over %s', async (_, reached) => {
    const result = await runProgram('langchain.mjs', await reached(), ...packages);
    expect(result).toMatchObject({
      tools: shownTools.map(({ name }) => name),
      answer: { text: expect.stringMatching(/^3 of \d+ companies/) },
      unknown: { text: expect.stringContaining('nobody of this name') },
      refusal: { thrown: expect.stringContaining('There is no such record') },
    });
    expect(JSON.stringify(result)).not.toContain(await theKey());
  });
});
