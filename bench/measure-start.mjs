import { performance } from 'node:perf_hooks';
import { LineClient } from './line-client.mjs';
import { startProcess, stopProcess } from './processes.mjs';
import { median, minimum } from './statistics.mjs';

/** Milliseconds from spawn to the answer of the first `tools/list`, including the handshake. */
async function coldStart(argv, env) {
  const from = performance.now();
  const child = startProcess(argv, env);
  const client = new LineClient(child);
  await client.open();
  await client.request('tools/list');
  const ms = performance.now() - from;
  await stopProcess(child);
  return ms;
}

/** Measures the candidates in turn in every round, so that a slow machine slows all of them. */
export async function measureStart(candidates, env, rounds) {
  const names = Object.keys(candidates);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) await coldStart(candidates[name].stdio, env); // The first run reads the disk.
  for (let round = 0; round < rounds; round++) {
    for (const name of names) times[name].push(await coldStart(candidates[name].stdio, env));
  }
  return Object.fromEntries(
    names.map((name) => [
      name,
      { min: minimum(times[name]), median: median(times[name]), all: times[name] },
    ]),
  );
}
