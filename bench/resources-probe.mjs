// Loaded into a server before its own code: answers each message with what it holds after a collection of garbage.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

process.on('message', () => {
  collectGarbage();
  process.send({
    heapMegabytes: process.memoryUsage().heapUsed / 1024 ** 2,
    timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
  });
});
process.channel.unref();
