// Asks a server for /healthz all the time. Each message from the parent is answered with the longest time that an answer
// took since the message before, in milliseconds; a request that still waits counts with the time it has waited.
import { Agent, get } from 'node:http';
import { performance } from 'node:perf_hooks';

const url = process.argv[2];
const pauseMs = 5;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let askedAt = performance.now();
let maxMs = 0;

function ask() {
  askedAt = performance.now();
  const request = get(url, { agent }, (response) => {
    response.resume().once('end', () => {
      maxMs = Math.max(maxMs, performance.now() - askedAt);
      askedAt = undefined;
      setTimeout(ask, pauseMs);
    });
  });
  request.once('error', () => process.exit()); // The server was stopped.
}

process.on('message', () => {
  const waitedMs = askedAt === undefined ? 0 : performance.now() - askedAt;
  process.send({ maxMs: Math.max(maxMs, waitedMs) });
  maxMs = 0;
});
process.once('disconnect', () => process.exit());
ask();
