import { environmentName, type Settings } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import { estimateBytes } from '../../reading/cache.ts';
import { minSampleRows } from '../../reading/offset.ts';
import type { ServicePages } from '../../reading/service-pages.ts';
import { isApiError } from '../../service/errors.ts';
import type { Resource } from '../../service/records/records.ts';
import { resources, routes } from '../../service/routes.ts';
import { type Grant, readGrant, writeGrant } from '../../tenant/grants.ts';
import { checkAs, type DoctorCheck, notTried } from './check.ts';
import type { Probe, Prober, Probes } from './prober.ts';

/** Large enough to show whether the offset counts records or pages. */
export const probeSize = minSampleRows;
const width = 4;

/**
 * Requests every route; stops early if the first two answers show that all others would fail. Routes that
 * were not requested are absent.
 */
export async function probeRoutes(prober: Prober, pages: ServicePages): Promise<Probes> {
  const probes = new Map<Resource, Probe>();
  const queue = [...resources];
  const ask = async () => {
    const resource = queue.shift();
    if (resource === undefined || !prober.canAsk) return;
    probes.set(resource, await probe(resource, prober, pages));
  };
  await ask();
  if (failsEverywhere(probes)) return probes;
  await ask();
  if (failsEverywhere(probes)) return probes;
  const worker = async () => {
    while (queue.length > 0) await ask();
  };
  await Promise.all(Array.from({ length: width }, worker));
  return probes;
}

/** Whether the first answers are errors that every route would have. */
function failsEverywhere(probes: Probes): boolean {
  const [first, second] = [...probes.values()].map(({ error }) => error);
  if (isApiError(first, 'unreachable', 'web-page', 'redirect', 'timed-out', 'rate-limited'))
    return true;
  if (first === undefined || second === undefined) return false;
  if (isApiError(first, 'key-refused', 'no-route'))
    return isApiError(second, 'key-refused', 'no-route');
  return first.kind === second.kind && first.kind !== 'not-permitted';
}

async function probe(resource: Resource, prober: Prober, pages: ServicePages): Promise<Probe> {
  const started = Date.now();
  try {
    const { records, total } = await pages.page(resource, { size: probeSize }, prober.call);
    const durationMs = Date.now() - started;
    return { records, durationMs, ...(total === undefined ? {} : { total }) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { records: [], error, durationMs: Date.now() - started };
  }
}

/** Whether the route is permanently unavailable to this key or tenant; other errors may be temporary. */
export const isRefusal = (error: unknown): boolean =>
  isApiError(error, 'not-permitted', 'key-refused', 'no-route');

type RouteSettings = Pick<Settings, 'grants' | 'cacheMegabytes'>;

export const checkRoutes = (probes: Probes, settings: RouteSettings): DoctorCheck[] =>
  resources.map((resource) => checkRoute(resource, probes.get(resource), settings));

function checkRoute(
  resource: Resource,
  probe: Probe | undefined,
  { grants, cacheMegabytes }: RouteSettings,
): DoctorCheck {
  const { path } = routes[resource];
  const granted = grants.has(readGrant(resource));
  const route = checkAs(`route:${path}`, path);
  if (!probe) return route('skip', notTried);
  const megabytes = megabytesOf(probe);
  if (granted && megabytes > cacheMegabytes) {
    return route(
      'warn',
      `${sizeOf(probe)}, about ${megabytes} MB in memory, which is more than the cache holds`,
      `Set ${environmentName('cacheMegabytes')} above it, so that answers need not unpack it each time`,
    );
  }
  const { error } = probe;
  if (!error) return route('pass', `${sizeOf(probe)}${granted ? '' : '; not granted here'}`);
  if (!isRefusal(error)) {
    const status = granted ? 'fail' : 'warn';
    return route(status, 'no valid answer', describeError(error, environmentName));
  }
  const why = isApiError(error, 'no-route')
    ? 'this tenant has no such route'
    : 'this key is not permitted to read it';
  if (!granted) return route('skip', `${why}, and it is not granted here`);
  const remedy = `Remove it from ${environmentName('grants')}, as below, or grant it to the key`;
  return route('fail', why, remedy);
}

/** Of the whole collection in memory, estimated. */
function megabytesOf({ records, total = records.length }: Probe): number {
  const bytes = estimateBytes(records) * (total / Math.max(1, records.length));
  return Math.round(bytes / 2 ** 20);
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
    const unclear = !probe || (probe.error && !isRefusal(probe.error));
    return unclear ? grants.has(readGrant(resource)) : !probe.error;
  });
  const mayWrite = grants.has(writeGrant) && readable.includes('opportunity');
  const write: readonly Grant[] = mayWrite ? [writeGrant] : [];
  return inShort(new Set([...readable.map(readGrant), ...write]));
}
