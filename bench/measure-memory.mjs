import { open } from './http-client.mjs';
import { LineClient } from './line-client.mjs';
import { eras, post } from './measure-http.mjs';
import { listCall } from './measure-stdio.mjs';
import { residentMegabytes, startProcess, stopProcess } from './processes.mjs';
import { median, minimum } from './statistics.mjs';

const calls = 1_000;

async function afterStdio({ stdio }, env) {
  const child = startProcess(stdio, env);
  const client = new LineClient(child);
  await client.open();
  await client.request('tools/list');
  for (let n = 0; n < calls; n++) await client.request('tools/call', listCall);
  return megabytesOf(child);
}

async function afterHttp(candidate, env) {
  const { child, pool, path } = await open(candidate, env, 1);
  for (let n = 0; n < calls; n++) await post(pool, path, eras.modern);
  await pool.destroy();
  return megabytesOf(child);
}

async function megabytesOf(child) {
  const megabytes = residentMegabytes(child);
  await stopProcess(child);
  return megabytes;
}

/** Resident megabytes of a fresh process after a thousand calls, one at a time. */
export async function measureMemory(candidates, env, rounds) {
  const measured = {};
  for (const [transport, after] of Object.entries({ stdio: afterStdio, HTTP: afterHttp })) {
    const resident = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const name of Object.keys(resident))
        resident[name].push(await after(candidates[name], env));
    }
    measured[transport] = Object.fromEntries(
      Object.entries(resident).map(([name, all]) => [
        name,
        { min: minimum(all), median: median(all) },
      ]),
    );
  }
  return measured;
}
