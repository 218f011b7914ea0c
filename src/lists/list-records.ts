/** A page of a list, filtered and sorted by its columns: by the service as far as it can, and here otherwise. */

import type { IgnoredParameters, ListPage } from '../reading/list-page.ts';
import { describeUnknownItems } from '../reading/quote-items.ts';
import { isApiError } from '../service/errors.ts';
import type { PageQuery } from '../service/page.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';
import type { ToolCall } from '../tenant/call.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { identifier, join, wording } from '../text/untrusted-text.ts';
import type { Known } from './column.ts';
import {
  type AskedCriteria,
  type Criteria,
  judgeOf,
  noCriteria,
  readCriteria,
} from './criteria.ts';
import { knownFor, nameRows } from './known.ts';
import { type LocalPlan, localPage } from './local-page.ts';

/** A page, and what is known to name what its rows refer to. */
export interface NamedPage<R> extends ListPage<R> {
  known: Known;
  /** Filtered or sorted by: shown with every row. */
  keys: readonly string[];
  /** Deleted records of the whole list; absent if the service made the page. */
  deleted?: number;
}

/**
 * @throws InvalidArguments for a filter or an order that nothing can be made of
 * @throws NotGranted, ApiError
 */
export async function listRecords<R extends Resource>(
  tenant: Tenant,
  resource: R,
  { fields, ...query }: PageQuery & { fields?: readonly string[] | undefined },
  call: ToolCall,
): Promise<NamedPage<RecordOf[R]>> {
  const { filters, sort } = query;
  const criteria = filters || sort ? readCriteria(resource, filters, sort) : noCriteria;
  const found = await servicePage(tenant, resource, query, criteria, call);
  const page = 'plan' in found ? await localPage(tenant, resource, query, found.plan, call) : found;
  const known = await knownFor(tenant, resource, page.records, call, fields);
  const records = await nameRows(tenant, resource, page.records, known);
  const unknown = resource === 'quote' ? describeUnknownItems(records) : [];
  const notes = [...(page.notes ?? []), ...unknown];
  return { ...page, records, notes, known, keys: criteria.keys };
}

/**
 * The service's page; or what is left to do here, if the service does not support the criteria, ignores them, or finds
 * nothing where a name may be misspelt.
 */
async function servicePage<R extends Resource>(
  tenant: Tenant,
  resource: R,
  { filters: _, sort: __, ...query }: PageQuery,
  { terms, keys: ___, ...criteria }: AskedCriteria,
  call: ToolCall,
): Promise<ListPage<RecordOf[R]> | { plan: LocalPlan }> {
  const { query: text, includeBundles } = query;
  const plan: LocalPlan = { ...criteria, search: { query: text, includeBundles } };
  const isAsked = criteria.conditions.length > 0 || criteria.sort.length > 0;
  if (terms === undefined || (isAsked && routes[resource].shape !== 'paged')) return { plan };
  try {
    const judge = isAsked || text ? judgeOf(criteria, text) : undefined;
    const page = await tenant.list(resource, { ...query, ...terms }, call, judge);
    if (page.ignored) return { plan: planFor(criteria, text, page.ignored) };
    const { unproven = [] } = page;
    if (unproven === 'few records') return { plan };
    if (unproven.length > 0) throw unprovenError(unproven);
    return page;
  } catch (error) {
    if (!isAsked || !isApiError(error, 'refused')) throw error;
    return { plan };
  }
}

const unprovenError = (fields: readonly string[]): InvalidArguments =>
  new InvalidArguments(
    wording`The service finds nothing, but it is not certain that it filters by ${join(fields.map(identifier), ', ')}, and reading all records takes too many of its requests. Ask with query or another filter, or look it up with cpq_find.`,
  );

/** What is left to do here if the service ignores these parameters. */
function planFor(
  { conditions, sort }: Criteria,
  text: string | undefined,
  { names, search }: IgnoredParameters,
): LocalPlan {
  return {
    search,
    conditions: names.includes('filters') ? conditions : [],
    sort: names.includes('sort') ? sort : [],
    text: names.includes('query') ? text : undefined,
    ignored: names,
  };
}
