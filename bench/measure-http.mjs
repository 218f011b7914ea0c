import { performance } from 'node:perf_hooks';
import { accept, legacyHeaders, open } from './http-client.mjs';
import { processorMs, residentMegabytes, stopProcess } from './processes.mjs';
import { maximum, median, minimum } from './statistics.mjs';

const inFlight = 32;
/** Before them the functions that a call runs are not all compiled. */
export const warmUpCalls = 5_000;
const name = 'cpq_list_opportunities';
const params = { name, arguments: { size: 25 } };

/** The same call in the form of each protocol era. */
export const eras = {
  legacy: {
    headers: legacyHeaders,
    params,
  },
  modern: {
    headers: {
      ...accept,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
};

/** Calls once and reads the answer, without decoding it. @throws Error if the call failed */
export async function post(pool, path, { headers, params }) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const response = await pool.request({ method: 'POST', path, headers, body });
  const answer = await response.body.bytes();
  if (response.statusCode !== 200 || answer.length < 2_000) {
    throw new Error(`not an answer: ${response.statusCode} ${Buffer.from(answer)}`);
  }
}

/** Calls with `inFlight` calls in flight, until `isDone` of the number of calls. @returns that number */
async function callUntil({ pool, path }, era, isDone) {
  let calls = 0;
  const worker = async () => {
    while (!isDone(calls)) {
      calls += 1;
      await post(pool, path, era);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return calls;
}

/** Calls per second over `ms` milliseconds, with `inFlight` calls in flight all the time. */
async function callsPerSecond(server, era, ms) {
  const from = performance.now();
  const calls = await callUntil(server, era, () => performance.now() - from >= ms);
  return { calls, perSecond: calls / ((performance.now() - from) / 1000) };
}

/** Calls per second of each candidate in both eras: the best round, and the median. */
export async function measureHttp(candidates, env, rounds, ms = 600) {
  const names = Object.keys(candidates);
  const servers = await Promise.all(names.map((it) => open(candidates[it], env, inFlight)));
  const measured = {};
  for (const [era, request] of Object.entries(eras)) {
    const rows = servers.map(() => ({ rates: [], processor: [] }));
    for (const server of servers) await callUntil(server, request, (calls) => calls >= warmUpCalls);
    for (let round = 0; round < rounds; round++) {
      for (const [at, server] of servers.entries()) {
        const before = processorMs(server.child);
        const { calls, perSecond } = await callsPerSecond(server, request, ms);
        rows[at].rates.push(perSecond);
        rows[at].processor.push((processorMs(server.child) - before) / calls);
      }
    }
    measured[era] = Object.fromEntries(rows.map((row, at) => [names[at], summed(row)]));
  }
  const memory = servers.map(({ child }, at) => [names[at], residentMegabytes(child)]);
  await Promise.all(
    servers.map(({ pool, child }) => pool.destroy().then(() => stopProcess(child))),
  );
  return { ...measured, megabytesAfter: Object.fromEntries(memory) };
}

const summed = ({ rates, processor }) => ({
  max: maximum(rates),
  median: median(rates),
  all: rates,
  processorMs: minimum(processor),
});
