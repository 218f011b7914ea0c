import { environmentName, type Settings } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import { estimateBytes } from '../../reading/cache.ts';
import { minSampleRows } from '../../reading/offset.ts';
import type { ServicePages } from '../../reading/service-pages.ts';
import { isApiError } from '../../service/errors.ts';
import type { Resource } from '../../service/records/records.ts';
import { resources, routes } from '../../service/routes.ts';
import { readGrant } from '../../tenant/grants.ts';
import { checkAs, type DoctorCheck, notTried } from './check.ts';
import type { Probe, Prober, Probes } from './prober.ts';
import { affectsAllRoutes } from './service.ts';

/** Large enough to show whether the offset counts records or pages. */
export const probeSize = minSampleRows;
const width = 4;

/**
 * Requests every route; stops early if the first two answers show that all others would fail. Routes that
 * were not requested are absent.
 */
export async function probeRoutes(prober: Prober, pages: ServicePages): Promise<Probes> {
  const probes = new Map<Resource, Probe>();
  const ask = async (resource: Resource | undefined) => {
    if (resource === undefined || !prober.canAsk) return;
    probes.set(resource, await probe(resource, prober, pages));
  };
  const queue = [...resources];
  await ask(queue.shift());
  if (affectsAllRoutes([...probes.values()][0]?.error)) return probes;
  await ask(queue.shift());
  const [one, other] = [...probes.values()].map(({ error }) => error?.kind);
  const both = [...probes.values()];
  const isRefused = both.every(({ error }) => isApiError(error, 'key-refused', 'no-route'));
  if (isRefused || (one !== undefined && one === other && one !== 'not-permitted')) return probes;
  const worker = async () => {
    while (queue.length > 0) await ask(queue.shift());
  };
  await Promise.all(Array.from({ length: width }, worker));
  return probes;
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
  if (!probe.error) return route('pass', `${sizeOf(probe)}${granted ? '' : '; not granted here'}`);
  if (!isRefusal(probe.error)) {
    return route(
      granted ? 'fail' : 'warn',
      'no valid answer',
      describeError(probe.error, environmentName),
    );
  }
  const why = isApiError(probe.error, 'no-route')
    ? 'this tenant has no such route'
    : 'this key is not permitted to read it';
  if (!granted) return route('skip', `${why}, and it is not granted here`);
  return route(
    'fail',
    why,
    `Remove it from ${environmentName('grants')}, as below, or grant it to the key`,
  );
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
