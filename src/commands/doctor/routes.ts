import { findUnknownStages } from '../../changes/rules.ts';
import { environmentName } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import { estimateBytes } from '../../reading/cache.ts';
import { type ApiError, ignoreApiError, isApiError } from '../../service/errors.ts';
import type { Resource } from '../../service/records/records.ts';
import { resources, routes } from '../../service/routes.ts';
import { reservedOf } from '../../service/traffic/budget.ts';
import { type Grant, readGrant, writeGrant } from '../../tenant/grants.ts';
import type { Probe, Prober, Probes, ReportedBudget } from './prober.ts';
import { checkAs, type DoctorCheck, notTried, quoted } from './report.ts';

/** Records requested of each route. */
export const probeSize = 7;

/** Requests every route, until the first answers show that all would fail. The others are absent. */
export async function probeRoutes(prober: Prober): Promise<Probes> {
  const probes = new Map<Resource, Probe>();
  for (const resource of resources) {
    if (!prober.canAsk || failsEverywhere(probes)) break;
    probes.set(resource, await probe(resource, prober));
  }
  return probes;
}

/** Whether the first answers are errors that every route would have. */
function failsEverywhere(probes: Probes): boolean {
  const [first, second] = [...probes.values()].map(({ error }) => error);
  if (isApiError(first, 'unreachable', 'web-page', 'redirect', 'timed-out', 'rate-limited'))
    return true;
  return first !== undefined && first.kind === second?.kind && first.kind !== 'not-permitted';
}

async function probe(resource: Resource, { pages, call }: Prober): Promise<Probe> {
  const started = Date.now();
  try {
    const page = await pages.page(resource, { size: probeSize }, call);
    return { ...page, durationMs: Date.now() - started };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { records: [], error, durationMs: Date.now() - started };
  }
}

/** Whether the route is permanently unavailable to this key or tenant; other errors may be temporary. */
const isRefusal = (error: unknown): boolean =>
  isApiError(error, 'not-permitted', 'key-refused', 'no-route');

export const checkRoutes = (probes: Probes, grants: ReadonlySet<Grant>): DoctorCheck[] =>
  resources.map((resource) =>
    checkRoute(resource, probes.get(resource), grants.has(readGrant(resource))),
  );

function checkRoute(resource: Resource, probe: Probe | undefined, granted: boolean): DoctorCheck {
  const { path } = routes[resource];
  const route = checkAs(`route:${path}`, path);
  if (!probe) return route('skip', notTried);
  const { error } = probe;
  if (!error) return route('pass', `${sizeOf(probe)}${granted ? '' : '; not granted here'}`);
  if (!isRefusal(error)) {
    const remedy = describeError(error, environmentName);
    return route(granted ? 'fail' : 'warn', 'no valid answer', remedy);
  }
  const why = isApiError(error, 'no-route')
    ? 'this tenant has no such route'
    : 'this key is not permitted to read it';
  if (!granted) return route('skip', `${why}, and it is not granted here`);
  const remedy = `Remove it from ${environmentName('grants')}, as below, or grant it to the key`;
  return route('fail', why, remedy);
}

function sizeOf({ records, total }: Probe): string {
  if (total !== undefined) return `${total} records`;
  const count = records.length;
  if (count > probeSize) return `${count} records, in one list`;
  return count < probeSize ? `${count} records` : 'records; the service reports no total';
}

const everyRead = new Set(resources.map(readGrant));

/** As configured: `read` for all reads. */
export function inShort(grants: ReadonlySet<Grant>): string {
  const reads = [...everyRead].every((grant) => grants.has(grant)) ? ['read'] : [];
  const others = [...grants].filter((grant) => reads.length === 0 || !everyRead.has(grant));
  return [...reads, ...others].join(',');
}

/**
 * The grants to configure: every resource that this key can read. A resource whose check gave no clear result
 * keeps its configured grant. The write grant is kept if opportunities can be read; it is not tested.
 * @returns undefined when nothing can be read
 */
export function grantsFor(probes: Probes, grants: ReadonlySet<Grant>): string | undefined {
  if (![...probes.values()].some(({ error }) => !error)) return undefined;
  const readable = resources.filter((resource) => {
    if (resource === 'category_tree') return false;
    const probe = probes.get(resource);
    const isUnclear = !probe || (probe.error && !isRefusal(probe.error));
    return isUnclear ? grants.has(readGrant(resource)) : !probe.error;
  });
  const mayWrite = grants.has(writeGrant) && readable.includes('opportunity');
  const write: readonly Grant[] = mayWrite ? [writeGrant] : [];
  return inShort(new Set([...readable.map(readGrant), ...write]));
}

const address = checkAs('address', 'address');
const key = checkAs('key', 'key');

/** Checks address and key by the first answers. */
export function checkAddress(baseUrl: URL, probes: Probes): DoctorCheck[] {
  const all = [...probes.values()];
  const allowed = all.find(({ error }) => !error || isApiError(error, 'not-permitted'));
  const first = allowed ?? all.find(({ error }) => isApiError(error, 'key-refused'));
  if (!first) return unreachable(baseUrl, all[0]?.error);
  const answers = address('pass', `${baseUrl.href} answers in ${first.durationMs} ms`);
  if (allowed) return [answers, key('pass', 'accepted')];
  const refused = `not accepted (status ${first.error?.facts.status})`;
  return [answers, key('fail', refused, describeError(first.error, environmentName))];
}

function unreachable(baseUrl: URL, error: ApiError | undefined): DoctorCheck[] {
  const remedy = error === undefined ? undefined : describeError(error, environmentName);
  const answers = isApiError(error, 'rate-limited')
    ? address('pass', `${baseUrl.href} answers`)
    : address('fail', `${baseUrl.href} does not answer as the API`, remedy);
  return [answers, key('skip', notTried)];
}

export function checkBudget(reported: ReportedBudget, configured: number): DoctorCheck {
  const { remaining, limit = configured, retryAfter } = reported;
  const budget = checkAs('budget', 'rate budget');
  if (retryAfter !== undefined)
    return budget('fail', `exhausted for ${retryAfter} s`, 'Run doctor again after that');
  if (remaining === undefined)
    return budget('skip', `not reported; ${configured} requests in ten minutes are assumed`);
  const left = `${remaining} of ${limit} requests remaining in these ten minutes`;
  if (remaining <= reservedOf(Math.min(configured, limit))) {
    const remedy = 'They are reserved for single records and pages: ask again in ten minutes';
    return budget('warn', left, remedy);
  }
  if (limit === configured) return budget('pass', left);
  const remedy = `Set ${environmentName('rateLimit')}=${limit}`;
  return budget('warn', `${left}; ${configured} are configured`, remedy);
}

/** Estimates by the first records whether every collection fits into the cache. */
export function checkCache(probes: Probes, megabytes: number): DoctorCheck {
  const sizes = [...probes].map(([resource, { records, total = 0 }]) => {
    const bytesEach = estimateBytes(records) / Math.max(1, records.length);
    return { resource, size: Math.ceil((bytesEach * total) / 2 ** 20) };
  });
  const cache = checkAs('cache', 'cache');
  const large = sizes.filter(({ size }) => size > megabytes);
  if (large.length === 0) {
    const all = sizes.reduce((sum, { size }) => sum + size, 0);
    return cache('pass', `${megabytes} MB; all collections take about ${all} MB`);
  }
  const names = large.map(({ resource, size }) => `${resource} (about ${size} MB)`).join(', ');
  const remedy = `Raise ${environmentName('cacheMegabytes')} above that: each answer would read it again`;
  return cache('warn', `${names}: larger than the cache of ${megabytes} MB`, remedy);
}

/** Checks by one page of opportunities that every barred stage is in use: a misspelt one has no effect. */
export async function checkStages(
  { pages, call }: Prober,
  words: readonly string[],
): Promise<DoctorCheck[]> {
  if (words.length === 0) return [];
  const stages = checkAs('stages', 'barred stages');
  const page = await pages.page('opportunity', { size: 100 }, call).catch(ignoreApiError());
  if (!page) return [stages('skip', 'no opportunity could be read')];
  const { unknown, stages: known } = await findUnknownStages(page.records, words);
  if (unknown.length === 0) return [stages('pass', `each is in use: ${quoted(words)}`)];
  const remedy = `Check the spelling in ${environmentName('barredStages')}; these stages are in use: ${quoted(known)}`;
  const none = `none of ${page.records.length} opportunities is in ${quoted(unknown)}`;
  return [stages('warn', none, remedy)];
}
