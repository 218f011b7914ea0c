import { expect, test } from 'vitest';
import { run } from '../support/process.ts';

/** Node 18, as some systems install it, has no such function. */
const asInOlder = '--import=data:text/javascript,process.getBuiltinModule=undefined';

test.each([[[]], [['http', '--sandbox']]])(
  'an older Node is told which is needed: %j',
  async (words) => {
    const { status, stdout, stderr } = await run(words, { NODE_OPTIONS: asInOlder });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toBe(`cpq-mcp: needs Node 20.19 or later, and this is ${process.version}\n`);
  },
);
