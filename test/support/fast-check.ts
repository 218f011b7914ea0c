/**
 * fast-check with a fixed seed, so that a test fails because of a change and not by chance. `CPQ_TEST_SEED` sets
 * another seed; with `random` each run has its own, which fast-check prints when a property fails.
 */
import fc from 'fast-check';

const seed = process.env.CPQ_TEST_SEED ?? '1';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

export default fc;
