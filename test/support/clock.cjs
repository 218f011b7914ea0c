// Preloaded by every process of a test run: moves its clock by `TEST_CLOCK_AHEAD_MS`, and with it the times of files.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const ahead = () => Number(process.env.TEST_CLOCK_AHEAD_MS ?? 0);
const dayMs = 86_400_000;
const realNow = Date.now;
const { stat } = fs.promises;

Date.now = () => realNow() + ahead();
globalThis.Date = new Proxy(Date, {
  construct: (real, given, type) =>
    Reflect.construct(real, given.length > 0 ? given : [Date.now()], type),
});

// The kernel gave a file a time of today; a time that a process gave is moved already.
fs.promises.stat = async (...given) => {
  const stats = await stat(...given);
  const { mtimeMs } = stats;
  // Node's own functions ask for integers, which they compare with each other only.
  if (typeof mtimeMs === 'number' && Math.abs(mtimeMs - realNow()) < dayMs)
    stats.mtimeMs += ahead();
  return stats;
};
syncBuiltinESMExports();
