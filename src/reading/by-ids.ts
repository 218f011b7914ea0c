import type { Call } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { ignoreApiError } from '../service/errors.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { pageSize, type ServicePages } from './service-pages.ts';

/** The property of a route that says whether the service filters its records by id. */
const filterById = 'filters id';
/** Characters of a value that would end it in a filter. */
const separators = /[,|:]/;

export const isSearchable = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !separators.test(value);

/**
 * The records with these ids that exist, by id: with the service's filter, and one by one those that it does not find.
 * @param maxSingle if more are to be read one by one, the others are left out, and the result is not `isWhole`
 * @throws ApiError; the signal's reason when the call was cancelled
 */
export async function readByIds<R extends Resource>(
  pages: ServicePages,
  client: Pick<ApiClient, 'getRecord'>,
  resource: R,
  ids: readonly string[],
  maxSingle: number,
  call: Call,
): Promise<{ found: ReadonlyMap<string, RecordOf[R]>; isWhole: boolean }> {
  const found = new Map<string, RecordOf[R]>();
  let left = ids.length > 1 ? ids.filter(isSearchable) : [];
  while (left.length > 0 && pages.traits(resource).honoured[filterById] !== false) {
    const asked = left.slice(0, pageSize);
    const filters = `id:${asked.join('|')}`;
    const query = { filters, size: asked.length, includeBundles: true };
    const page = await pages.sized(resource, query, call).catch(ignoreApiError('refused'));
    const records = page?.records ?? [];
    const before = found.size;
    let isFiltered = page !== undefined;
    for (const record of records) {
      const { id = '' }: ApiRecord = record;
      if (asked.includes(id)) found.set(id, record);
      isFiltered &&= asked.includes(id);
    }
    if (!isFiltered) pages.learnHonoured(resource, filterById, false);
    // A service may give smaller pages than requested.
    const isAll = found.size === before || page?.total === records.length;
    left = isAll ? left.slice(asked.length) : left.filter((id) => !found.has(id));
  }
  const missing = ids.filter((id) => !found.has(id));
  const single = missing.slice(0, maxSingle).map(async (id) => {
    const reading = client.getRecord(resource, 'id', id, call);
    const record = await reading.catch(ignoreApiError('not-found', 'refused'));
    if (record) found.set(id, record);
  });
  await Promise.all(single);
  return { found, isWhole: missing.length <= maxSingle };
}
