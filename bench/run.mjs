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

/** The same page twice: as the embedded tenant sends it, and without accents. */
async function pagesOf(tenant) {
  const accented = await wire(tenant, '/opportunity?size=25');
  const ascii = accented.normalize('NFKD').replace(/[^\x20-\x7E]/g, '');
  if (ascii === accented) throw new Error('the page has no accents');
  return {
    ASCII: await fixedUpstream('ascii', ascii),
    accented: await fixedUpstream('accented', accented),
  };
}

/** Starts an upstream that always answers at once with this page. */
async function fixedUpstream(name, page) {
  const file = join(cache, `opportunities-${name}.json`);
  writeFileSync(file, page);
  const child = startProcess([fileURLToPath(new URL('upstream.mjs', import.meta.url)), file]);
  const [url] = await waitForOutput(child, /http:\S+/);
  return settingsFor(url);
}

async function measure(selected) {
  const path = bundle();
  const candidates = candidatesOf(path);
  const rounds = Math.max(15, Number(options.rounds));
  const tenant = await sandbox(path, 1);
  const pages = await pagesOf(tenant);
  const env = pages.accented;
  const large = async () => ({
    pipeline: await sandbox(path, 3.03),
    catalogue: await sandbox(path, 3.968),
  });
  const parts = {
    start: async () => startRows(await measureStart(candidates, env, rounds)),
    stdio: () =>
      ofPages(pages, async (its, page) =>
        stdioRows(await measureStdio(candidates, its, rounds), page),
      ),
    http: () =>
      ofPages(pages, async (its, page) =>
        httpRows(await measureHttp(candidates, its, rounds), page),
      ),
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

/** The rows of each page, one page after the other. */
async function ofPages(pages, measurePage) {
  const rows = [];
  for (const [page, env] of Object.entries(pages)) rows.push(...(await measurePage(env, page)));
  return rows;
}

/** On stderr, so that it is seen whatever is done with the table. */
function warn(rows) {
  for (const { what, measured, limit, verdict } of rows)
    if (verdict !== 'ok')
      process.stderr.write(`Warning: ${what}: ${measured}, the limit is ${limit}\n`);
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
  const rows = await measure(options.only.split(','));
  print(rows);
  warn(rows);
} finally {
  await stopAll();
}
process.exit();
