// Whether a server stays as it was, over many calls of tenants that come and go.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { callTool, open } from './http-client.mjs';
import { wire } from './measure-tokens.mjs';
import { exchange, openFiles, residentMegabytes, stopProcess } from './processes.mjs';
import { RecordedService } from './recorded-service.mjs';
import { minimum } from './statistics.mjs';

const probe = fileURLToPath(new URL('resources-probe.mjs', import.meta.url));
const inFlight = 16;
/** After each shift a tenant goes and another comes. What the first fifth takes is not counted as growth. */
const shiftsOf = (calls) => Math.min(50, Math.ceil(calls / 20));
const isWarm = (shift, shifts) => shift === Math.ceil(shifts / 5);
/** One call in so many is given up by the caller. */
const abandonedEvery = 200;

const questionsOf = ({ company, quote }) => [
  ...['companies', 'contacts', 'opportunities', 'products', 'quotes'].map((what) => [
    `cpq_list_${what}`,
    { size: 25 },
  ]),
  ['cpq_get_record', { resource: 'quote', id: quote }],
  ['cpq_find', { query: 'switch 48 port' }],
  ['cpq_brief_pipeline', { by: 'stage' }],
  ['cpq_brief_company', { company }],
  ['cpq_brief_quotes', {}],
  ['cpq_check_sales_data', { check: 'thin_margins' }],
];

async function subjectsOf(tenant) {
  const { results } = JSON.parse(await wire(tenant, '/quote?size=100'));
  const { id: quote, company } = results.find((it) => it.company?.id);
  return { quote, company: company.id };
}

/** The files of a server with several tenants, and a token for each of them. */
class TenantFiles {
  #path;
  #service;
  tokens = new Map();

  constructor(folder, service) {
    this.#path = join(folder, 'tenants.json');
    this.#service = service;
    this.settings = {
      CPQ_TENANTS_FILE: this.#path,
      CPQ_STATE_DIR: join(folder, 'state'),
      CPQ_AUTH: 'token',
      CPQ_CALLS_PER_MINUTE: '1000000',
      CPQ_LOG_LEVEL: 'error',
    };
  }

  write(names) {
    const entries = names.map((name) => {
      const entry = {
        baseUrl: this.#service.baseUrlOf(name),
        apiKey: `key-of-${name}`,
        rateLimit: 1_000_000,
      };
      return [name, entry];
    });
    writeFileSync(this.#path, JSON.stringify({ tenants: Object.fromEntries(entries) }), {
      mode: 0o600,
    });
  }

  async addToken(bundle, name) {
    const argv = [bundle, 'token', 'add', name, '--tenant', name];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { env: this.settings });
    this.tokens.set(name, /\bcpq_[\w-]+/.exec(stdout)[0]);
  }
}

/** `tenants` have a token; half of them are served at a time. @returns memory and open files of the server after warming up, and at the end */
export async function measureSoak(bundle, tenant, { calls, tenants, cache }) {
  const service = await RecordedService.start(tenant);
  const folder = mkdtempSync(join(cache, 'soak-'));
  try {
    const names = Array.from({ length: tenants }, (_, at) => `tenant-${at}`);
    const files = new TenantFiles(folder, service);
    files.write(names);
    for (const name of names) await files.addToken(bundle, name);
    const questions = questionsOf(await subjectsOf(tenant));
    return await soak({ bundle, names, files, questions, calls });
  } finally {
    service.close();
    rmSync(folder, { recursive: true, maxRetries: 5 });
  }
}

async function soak({ bundle, names, files, questions, calls }) {
  const shifts = shiftsOf(calls);
  const half = Math.ceil(names.length / 2);
  const served = (shift) => [...names, ...names].splice(shift % names.length, half);
  files.write(served(0));
  const argv = ['--import', probe, bundle, 'http', '--port', '0'];
  const server = await open({ http: argv }, files.settings, inFlight, { ipc: true });
  try {
    let start;
    for (let shift = 0; shift < shifts; shift++) {
      if (shift > 0) await replaceTenants(server, files, served(shift));
      if (isWarm(shift, shifts)) start = await footprint(server.child);
      await callAll(server, files, served(shift), questions, Math.ceil(calls / shifts));
    }
    return { start, end: await footprint(server.child) };
  } finally {
    await server.pool.destroy();
    await stopProcess(server.child);
  }
}

const authorization = (files, name) => ({ authorization: `Bearer ${files.tokens.get(name)}` });

/** Returns when the newest of these tenants is served. */
async function replaceTenants(server, files, names) {
  files.write(names);
  server.child.kill('SIGHUP');
  const headers = authorization(files, names.at(-1));
  for (let tries = 0; ; tries++) {
    try {
      return await callTool(server, 'cpq_list_companies', { size: 1 }, { headers });
    } catch (error) {
      if (tries === 100) throw error;
      await setTimeout(50);
    }
  }
}

/** Each question in turn, of each tenant in turn. */
async function callAll(server, files, names, questions, count) {
  let called = 0;
  const worker = async () => {
    while (called < count) {
      const number = called++;
      const [name, args] = questions[number % questions.length];
      const caller = names[Math.floor(number / questions.length) % names.length];
      const headers = authorization(files, caller);
      if (number % abandonedEvery === abandonedEvery - 1)
        await abandoned(server, name, args, headers);
      else await callTool(server, name, args, { headers });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

async function abandoned(server, name, args, headers) {
  const signal = AbortSignal.timeout(2);
  await callTool(server, name, args, { headers, signal }).catch((error) => {
    if (!signal.aborted) throw error;
  });
}

/** What a process holds once it is idle: the least of some moments, because idle connections are closed at any time. */
async function footprint(child) {
  const seen = [];
  for (let at = 0; at < 10; at++) {
    await setTimeout(200);
    const resources = await exchange(child);
    seen.push({ residentMegabytes: residentMegabytes(child), ...openFiles(child), ...resources });
  }
  return Object.fromEntries(
    Object.keys(seen[0]).map((field) => [field, minimum(seen.map((one) => one[field]))]),
  );
}
