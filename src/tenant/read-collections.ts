import type { ProbabilityScale } from '../figures/probability.ts';
import { hasUnknownItems } from '../figures/quote-totals.ts';
import type { KnownRecords } from '../names/references.ts';
import type { Coverage } from '../reading/coverage.ts';
import type { PartOf } from '../reading/parts.ts';
import { ignoreApiError, isApiError } from '../service/errors.ts';
import { describeUnrecognized } from '../service/records/recognition.ts';
import type { ApiRecord, Quote, RecordOf, Resource } from '../service/records/records.ts';
import { trusted, type Wording, wording } from '../text/untrusted-text.ts';
import type { ToolCall } from './call.ts';
import { NotGranted } from './grants.ts';
import { nameReferences } from './naming.ts';
import type { Tenant } from './tenant.ts';

/** Several whole collections, and what is missing. */
export interface CollectionsRead<R extends Resource> {
  records: { readonly [K in R]?: readonly RecordOf[K][] };
  /** The same records in the order of the request; `undefined` for a collection that may not be read. */
  readings: readonly (readonly ApiRecord[] | undefined)[];
  /** Combined coverage: complete only if each is complete; `asOf` is that of the oldest. */
  coverage: Coverage & { asOf: Date };
  /** A sentence for each collection that may not be read, or that lacks something in every record. */
  omitted: Wording[];
  /** The collections of which only the wanted part was read. */
  partial: readonly Resource[];
  /** The scale of the tenant's probabilities, if only a part of the opportunities was read. */
  probability: ProbabilityScale | undefined;
}

/** `undefined` for a whole collection. */
type Wanted = PartOf | undefined;

/**
 * Reads several collections in parallel; or at least a part of each. An `optional` collection that may not be read is listed in `omitted`; a
 * `required` one is an error, and so is it when none of all may be read.
 * @throws NotGranted, ApiError
 */
export async function readCollections<N extends Resource, W extends Resource = never>(
  tenant: Tenant,
  required: readonly N[],
  optional: readonly W[],
  call: ToolCall,
  partOf: (resource: Resource) => Wanted | Promise<Wanted> = () => undefined,
): Promise<CollectionsRead<N | W>> {
  const parts = await Promise.all([
    ...required.map((resource) => readOne(tenant, resource, call, partOf(resource))),
    ...optional.map((resource) =>
      readOne(tenant, resource, call, partOf(resource)).catch(omitIfNotPermitted(resource)),
    ),
  ]);
  const read = parts.filter((part) => 'records' in part);
  const [denied] = parts.flatMap((part) => ('error' in part ? [part.error] : []));
  if (read.length === 0 && denied !== undefined) throw denied;
  const known = Object.fromEntries(read.map((part) => [part.resource, part.records]));
  const named = await Promise.all(
    read.map(
      async ({ resource, records }): Promise<[Resource, readonly ApiRecord[]]> => [
        resource,
        await nameReferences(tenant, resource, records, known),
      ],
    ),
  );
  const records: KnownRecords = Object.fromEntries(named);
  return {
    records: records as CollectionsRead<N | W>['records'],
    readings: [...required, ...optional].map((resource) => records[resource]),
    coverage: combinedCoverage(read),
    probability: read.find(({ probability }) => probability)?.probability,
    partial: read.flatMap(({ resource, isPart }) => (isPart ? [resource] : [])),
    omitted: parts.flatMap((part) =>
      'omitted' in part ? [part.omitted] : describeUnrecognized(part.resource, part.records),
    ),
  };
}

/**
 * One record by its id: `record` is absent if there is none, and `omitted` has a sentence if it may not be read.
 * @throws ApiError
 */
export async function readOptional<R extends Resource>(
  tenant: Tenant,
  resource: R,
  id: string | undefined,
  call: ToolCall,
): Promise<{ record?: RecordOf[R] | undefined; omitted: Wording[] }> {
  if (id === undefined) return { omitted: [] };
  const found = await readIfExists(tenant, resource, 'id', id, call)
    .then((record) => ({ record }))
    .catch(omitIfNotPermitted(resource));
  return 'omitted' in found ? { omitted: [found.omitted] } : { ...found, omitted: [] };
}

/** The coverage of an answer about the items of these quotes: partial where the service's lists leave items out. */
export function coverageOfItems<C extends Coverage>(coverage: C, quotes: readonly Quote[]): C {
  const missing = quotes.filter(hasUnknownItems).length;
  if (missing === 0) return coverage;
  const { read, total, reason } = coverage;
  const why = `the items of ${missing} of ${quotes.length} quotes could not be read, because the service's lists leave them out`;
  return {
    ...coverage,
    complete: false,
    read: read - missing,
    total: Math.max(total, read),
    reason: reason === undefined ? why : `${reason}; ${why}`,
  };
}

interface Part {
  resource: Resource;
  records: readonly ApiRecord[];
  coverage: Coverage;
  asOf: Date;
  isPart?: true;
  probability?: ProbabilityScale;
}

const readOne = async (
  tenant: Tenant,
  resource: Resource,
  call: ToolCall,
  part: Wanted | Promise<Wanted>,
): Promise<Part> => ({ resource, ...(await tenant.collection(resource, call, await part)) });

/** Handles missing permissions only: other errors, such as an outage, are rethrown. */
const omitIfNotPermitted =
  (resource: Resource) =>
  (error: unknown): { omitted: Wording; error: unknown } => {
    const isDenied = error instanceof NotGranted || isApiError(error, 'not-permitted', 'no-route');
    if (!isDenied) throw error;
    const plural = trusted(resource.replaceAll('_', ' '));
    return { error, omitted: wording`Without ${plural} records: they may not be read here.` };
  };

function combinedCoverage(parts: readonly Part[]): Coverage & { asOf: Date } {
  const sum = (of: (part: Part) => number) => parts.reduce((total, part) => total + of(part), 0);
  const oldest = Math.min(Date.now(), ...parts.map(({ asOf }) => asOf.getTime()));
  const incomplete = parts.filter(({ coverage }) => !coverage.complete);
  const coverage = {
    complete: incomplete.length === 0,
    read: sum((part) => part.coverage.read),
    total: sum((part) => part.coverage.total),
    asOf: new Date(oldest),
  };
  return incomplete.length === 0 ? coverage : { ...coverage, reason: combinedReason(incomplete) };
}

const combinedReason = (parts: readonly Part[]): string =>
  parts
    .map(
      ({ resource, coverage: { read, total, reason } }) =>
        `${read} of ${total} ${resource.replaceAll('_', ' ')} records, because ${reason}`,
    )
    .join('; ');

/** Reads one record; undefined if it does not exist, or if the value cannot be an id. @throws ApiError */
export const readIfExists = <R extends Resource>(
  tenant: Tenant,
  resource: R,
  by: 'id' | 'externalIdentifier',
  value: string,
  call: ToolCall,
): Promise<RecordOf[R] | undefined> =>
  tenant.getRecord(resource, by, value, call).catch(ignoreApiError('not-found', 'refused'));
