import { resources } from '../../service/routes.ts';
import { type Grant, readGrant, writeGrant } from '../../tenant/grants.ts';
import type { Probes } from './prober.ts';
import { isRefusal } from './routes.ts';

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
  const named = resources.filter((resource) => resource !== 'category_tree');
  const readable = named.filter((resource) => {
    const probe = probes.get(resource);
    const unclear = !probe || (probe.error && !isRefusal(probe.error));
    return unclear ? grants.has(readGrant(resource)) : !probe.error;
  });
  const mayWrite = grants.has(writeGrant) && readable.includes('opportunity');
  const write: readonly Grant[] = mayWrite ? [writeGrant] : [];
  return inShort(new Set([...readable.map(readGrant), ...write]));
}
