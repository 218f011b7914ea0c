// npm run bench [-- PART…] [-- --json FILE]: measures the limits of docs/numbers.md, and prints a table.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { candidatesOf, settingsFor } from './candidates.mjs';
import { growthRows, soakRows } from './growth-rows.mjs';
import { measureGrowth } from './measure-growth.mjs';
import { measureHttp } from './measure-http.mjs';
import { measureMemory } from './measure-memory.mjs';
import { measureRequests } from './measure-requests.mjs';
import { measureSoak } from './measure-soak.mjs';
import { measureStart } from './measure-start.mjs';
import { measureStdio } from './measure-stdio.mjs';
import { measureTokens, wire } from './measure-tokens.mjs';
import { measureWork } from './measure-work.mjs';
import { startProcess, stopAll, stopProcess, waitForOutput } from './processes.mjs';
import {
  dayRows,
  daySummary,
  httpRows,
  memoryRows,
  requestRows,
  startRows,
  stdioRows,
  tokenRows,
  workRows,
} from './rows.mjs';
import { measureDay } from './working-day.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'cpq-mcp-bench');

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    rounds: { type: 'string', default: '15' },
    sizes: { type: 'string', default: '1,10,100' },
    calls: { type: 'string', default: '36000' },
    tenants: { type: 'string', default: '50' },
    dist: { type: 'string' },
    before: { type: 'string' },
    questions: { type: 'string', default: '300' },
  },
});
const rounds = Number(options.rounds);

/** Builds a bundle for this run alone, so that another build does not change what is measured. */
function bundle() {
  if (options.dist !== undefined) return join(options.dist, 'cpq-mcp.js');
  const dist = join(cache, 'dist');
  execFileSync(process.execPath, ['scripts/build.mjs', dist], { cwd: root, stdio: 'inherit' });
  return join(dist, 'cpq-mcp.js');
}

const path = bundle();
const candidates = candidatesOf(path);

/** Starts the embedded tenant in its own process, without a rate limit, for as long as `use` of it takes. */
async function withSandbox(scale, use) {
  const argv = [path, 'sandbox', '--port', '0', '--rate-limit', 'off', '--scale', String(scale)];
  const child = startProcess(argv);
  const started = /CPQ_BASE_URL=(\S+)\s+CPQ_API_KEY=(\S+)/;
  // A tenant of 100,000 records takes some time.
  const [, baseUrl, key] = await waitForOutput(child, started, 180_000);
  try {
    return await use({ baseUrl, key });
  } finally {
    await stopProcess(child);
  }
}

/** 9,900 opportunities, 37,800 products, 5,000 companies, 12,900 contacts and 11,000 quotes. */
const dayScale = 30;

async function workingDay(name, cpq, more) {
  const count = Number(options.questions);
  const measured = daySummary(await measureDay(cpq, dayScale, { ...more, count }));
  return { rows: dayRows(name, measured), measured };
}

/** The same page as the embedded tenant sends it, and without accents, each from a service that never sends the same bytes twice. */
async function makePages() {
  const accented = await withSandbox(1, (tenant) => wire(tenant, '/opportunity?size=25'));
  const ascii = accented.normalize('NFKD').replace(/[^\x20-\x7E]/g, '');
  if (ascii === accented) throw new Error('the page has no accents');
  return {
    ASCII: await pageUpstream('ascii', ascii),
    accented: await pageUpstream('accented', accented),
  };
}

/** Starts an upstream that answers at once with this page. @returns the settings of a server for it */
async function pageUpstream(name, page) {
  const file = join(cache, `opportunities-${name}.json`);
  writeFileSync(file, page);
  const upstream = fileURLToPath(new URL('upstream.mjs', import.meta.url));
  const child = startProcess([upstream, file]);
  const [url] = await waitForOutput(child, /http:\S+/);
  return settingsFor(url);
}

let pages;
const pagesOnce = () => (pages ??= makePages());

/** The rows of each page, one page after the other. */
async function ofPages(measurePage) {
  const rows = [];
  for (const [page, env] of Object.entries(await pagesOnce()))
    rows.push(...(await measurePage(env, page)));
  return rows;
}

/** A hundredth of a tenant of 10,000 opportunities, 37,000 products and 11,000 quotes. */
const growthScale = 0.303;

async function growth() {
  const sizes = [];
  for (const times of options.sizes.split(',').map(Number)) {
    const howOften = { rounds: Math.ceil(rounds / 5), cache };
    const measured = await withSandbox(growthScale * times, (tenant) =>
      measureGrowth(candidates.cpq, settingsFor, tenant, howOften),
    );
    sizes.push({ times, ...measured });
  }
  return { rows: growthRows(sizes), measured: sizes };
}

async function soak() {
  const counts = { calls: Number(options.calls), tenants: Number(options.tenants) };
  const resources = await withSandbox(growthScale, (tenant) =>
    measureSoak(path, tenant, { ...counts, cache }),
  );
  return { rows: soakRows({ ...counts, ...resources }), measured: { ...counts, ...resources } };
}

/** Each has rows; some also have measurements from which other tables and plots are made. */
const parts = {
  start: async () => {
    const { accented: env } = await pagesOnce();
    return { rows: startRows(await measureStart(candidates, env, rounds)) };
  },
  stdio: async () => ({
    rows: await ofPages(async (env, page) =>
      stdioRows(await measureStdio(candidates, env, rounds), page),
    ),
  }),
  http: async () => ({
    rows: await ofPages(async (env, page) =>
      httpRows(await measureHttp(candidates, env, rounds), page),
    ),
  }),
  memory: async () => {
    const { accented: env } = await pagesOnce();
    return { rows: memoryRows(await measureMemory(candidates, env, Math.ceil(rounds / 5))) };
  },
  tokens: async () => {
    const measured = await withSandbox(1, (tenant) =>
      measureTokens(candidates, settingsFor(tenant.baseUrl, tenant.key), tenant),
    );
    return { rows: tokenRows(measured) };
  },
  work: async () => {
    const measured = await withSandbox(3.03, (pipeline) =>
      withSandbox(3.968, (catalogue) =>
        measureWork(candidates, settingsFor, { pipeline, catalogue }),
      ),
    );
    return { rows: workRows(measured) };
  },
  requests: async () => {
    const measured = await withSandbox(growthScale * 100, (tenant) =>
      measureRequests(candidates.cpq, settingsFor, tenant),
    );
    return { rows: requestRows(measured), measured };
  },
  day: () => workingDay('working day', candidates.cpq),
  'day-ignoring': () =>
    workingDay('working day, of a service that ignores sort, filters and query', candidates.cpq, {
      ignores: true,
    }),
  ...(options.before && {
    'day-before': () =>
      workingDay('working day, before', candidatesOf(join(options.before, 'cpq-mcp.js')).cpq),
  }),
  growth,
  soak,
};

async function measure(names) {
  const unknown = names.find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined)
    throw new Error(`There is no part ${unknown}; there are ${Object.keys(parts).join(', ')}.`);
  const conditions = { date: new Date().toISOString().slice(0, 10), load: loadavg()[0] };
  const measured = [];
  printHead();
  for (const name of names) {
    const result = await parts[name]();
    const { rows } = result;
    printRows(rows);
    measured.push(...rows);
    if (options.json !== undefined) save(options.json, { [name]: { ...conditions, ...result } });
  }
  return measured;
}

/** Parts that the file has from an earlier run on the same Node are kept, unless they were measured again. */
function save(file, part) {
  const node = process.version;
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const kept = earlier.node === node ? earlier.parts : {};
  const [{ model }] = cpus();
  const saved = { node, cores: cpus().length, model, parts: { ...kept, ...part } };
  writeFileSync(file, `${JSON.stringify(saved, undefined, 2)}\n`);
}

/** On stderr, so that it is seen whatever is done with the table. */
function warn(rows) {
  for (const { what, measured, limit, verdict } of rows)
    if (verdict !== 'ok')
      process.stderr.write(`Warning: ${what}: ${measured}, the limit is ${limit}\n`);
}

function printHead() {
  say(`Node ${process.version}\n`);
  say('| what | baseline | measured | limit | | more |\n|---|---|---|---|---|---|');
}

function printRows(rows) {
  for (const { what, baseline = '', measured, limit, verdict, detail = '' } of rows)
    say(`| ${[what, baseline, measured, limit, verdict, detail].join(' | ')} |`);
}

const say = (text) => process.stdout.write(`${text}\n`);

mkdirSync(cache, { recursive: true });
try {
  warn(await measure(positionals.length > 0 ? positionals : Object.keys(parts)));
} finally {
  await stopAll();
}
process.exit();
