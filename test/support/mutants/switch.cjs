// Preloaded by every process of `npm run mutants`: says which mutant is on, and remembers which were reached.
// TEST_MUTANT is the id of the one that is on, or a folder in which each process leaves what it has reached.
const { renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { isMainThread } = require('node:worker_threads');

/** More often than that, a mutant is in a loop that does not end. */
const maxCalls = 3_000_000;

const reached = new Set();
let on = Number(process.env.TEST_MUTANT);
let calls = 0;

globalThis.isMutant = (id) => {
  reached.add(id);
  if (id !== on) return false;
  calls += 1;
  if (calls > maxCalls) throw new Error('A mutant is in an endless loop.');
  return true;
};
const { TEST_MUTANT: folder } = process.env;
globalThis.mutants = {
  folder,
  reached,
  turnOn(id) {
    on = id;
    calls = 0;
  },
  /** Leaves what was reached since the last time, in a folder that has the name of a test file. */
  leave(folder) {
    const file = join(folder, `${process.pid}-${Math.random().toString(36).slice(2)}`);
    writeFileSync(file, JSON.stringify([...reached]));
    // A process that is killed while it writes leaves no half list.
    renameSync(file, `${file}.json`);
    reached.clear();
  },
};
if (isMainThread && folder && Number.isNaN(on))
  process.on('exit', () => globalThis.mutants.leave(process.env.TEST_MUTANT));
