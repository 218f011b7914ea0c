/** Whether a filter that finds nothing at the service has no matches. */

import type { Call } from '../service/call.ts';
import { ignoreApiError } from '../service/errors.ts';
import type { Page, Search } from '../service/page.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';
import { fieldOf } from '../values.ts';
import { pageSize, type ServicePages } from './service-pages.ts';

/** Requests that a misspelt name may cost to be found among all records. */
const maxRequests = 20;
const sampleSize = 25;

/**
 * The fields of filters by which the service is not proven to filter: if there are none, its answer that nothing passes
 * is right. `few records` if all records of the search can be read with few requests.
 * @param filters in the service's terms
 * @throws ApiError
 */
export async function unprovenFields(
  pages: ServicePages,
  resource: Resource,
  search: Search,
  filters: string,
  call: Call,
): Promise<readonly string[] | 'few records'> {
  const sample = await pages.page(resource, { ...search, size: sampleSize }, call);
  const { maxSize } = pages.traits(resource);
  if (isSmall(sample, typeof maxSize === 'number' ? maxSize : pageSize)) return 'few records';
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
const isSmall = ({ total, records, countIsLimit }: Page<ApiRecord>, size: number): boolean =>
  total === undefined || countIsLimit ? records.length < sampleSize : total <= maxRequests * size;

/**
 * Whether the service finds a record by the value that it has in this field, in other letter case: then it also finds
 * what is written in another case.
 */
async function filtersBy(
  pages: ServicePages,
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
  pages.learnHonoured(resource, trait, isHonoured);
  return isHonoured;
}

const valueIn = (record: ApiRecord, path: string): unknown =>
  path.split('.').reduce<unknown>(fieldOf, record);

const folded = (value: unknown): string => String(value).toLowerCase();

const isPlainText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !/[,|:]/.test(value);

const inOtherCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
