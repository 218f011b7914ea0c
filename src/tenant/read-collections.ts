import type { ProbabilityScale } from '../figures/probability.ts';
import { filterSteps } from '../figures/steps.ts';
import {
  completeReferences,
  hasFormerName,
  type KnownRecords,
  lacksName,
  NamesIn,
  namingResources,
} from '../names/references.ts';
import type { Collection, Coverage } from '../reading/coverage.ts';
import type { PartOf } from '../reading/parts.ts';
import { ignoreApiError, isApiError } from '../service/errors.ts';
import { minRows } from '../service/records/account.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import type { IdField } from '../service/routes.ts';
import { runInSlices } from '../slices.ts';
import { counted, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isOneOf } from '../values.ts';
import { danglingReferences, fieldGaps, type RestsOn } from './field-gaps.ts';
import { NotGranted, readGrant, requireGrant } from './grants.ts';
import type { Tenant, ToolCall } from './tenant.ts';

/** Several whole collections, and what is missing. */
export interface CollectionsRead<R extends Resource> {
  records: { readonly [K in R]?: readonly RecordOf[K][] };
  /** The same records in the order of the request; `undefined` for a collection that may not be read. */
  readings: readonly (readonly ApiRecord[] | undefined)[];
  /** Combined coverage: complete only if each is complete; `asOf` is that of the oldest. */
  coverage: Coverage & { asOf: Date };
  /** A sentence for each collection that may not be read. */
  omitted: Wording[];
  /** The collections of which only the wanted part was read. */
  partial: readonly Resource[];
  /** The scale of the tenant's probabilities, if only a part of the opportunities was read. */
  probability: ProbabilityScale | undefined;
}

/**
 * Reads several collections in parallel; or at least a part of each. An `optional` collection that may not be read is
 * listed in `omitted`; a `required` one is an error, also if it is in both lists, and so is it when none of all may be
 * read.
 * @param restsOn what the coverage says of fields
 * @param partOf what is wanted of a collection; `undefined` for all of it
 * @throws NotGranted, ApiError
 */
export async function readCollections<N extends Resource, W extends Resource = never>(
  tenant: Tenant,
  required: readonly N[],
  optional: readonly W[],
  call: ToolCall,
  restsOn: RestsOn,
  partOf: (resource: Resource) => Promise<PartOf | undefined> | PartOf | undefined = () =>
    undefined,
): Promise<CollectionsRead<N | W>> {
  for (const resource of required) requireGrant(tenant.grants, readGrant(resource));
  const readOne = async (resource: Resource): Promise<Part> => ({
    resource,
    ...(await tenant.collection(resource, call, await partOf(resource))),
  });
  const parts = await Promise.all([
    ...required.map(readOne),
    ...optional.flatMap((resource) =>
      isOneOf<Resource>(required, resource)
        ? []
        : readOne(resource).catch(omitIfUnreadable(resource)),
    ),
  ]);
  const read = parts.filter((part) => 'records' in part);
  const unread = parts.filter((part) => 'omitted' in part);
  if (read.length === 0 && unread[0]) throw unread[0].error;
  const known = Object.fromEntries(read.map((part) => [part.resource, part.records]));
  const named = await Promise.all(
    read.map(
      async ({ resource, records }): Promise<[Resource, readonly ApiRecord[]]> => [
        resource,
        await nameReferences(tenant, resource, records, known, true),
      ],
    ),
  );
  const records: KnownRecords = Object.fromEntries(named);
  const gapsOf = (part: Part) => fieldGaps(tenant, part.resource, part, restsOn[part.resource]);
  const partial = read.flatMap(({ resource, isPart }) => (isPart ? [resource] : []));
  const gaps = [
    ...(await Promise.all(read.map(gapsOf))).flat(),
    ...danglingReferences(tenant, records, (it) => (partial.includes(it) ? Infinity : minRows)),
  ];
  return {
    records: records as CollectionsRead<N | W>['records'],
    readings: [...required, ...optional].map((resource) => records[resource]),
    coverage: {
      ...combinedCoverage([...read, ...unread.flatMap(({ part }) => part ?? [])]),
      ...(gaps.length > 0 && { fields: gaps }),
    },
    probability: read.find(({ probability }) => probability)?.probability,
    partial,
    omitted: unread.map(({ omitted }) => omitted),
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
    .catch(omitIfUnreadable(resource));
  return 'omitted' in found ? { omitted: [found.omitted] } : { ...found, omitted: [] };
}

interface Part extends Collection<ApiRecord> {
  resource: Resource;
}

/** What says nothing of other routes. Where the service cannot be asked at all, the whole call fails. */
export const unreadable = [
  ...(['not-permitted', 'no-route', 'web-page', 'server-error', 'refused', 'redirect'] as const),
  ...(['malformed', 'embedded-error', 'unexpected', 'too-large', 'circuit-open'] as const),
];

/** What is not granted is left out; what the service does not give also makes the coverage incomplete. */
const omitIfUnreadable =
  (resource: Resource) =>
  (error: unknown): { omitted: Wording; error: unknown; part?: Part } => {
    const plural = trusted(resource.replaceAll('_', ' '));
    const mixed =
      resource === 'company' ? ', so amounts of unknown currency may be of several' : '';
    const omitted = wording`Without ${plural} records, since ${resource}:read is not granted here${trusted(mixed)}.`;
    if (error instanceof NotGranted) return { error, omitted };
    if (!isApiError(error, ...unreadable)) throw error;
    const reason = isApiError(error, 'not-permitted')
      ? 'the service does not let this key read them'
      : 'the service did not give them';
    const coverage = { complete: false, read: 0, total: 0, reason };
    const part = { resource, records: [], coverage, asOf: new Date() };
    return { error, omitted: wording`Without ${plural} records: ${trusted(reason)}.`, part };
  };

function combinedCoverage(parts: readonly Part[]): Coverage & { asOf: Date } {
  const sum = (of: (part: Part) => number) => parts.reduce((total, part) => total + of(part), 0);
  const oldest = Math.min(Date.now(), ...parts.map(({ asOf }) => asOf.getTime()));
  const explained = parts.filter(({ coverage }) => coverage.reason !== undefined);
  const coverage = {
    complete: parts.every((part) => part.coverage.complete),
    read: sum((part) => part.coverage.read),
    total: sum((part) => part.coverage.total),
    asOf: new Date(oldest),
  };
  return explained.length === 0 ? coverage : { ...coverage, reason: combinedReason(explained) };
}

/** In the reason of each collection that was not read whole. */
export const couldBeRead = ' could be read';

const combinedReason = (parts: readonly Part[]): string =>
  parts
    .map(
      ({ resource, coverage: { complete, read, total, reason } }) =>
        `${complete ? 'older' : shareOf(read, total)} ${resource.replaceAll('_', ' ')} records${complete ? '' : couldBeRead}, because ${reason}`,
    )
    .join('; ');

const shareOf = (read: number, total: number): string =>
  read === 0 ? 'no' : `${read < total ? 'only ' : ''}${counted(read)} of ${counted(total)}`;

/** Reads one record; undefined if it does not exist, or if the value cannot be an id. @throws ApiError */
export const readIfExists = <R extends Resource>(
  tenant: Tenant,
  resource: R,
  by: IdField,
  value: string,
  call: ToolCall,
): Promise<RecordOf[R] | undefined> =>
  tenant.getRecord(resource, by, value, call).catch(ignoreApiError('not-found', 'refused'));

/** Names on the way out: the references of records, completed from the collections that the caller may read. */

/**
 * Records with the missing names and ids of their references, as far as `known` contains them: copies of those that
 * lack any, and the same list where none does. Made once for these readings.
 * @param known only collections that the caller may read
 * @param areKept whether they may be older than the known companies: these may have been renamed since
 */
export const nameReferences = <R extends Resource>(
  tenant: Tenant,
  resource: R,
  records: readonly RecordOf[R][],
  known: KnownRecords,
  areKept = false,
): Promise<readonly RecordOf[R][]> =>
  tenant.derived.version(
    [records, ...namingResources.map((each) => known[each])],
    areKept ? 'named as now' : 'named',
    async () => {
      const [companies] = areKept ? await namesIn(tenant, { company: known.company }) : [];
      const lacks = (record: RecordOf[R]) =>
        lacksName(resource, record) || (companies && hasFormerName(record, companies)) === true;
      const incomplete = await runInSlices(filterSteps(records, lacks));
      if (incomplete.length === 0) return records;
      const from = await namesIn(tenant, known);
      return runInSlices(completeReferences(resource, records, from, companies));
    },
  );

async function namesIn(tenant: Tenant, known: KnownRecords): Promise<NamesIn[]> {
  const found = namingResources.map((resource) => {
    const records = known[resource];
    if (!records) return undefined;
    const make = () => runInSlices(NamesIn.of(resource, records));
    return tenant.derived.get([records], 'names in references', make, ({ bytes }) => bytes);
  });
  return (await Promise.all(found)).filter((names) => names !== undefined);
}
