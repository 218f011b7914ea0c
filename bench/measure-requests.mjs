// How many requests to the service a question takes, asked of a server that knows nothing yet, of the same one after six
// minutes in which 20 records changed, after another hour and 20 records, and of a new one with the same state folder, six
// minutes and 20 records later.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callTool, open } from './http-client.mjs';
import { wire } from './measure-tokens.mjs';
import { exchange, stopProcess } from './processes.mjs';
import { RecordedService } from './recorded-service.mjs';

const clock = new URL('moved-clock.mjs', import.meta.url).href;
const laterMs = 6 * 60_000;
/** What cannot be brought up to date is fresh for an hour. */
const hourLaterMs = laterMs + 61 * 60_000;
/** Of each collection that people change: 20 records in all. */
const changedEach = 4;
const changing = ['company', 'contact', 'opportunity', 'product', 'quote'];

/**
 * Each question: the tool, its arguments, and the most requests that it may take: at first, again, after an hour, in a new
 * process. It may follow another question, whose requests are not counted.
 */
const questions = {
  'company brief': [
    'cpq_brief_company',
    ({ company }) => ({ company: company.name }),
    [20, 8, 13, 8],
  ],
  'company brief, by id': [
    'cpq_brief_company',
    ({ company }) => ({ company: company.id }),
    [20, 8, 13, 8],
  ],
  'quote brief': ['cpq_brief_quote', ({ quote }) => ({ quote: quote.number }), [14, 6, 10, 6]],
  'price of a product': [
    'cpq_price_product',
    ({ company, product }) => ({ company: company.name, product: product.mpn }),
    [12, 4, 9, 4],
  ],
  'find a name': ['cpq_find', ({ company }) => ({ query: company.name }), [12, 6, 6, 6]],
  'find a part number': ['cpq_find', ({ product }) => ({ query: product.mpn }), [12, 6, 6, 6]],
  'a filter that matches nothing': [
    'cpq_list_products',
    () => ({ filters: 'mpn:QX-0815-NONE' }),
    [2, 2, 2, 2],
  ],
  'one record': [
    'cpq_get_record',
    ({ quote }) => ({ resource: 'quote', id: quote.id }),
    [1, 1, 1, 1],
  ],
  'pipeline brief': ['cpq_brief_pipeline', () => ({ by: 'stage' }), [155, 5, 5, 5]],
  'all quotes by status': ['cpq_brief_quotes', () => ({ by: 'status' }), [115, 3, 3, 3]],
  'then what changed in the quotes': [
    'cpq_pipeline_changes',
    () => ({ by: 'quote' }),
    [0, 0, 0, 0],
    ['cpq_brief_quotes', { by: 'status' }],
  ],
};

/** A quote with a company and a product, and these. */
async function subjectsOf(tenant) {
  const read = async (path) => JSON.parse(await wire(tenant, path));
  const { results } = await read('/quote?size=100');
  const quote =
    results.find(
      (each) =>
        each.status === 'Draft' && each.opportunity?.id && each.items?.some(({ mpn }) => mpn),
    ) ?? results.find((each) => each.company?.id && each.items?.some(({ mpn }) => mpn));
  const item = quote.items.find(({ mpn }) => mpn);
  const company = await read(`/company/${quote.company.id}`);
  return { quote, company, product: { mpn: item.mpn } };
}

/**
 * The service says of the records that were changed last that they have changed again, which is how they stay first in
 * the order of changes.
 */
async function changeRecords(service, tenant, changed) {
  for (const resource of changing) {
    const path = `/${resource}?size=${changedEach}&sort=-updatedAt`;
    const { results } = JSON.parse(await wire(tenant, path));
    for (const [at, record] of results.entries()) {
      const updatedAt = new Date(Date.now() - at).toISOString();
      changed.set(record.id, { ...record, updatedAt });
    }
  }
  service.alter = (body) => {
    const answer = JSON.parse(body);
    const current = (record) => changed.get(record.id) ?? record;
    const now = answer.results
      ? { ...answer, results: answer.results.map(current) }
      : current(answer);
    return Buffer.from(JSON.stringify(now));
  };
}

/** Asks a server whose clock is fast. @returns its requests, those in the background included, and what the answer covers */
async function ask(server, service, [tool, args], fastMs) {
  await exchange(server.child, { fastMs });
  service.take();
  const { result } = await callTool(server, tool, args);
  let requests = 0;
  // A refresh begins after the answer, and decodes what is kept before its first request.
  for (let idle = 0; idle < 10; ) {
    await setTimeout(300);
    const more = service.take();
    requests += more.requests;
    idle = more.requests === 0 && more.maxInFlight === 0 ? idle + 1 : 0;
  }
  return { requests, coverage: result.structuredContent.coverage };
}

/** Starts a server, asks it at each of these times after each change, and stops it. */
async function askInProcess(cpq, env, times, askAt) {
  const server = await open({ http: ['--import', clock, ...cpq.http] }, env, 1, { ipc: true });
  try {
    const asked = [];
    for (const time of times) asked.push(await askAt(server, time));
    return asked;
  } finally {
    await stopProcess(server.child);
    await server.pool.destroy();
  }
}

/** @returns a measurement for each question: its requests, the most that are allowed, and what the answers cover */
export async function measureRequests(cpq, settingsFor, tenant, names = Object.keys(questions)) {
  const service = await RecordedService.start(tenant);
  const state = mkdtempSync(join(tmpdir(), 'cpq-mcp-requests-'));
  const unchanged = service.alter;
  try {
    const subjects = await subjectsOf(tenant);
    const measured = [];
    for (const what of names) {
      const [tool, argsOf, limits, before] = questions[what];
      service.alter = unchanged;
      const changed = new Map();
      const folder = { CPQ_STATE_DIR: join(state, String(measured.length)) };
      const env = settingsFor(service.baseUrlOf('tenant'), tenant.key, folder);
      const askAt = async (server, time) => {
        if (time > 0) await changeRecords(service, tenant, changed);
        if (before) await ask(server, service, before, time);
        return ask(server, service, [tool, argsOf(subjects)], time);
      };
      const asked = [
        ...(await askInProcess(cpq, env, [0, laterMs, hourLaterMs], askAt)),
        ...(await askInProcess(cpq, env, [hourLaterMs + laterMs], askAt)),
      ];
      measured.push({ what, asked: asked.map((each, at) => ({ ...each, limit: limits[at] })) });
    }
    return measured;
  } finally {
    service.close();
    rmSync(state, { recursive: true, maxRetries: 5 });
  }
}
