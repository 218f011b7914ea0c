import { performance } from 'node:perf_hooks';
import { LineClient } from './line-client.mjs';
import { warmUpCalls } from './measure-http.mjs';
import { processorMs, startProcess, stopProcess } from './processes.mjs';
import { median, minimum } from './statistics.mjs';

export const listCall = { name: 'cpq_list_opportunities', arguments: { size: 25 } };
const inRound = 40;

async function connect(argv, env) {
  const child = startProcess(argv, env);
  const client = new LineClient(child);
  await client.open();
  return { child, client };
}

async function timed(client) {
  const from = performance.now();
  const answer = await client.request('tools/call', listCall);
  if (answer.length < 2_000) throw new Error(`not an answer: ${answer}`);
  return performance.now() - from;
}

/**
 * Milliseconds per call, one at a time, until the line of the answer has arrived: the minimum and the median over the medians of the rounds.
 */
export async function measureStdio(candidates, env, rounds) {
  const names = Object.keys(candidates);
  const all = await Promise.all(names.map((name) => connect(candidates[name].stdio, env)));
  const rows = names.map((name, at) => ({ name, ...all[at], medians: [], processor: [] }));
  for (const { client } of rows) for (let n = 0; n < warmUpCalls; n++) await timed(client);
  for (let round = 0; round < rounds; round++) {
    for (const row of rows) {
      const times = [];
      const before = processorMs(row.child);
      for (let n = 0; n < inRound; n++) times.push(await timed(row.client));
      row.medians.push(median(times));
      row.processor.push((processorMs(row.child) - before) / inRound);
    }
  }
  const measured = rows.map(({ name, medians, processor }) => [
    name,
    {
      min: minimum(medians),
      median: median(medians),
      all: medians,
      processorMs: minimum(processor),
    },
  ]);
  await Promise.all(rows.map(({ child }) => stopProcess(child)));
  return Object.fromEntries(measured);
}
