/**
 * fast-check with a fixed seed, so that a test fails because of a change and not by chance. `CPQ_TEST_SEED` sets
 * another seed; with `random` each run has its own, which fast-check prints when a property fails.
 */
import fc from 'fast-check';

const seed = process.env.CPQ_TEST_SEED ?? '1';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

export default fc;

const surrogates = { from: 0xd800, count: 0x800 };

/** Any of Unicode's code points, as fast-check's unit `binary`, which first makes a table of all of them. */
export const codePoint = fc
  .nat(0x10_ffff - surrogates.count)
  .map((at) => String.fromCodePoint(at < surrogates.from ? at : at + surrogates.count));
