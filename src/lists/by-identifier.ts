import { nonBlank } from '../figures/fields.ts';
import { pluralOf } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { filterSteps } from '../figures/steps.ts';
import { normalisePart } from '../names/part-numbers.ts';
import { ApiError } from '../service/errors.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';
import { runInSlices } from '../slices.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import { maxCandidates, readByRoute } from '../tenant/lookup.ts';
import { readIfExists } from '../tenant/read-collections.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { identifier, join, quote, trusted, wording } from '../text/untrusted-text.ts';
import { fieldOf } from '../values.ts';
import { hasMeaning } from './criteria.ts';
import { listRecords } from './list-records.ts';

/**
 * Reads one record by id, external identifier, quote or part number. What has no route of its own is looked up in
 * the whole list.
 * @throws ApiError, of the kind `not-found` if there is no such record
 * @throws InvalidArguments if several records have the identifier
 */
export async function readByIdentifier<R extends Resource>(
  tenant: Tenant,
  resource: R,
  text: string,
  call: ToolCall,
): Promise<RecordOf[R]> {
  const hasOthers = routes[resource].one.length === 0 || otherIdentifiers[resource];
  const record =
    (await readByRoute(tenant, resource, text, call)) ??
    (hasOthers && (await findByIdentifier(tenant, resource, text, call)));
  if (record) return record;
  throw new ApiError('not-found', { host: tenant.site.host }, 'no record has this id');
}

/** Identifiers by which the service has no route. */
const otherIdentifiers: { readonly [R in Resource]?: readonly string[] } = {
  opportunity: ['externalIdentifier'],
  product: ['mpn', 'ean'],
  quote: ['number'],
};

/** The one record with this identifier, a current one before a deleted one. */
async function findByIdentifier<R extends Resource>(
  tenant: Tenant,
  resource: R,
  text: string,
  call: ToolCall,
): Promise<RecordOf[R] | undefined> {
  const named = await recordsNamed(tenant, resource, text, call);
  const current = named.filter((record) => !isDeleted(record));
  const found = current.length > 0 ? current : named;
  if (found.length > 1) throw severalCalled(resource, text, found);
  const [record] = found;
  const id = record && fieldOf(record, 'id');
  // The rows of a list may lack what the record by id has.
  const isWhole = typeof id !== 'string' || routes[resource].one.length === 0;
  return isWhole ? record : ((await readIfExists(tenant, resource, 'id', id, call)) ?? record);
}

/** Records of one identifier that are asked for. */
const maxNamesakes = 25;

async function recordsNamed<R extends Resource>(
  tenant: Tenant,
  resource: R,
  text: string,
  call: ToolCall,
): Promise<readonly RecordOf[R][]> {
  const key = normalisePart(text);
  if (key === '') return [];
  const isNamed = ({ id, externalIdentifier, number, mpn, ean }: ApiRecord) =>
    [id, externalIdentifier, number, mpn, ean].some(
      (one) => typeof one === 'string' && normalisePart(one) === key,
    );
  const fields = otherIdentifiers[resource];
  // What has a meaning in a filter is compared with all records.
  if (!fields || hasMeaning(text)) {
    const { records } = await tenant.collection(resource, call);
    return runInSlices(filterSteps(records, isNamed));
  }
  for (const field of fields) {
    const query = { filters: `${field}:${text}`, size: maxNamesakes, includeBundles: true };
    const { records } = await listRecords(tenant, resource, query, call);
    const named = records.filter(isNamed);
    if (named.length > 0) return named;
  }
  return [];
}

/** Asks which of these records is meant, of `total` with this name or number. */
export function severalCalled(
  resource: Resource,
  text: string,
  records: readonly ApiRecord[],
  total = records.length,
): InvalidArguments {
  const each = records.slice(0, maxCandidates).map(({ id = '', name, title }) => {
    const label = nonBlank(name ?? title);
    return label === undefined ? identifier(id) : wording`${identifier(id)} ${quote(label)}`;
  });
  return new InvalidArguments(
    wording`${total} ${trusted(pluralOf(resource.replaceAll('_', ' ')))} are called ${quote(text)}: ${join(each, ', ')}. Ask the person which one, then call again with its id.`,
  );
}
