/** Whether a filter that finds nothing at the service has no matches. */

import type { Call } from '../service/call.ts';
import { ignoreApiError } from '../service/errors.ts';
import type { Page, Search } from '../service/page.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';
import { fieldOf } from '../values.ts';
import type { LearntTraits } from './profile.ts';
import type { ServicePages } from './service-pages.ts';

/** Requests that a misspelt name may cost to be found among all records. */
const maxRequests = 20;
const sampleSize = 25;
const defaultPageSize = 100;

type Pages = Pick<ServicePages, 'page' | 'traits' | 'learn'>;

/**
 * The fields of filters by which the service is not proven to filter: if there are none, its answer that nothing passes
 * is right. `few records` if all records of the search can be read with few requests.
 * @param filters in the service's terms
 * @throws ApiError
 */
export async function unprovenFields(
  pages: Pages,
  resource: Resource,
  search: Search,
  filters: string,
  call: Call,
): Promise<readonly string[] | 'few records'> {
  const sample = await pages.page(resource, { ...search, size: sampleSize }, call);
  if (isSmall(sample, pages.traits(resource))) return 'few records';
  const unproven: string[] = [];
  for (const field of filterFields(filters))
    if (!(await filtersBy(pages, resource, search, field, sample.records, call)))
      unproven.push(field);
  return unproven;
}

/** The fields of filters in the service's terms, whose values have no commas. */
export const filterFields = (filters: string): string[] =>
  filters.split(',').map((part) => part.slice(0, part.indexOf(':')));

/** Whether all records can be read with few requests. */
function isSmall(
  { total, records, countIsLimit }: Page<ApiRecord>,
  { maxSize }: LearntTraits,
): boolean {
  if (total === undefined || countIsLimit) return records.length < sampleSize;
  return total <= maxRequests * (typeof maxSize === 'number' ? maxSize : defaultPageSize);
}

/**
 * Whether the service finds a record by the value that it has in this field, in other letter case: then it also finds
 * what is written in another case.
 */
async function filtersBy(
  pages: Pages,
  resource: Resource,
  search: Search,
  field: string,
  records: readonly ApiRecord[],
  call: Call,
): Promise<boolean> {
  const trait = `none ${field}`;
  const known = pages.traits(resource).honoured[trait];
  if (known !== undefined) return known;
  const value = records.map((record) => valueIn(record, field)).find(isPlainText);
  if (value === undefined) return false;
  const filters = `${field}:${field.endsWith('id') ? value : inOtherCase(value)}`;
  const query = { ...search, filters, size: sampleSize };
  const page = await pages.page(resource, query, call).catch(ignoreApiError('refused'));
  const found = page?.records ?? [];
  const fits = found.every((record) => folded(valueIn(record, field)) === folded(value));
  const isHonoured = found.length > 0 && fits;
  const { honoured } = pages.traits(resource);
  pages.learn(resource, { honoured: { ...honoured, [trait]: isHonoured } });
  return isHonoured;
}

const valueIn = (record: ApiRecord, path: string): unknown =>
  path.split('.').reduce<unknown>(fieldOf, record);

const folded = (value: unknown): string => String(value).toLowerCase();

const isPlainText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !/[,|:]/.test(value);

const inOtherCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
