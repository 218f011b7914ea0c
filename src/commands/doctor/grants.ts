import { resources } from '../../api/routes.ts';
import { type Grant, readGrant, writeGrant } from '../../tenant/grants.ts';
import { isRefusal, type Probes } from './routes.ts';

const everyRead = new Set(resources.map(readGrant));

/** As in `CPQ_GRANTS`: `read` for all reads. */
export function inShort(grants: ReadonlySet<Grant>): string {
  const reads = [...everyRead].every((grant) => grants.has(grant)) ? ['read'] : [];
  const others = [...grants].filter((grant) => reads.length === 0 || !everyRead.has(grant));
  return [...reads, ...others].join(',');
}

/**
 * What to put into `CPQ_GRANTS`: everything that this key can read; where that is not clear now, what is
 * granted already. A write is never tried, so that grant stays as it is set, as long as what it would
 * change can be read. Nothing when nothing can be read.
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
