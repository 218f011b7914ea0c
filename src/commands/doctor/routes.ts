import { isApiError } from '../../api/errors.ts';
import { resources, routes } from '../../api/routes.ts';
import { environmentName } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import type { Resource } from '../../records/records.ts';
import { type Grant, readGrant } from '../../tenant/grants.ts';
import { check, type DoctorCheck } from './check.ts';
import type { Probe, Prober } from './prober.ts';
import { affectsAllRoutes } from './service.ts';

export type Probes = ReadonlyMap<Resource, Probe>;

/** Large enough to see whether size and offset are honoured. */
export const probeSize = 2;
const width = 4;

/**
 * Requests every route once; stops early if the first two answers show that all others would fail. Routes
 * that were not requested are absent.
 */
export async function probeRoutes(prober: Prober): Promise<Probes> {
  const probes = new Map<Resource, Probe>();
  const ask = async (resource: Resource | undefined) => {
    if (resource === undefined || !prober.hasTime) return;
    probes.set(resource, await prober.page(routes[resource].path, { size: String(probeSize) }));
  };
  const queue = [...resources];
  await ask(queue.shift());
  if (affectsAllRoutes([...probes.values()][0]?.error)) return probes;
  await ask(queue.shift());
  const both = [...probes.values()];
  if (both.every(({ error }) => isApiError(error, 'key-refused', 'no-route'))) return probes;
  const worker = async () => {
    while (queue.length > 0) await ask(queue.shift());
  };
  await Promise.all(Array.from({ length: width }, worker));
  return probes;
}

/** Whether the route is permanently unavailable to this key or tenant; other errors may be temporary. */
export const isRefusal = (error: unknown): boolean =>
  isApiError(error, 'not-permitted', 'key-refused', 'no-route');

export const checkRoutes = (probes: Probes, grants: ReadonlySet<Grant>): DoctorCheck[] =>
  resources.map((resource) => checkRoute(resource, probes.get(resource), grants));

function checkRoute(
  resource: Resource,
  probe: Probe | undefined,
  grants: ReadonlySet<Grant>,
): DoctorCheck {
  const { path } = routes[resource];
  const granted = grants.has(readGrant(resource));
  const route = (status: DoctorCheck['status'], detail: string, remedy?: string) =>
    check(`route:${path}`, path, status, detail, remedy);
  if (!probe) return route('skip', 'not tried');
  if (!probe.error) return route('ok', `${sizeOf(probe)}${granted ? '' : '; not granted here'}`);
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

function sizeOf({ page, bare }: Probe): string {
  if (page?.total !== undefined) return `${page.total} records`;
  const count = page?.records.length ?? 0;
  if (bare && count > probeSize) return `${count} records, in one list`;
  return count < probeSize ? `${count} records` : 'records; the service reports no total';
}
