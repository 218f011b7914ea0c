// How time, stalls, memory and requests grow with the tenant.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { callTool, open } from './http-client.mjs';
import { wire } from './measure-tokens.mjs';
import {
  exchange,
  maxResidentMegabytes,
  processorMs,
  residentMegabytes,
  startProcess,
  stopProcess,
} from './processes.mjs';
import { RecordedService } from './recorded-service.mjs';
import { maximum, median } from './statistics.mjs';

const besides = (name) => fileURLToPath(new URL(name, import.meta.url));
const connections = 2;

/** No service sorts by the outcome, so every opportunity is read. */
const sortedHere = { sort: '-outcome' };
const thinMargins = { check: 'thin_margins' };
const again = (args) => Array(5).fill(args);

/** In this order: what a call reads, those after it find in the cache. The median of its questions counts. */
const growthCalls = {
  'walk of all opportunities': ['cpq_list_opportunities', () => [sortedHere]],
  'list sorted here, warm': ['cpq_list_opportunities', () => again(sortedHere)],
  'first brief of the pipeline': ['cpq_brief_pipeline', () => [{ by: 'stage' }]],
  'the same brief again': ['cpq_brief_pipeline', () => again({ by: 'stage' })],
  'the brief with another filter': [
    'cpq_brief_pipeline',
    ({ owners }) => owners.map((owner) => ({ by: 'stage', owner })),
  ],
  'first changes of the pipeline': ['cpq_pipeline_changes', () => [{ since: '7d' }]],
  'the same changes again': ['cpq_pipeline_changes', () => again({ since: '7d' })],
  'first brief of a company': ['cpq_brief_company', ({ companies: [company] }) => [{ company }]],
  'brief of another company': [
    'cpq_brief_company',
    ({ companies: [, ...others] }) => others.map((company) => ({ company })),
  ],
  'first check of products': ['cpq_check_sales_data', () => [thinMargins]],
  'the same check again': ['cpq_check_sales_data', () => again(thinMargins)],
  'the check with another floor': [
    'cpq_check_sales_data',
    () => [1, 2, 3, 4, 6].map((floor) => ({ ...thinMargins, floor })),
  ],
  'first search, makes the index': ['cpq_find', () => [{ query: 'switch 48 port' }]],
  'another search': [
    'cpq_find',
    () =>
      ['firewall renewal', 'C9300-48P-A', 'anderson', 'qzxvkjw wqzzkx'].map((query) => ({ query })),
  ],
};

/** Companies and owners of the first opportunities, each once. */
async function subjectsOf(tenant) {
  const { results } = JSON.parse(await wire(tenant, '/opportunity?size=100'));
  const some = (field) =>
    [...new Set(results.flatMap((deal) => deal[field]?.id ?? []))].slice(0, 6);
  return { companies: some('company'), owners: some('owner') };
}

/** Measures one size of a tenant: `rounds` servers one after the other, each asked everything. */
export async function measureGrowth(cpq, settingsFor, tenant, { rounds, cache }) {
  const service = await RecordedService.start(tenant);
  const state = mkdtempSync(join(cache, 'growth-'));
  try {
    const subjects = await subjectsOf(tenant);
    const env = settingsFor(service.baseUrlOf('tenant'));
    const settingsIn = (name) => ({ ...env, CPQ_STATE_DIR: join(state, name) });
    await record(() => askAll(cpq, settingsIn('recording'), service, subjects));
    await storeSnapshot(cpq, settingsIn('past'), service);
    const measured = [];
    for (let round = 0; round < rounds; round++) {
      cpSync(join(state, 'past'), join(state, `round-${round}`), { recursive: true });
      const asked = await askAll(cpq, settingsIn(`round-${round}`), service, subjects);
      if (!asked.isComplete) throw new Error('not everything was read in time');
      measured.push(asked);
    }
    const walk = await measureWalk(cpq, settingsIn('walk'), service);
    return { ...summed(measured), walk };
  } finally {
    service.close();
    rmSync(state, { recursive: true, maxRetries: 5 });
  }
}

/** The tenant itself is slow: it may take more than one call until the service has everything from it. */
async function record(askEverything) {
  for (let tries = 0; tries < 5; tries++) if ((await askEverything()).isComplete) return;
  throw new Error('the tenant is too slow');
}

/** Starts a server and asks it everything, while another process asks it for /healthz. */
async function askAll(cpq, env, service, subjects) {
  const server = await open(cpq, env, connections);
  const bareMegabytes = residentMegabytes(server.child);
  const probe = startProcess(
    [besides('health-probe.mjs'), `${server.origin}/healthz`],
    {},
    { ipc: true },
  );
  try {
    const calls = {};
    for (const [what, [name, questionsOf]] of Object.entries(growthCalls)) {
      calls[what] = [];
      for (const args of questionsOf(subjects))
        calls[what].push(await ask({ server, service, probe }, name, args));
    }
    const heldMegabytes = residentMegabytes(server.child) - bareMegabytes;
    const maxMegabytes = maxResidentMegabytes(server.child) - bareMegabytes;
    const isComplete = Object.values(calls).every((asked) => asked.every((it) => it.isComplete));
    return { calls, isComplete, bareMegabytes, heldMegabytes, maxMegabytes };
  } finally {
    await Promise.all([probe, server.child].map(stopProcess));
    await server.pool.destroy();
  }
}

async function ask({ server, service, probe }, name, args) {
  service.take();
  await exchange(probe);
  const before = processorMs(server.child);
  const { ms, result } = await callTool(server, name, args);
  const { maxMs: stallMs } = await exchange(probe);
  const { coverage } = result.structuredContent;
  const processor = processorMs(server.child) - before;
  return {
    ms,
    processorMs: processor,
    stallMs,
    requests: service.take().requests,
    isComplete: coverage?.complete ?? true,
  };
}

/** Lets a server whose clock is a week slow store a snapshot of opportunities of which a fifth were different. */
async function storeSnapshot(cpq, env, service) {
  const argv = ['--import', besides('past-clock.mjs'), ...cpq.http];
  const server = await open({ http: argv }, env, connections);
  service.alter = (body, path) => (path.includes('/opportunity?') ? weekBefore(body) : body);
  try {
    await callTool(server, 'cpq_brief_pipeline', { by: 'stage' });
    for (let tries = 0; !hasSnapshot(env.CPQ_STATE_DIR); tries++) {
      if (tries === 300) throw new Error('no snapshot was stored');
      await setTimeout(100);
    }
  } finally {
    service.alter = (body) => body;
    await stopProcess(server.child);
    await server.pool.destroy();
  }
}

const hasSnapshot = (folder) =>
  existsSync(folder) &&
  readdirSync(folder, { recursive: true }).some((name) => /history-.*\d{4}-\d{2}-\d{2}/.test(name));

/** Every fifth opportunity is given the stage and the amount of the one before it. */
function weekBefore(body) {
  const page = JSON.parse(body);
  page.results = page.results.map((deal, at, all) => {
    const other = all[at - 1];
    if (at % 5 !== 4 || !other) return deal;
    const { pipelineStage, probability, onetimeRevenue } = other;
    return { ...deal, pipelineStage, probability, onetimeRevenue };
  });
  return Buffer.from(JSON.stringify(page));
}

const pageMs = 50;

/** Time of a walk over every opportunity, read from a service that takes 50 ms for each page. */
async function measureWalk(cpq, env, service) {
  mkdirSync(env.CPQ_STATE_DIR);
  const server = await open(cpq, env, connections);
  service.delayMs = pageMs;
  service.take();
  try {
    const { ms } = await callTool(server, 'cpq_list_opportunities', sortedHere);
    const { requests, maxInFlight: width } = service.take();
    return { ms, requests, width, limitMs: Math.ceil(requests / width) * pageMs * 1.2 };
  } finally {
    service.delayMs = 0;
    await stopProcess(server.child);
    await server.pool.destroy();
  }
}

/** Of all rounds: the median of times and memory, the longest stall, the most requests. */
function summed(rounds) {
  const medianOf = (field) => median(rounds.map((round) => round[field]));
  return {
    calls: Object.fromEntries(
      Object.keys(growthCalls).map((what) => {
        const all = rounds.flatMap(({ calls }) => calls[what]);
        const values = (field) => all.map((one) => one[field]);
        return [
          what,
          {
            ms: median(values('ms')),
            processorMs: median(values('processorMs')),
            stallMs: maximum(values('stallMs')),
            requests: maximum(values('requests')),
          },
        ];
      }),
    ),
    bareMegabytes: medianOf('bareMegabytes'),
    heldMegabytes: medianOf('heldMegabytes'),
    maxMegabytes: medianOf('maxMegabytes'),
  };
}
