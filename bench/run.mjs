// npm run bench [-- --json] [-- --only start,stdio,http,memory,tokens,work] [-- --rounds 15] [-- --dist DIR]
// Measures every limit of docs/numbers.md in one run, candidates side by side, and prints the table.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { candidatesOf, settingsFor } from './candidates.mjs';
import { measureHttp } from './measure-http.mjs';
import { measureMemory } from './measure-memory.mjs';
import { measureStart } from './measure-start.mjs';
import { measureStdio } from './measure-stdio.mjs';
import { measureTokens, wire } from './measure-tokens.mjs';
import { measureWork } from './measure-work.mjs';
import { startProcess, stopAll, waitForOutput } from './processes.mjs';
import { httpRows, memoryRows, startRows, stdioRows, tokenRows, workRows } from './rows.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'cpq-mcp-bench');
const allMeasurements = 'start,stdio,http,memory,tokens,work';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: allMeasurements },
    rounds: { type: 'string', default: '15' },
    dist: { type: 'string' },
  },
});

/** Builds a bundle for this run alone, so that another build does not change what is measured. */
function bundle() {
  if (options.dist !== undefined) return join(options.dist, 'cpq-mcp.js');
  const dist = join(cache, 'dist');
  execFileSync(process.execPath, ['scripts/build.mjs', dist], { cwd: root, stdio: 'inherit' });
  return join(dist, 'cpq-mcp.js');
}

/** Starts the embedded tenant in its own process, without a rate limit. */
async function sandbox(path, scale) {
  const argv = [path, 'sandbox', '--port', '0', '--rate-limit', 'off', '--scale', String(scale)];
  const child = startProcess(argv);
  const [, baseUrl, key] = await waitForOutput(child, /CPQ_BASE_URL=(\S+)\s+CPQ_API_KEY=(\S+)/);
  return { baseUrl, key };
}

/** Starts an upstream that always answers at once with the same 25 opportunities. */
async function fixedUpstream(tenant) {
  const file = join(cache, 'opportunities.json');
  writeFileSync(file, await wire(tenant, '/opportunity?size=25'));
  const child = startProcess([fileURLToPath(new URL('upstream.mjs', import.meta.url)), file]);
  const [url] = await waitForOutput(child, /http:\S+/);
  return settingsFor(url);
}

async function measure(selected) {
  const path = bundle();
  const candidates = candidatesOf(path);
  const rounds = Math.max(15, Number(options.rounds));
  const tenant = await sandbox(path, 1);
  const env = await fixedUpstream(tenant);
  const large = async () => ({
    pipeline: await sandbox(path, 3.03),
    catalogue: await sandbox(path, 3.968),
  });
  const parts = {
    start: async () => startRows(await measureStart(candidates, env, rounds)),
    stdio: async () => stdioRows(await measureStdio(candidates, env, rounds)),
    http: async () => httpRows(await measureHttp(candidates, env, rounds)),
    memory: async () => memoryRows(await measureMemory(candidates, env, 3)),
    tokens: async () => {
      const settings = settingsFor(tenant.baseUrl, tenant.key);
      return tokenRows(await measureTokens(candidates, settings, tenant));
    },
    work: async () => workRows(await measureWork(candidates, settingsFor, await large())),
  };
  const rows = [];
  for (const name of allMeasurements.split(','))
    if (selected.includes(name)) rows.push(...(await parts[name]()));
  return rows;
}

function print(rows) {
  if (options.json) return say(JSON.stringify({ node: process.version, rows }, undefined, 2));
  say(`Node ${process.version}\n`);
  say('| what | baseline | measured | limit | | more |\n|---|---|---|---|---|---|');
  for (const { what, baseline = '', measured, limit, verdict, detail = '' } of rows) {
    say(`| ${[what, baseline, measured, limit, verdict, detail].join(' | ')} |`);
  }
}

const say = (text) => process.stdout.write(`${text}\n`);

mkdirSync(cache, { recursive: true });
try {
  print(await measure(options.only.split(',')));
} finally {
  await stopAll();
}
process.exit();
