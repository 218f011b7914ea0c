import type { Context } from './context.ts';
import { notFound } from './errors.ts';
import { recordExpression } from './record.ts';
import { category, product, type Resource } from './schema.ts';
import { type Page, readPage, readSearch, type Search } from './search.ts';

/** The records of a tenant. */
type Records = Pick<Context, 'store' | 'tenant'>;

/** Answers one of the five search routes: an envelope with the total of all matches. */
export function searchRecords(
  records: Records,
  resource: Resource,
  query: URLSearchParams,
): string {
  const search = readSearch(resource, query);
  if (resource === product && query.get('includeBundles') !== 'true')
    search.where += " and lower(t.productType) <> 'bundle'";
  return envelope(records, resource, search, readPage(query));
}

/** Answers a route with pages in an envelope but without filters. `query` is a parameter of contract items only. */
export function listEnveloped(
  records: Records,
  resource: Resource,
  query: URLSearchParams,
): string {
  return envelope(records, resource, readSearch(resource, query), readPage(query));
}

/** Answers a route that returns all records as a bare array. */
export function listBare({ store, tenant }: Records, resource: Resource): string {
  const sql = `select ${recordExpression(resource)} from ${resource.table} t
    where t.tenant = ? order by t.rowid`;
  return `[${store.read(sql, [tenant]).join(',')}]`;
}

/**
 * One record by the value of a column.
 * @throws Refusal 404 when there is none.
 */
export function readOne(
  { store, tenant }: Records,
  resource: Resource,
  column: 'id' | 'externalIdentifier',
  value: string,
): string {
  const sql = `select ${recordExpression(resource)} from ${resource.table} t
    where t.tenant = ? and t.${column} = ?`;
  const [record] = store.read(sql, [tenant, value]);
  if (record === undefined) throw notFound(`No ${resource.table} with ${column} ${value}`);
  return record;
}

function envelope(
  { store, tenant }: Records,
  resource: Resource,
  { where, order, params }: Search,
  { size, from }: Page,
): string {
  const { table } = resource;
  const count = `select cast(count(*) as text) from ${table} t where t.tenant = ?${where}`;
  const [total = '0'] = store.read(count, [tenant, ...params]);
  // Finds and sorts rowids first, so that only the rows of the page are written as JSON.
  const sql = `select ${recordExpression(resource)} from
    (select t.rowid as at from ${table} t where t.tenant = ?${where}
      order by ${order} limit ? offset ?) page
    cross join ${table} t on t.rowid = page.at`;
  const records = store.read(sql, [tenant, ...params, size, from]);
  return `{"results":[${records.join(',')}],"total":${total}}`;
}

interface CategoryNode {
  id: string;
  parentCategoryId?: string;
  children: CategoryNode[];
}

/** The categories nested in `children`; without `includeEmpty`, only branches that hold a product. */
export function categoryTree(records: Records, query: URLSearchParams): string {
  const flat: Omit<CategoryNode, 'children'>[] = JSON.parse(listBare(records, category));
  const nodes = new Map<string, CategoryNode>(
    flat.map((record) => [record.id, { ...record, children: [] }]),
  );
  const roots = [...nodes.values()].filter((node) => {
    const parent = nodes.get(node.parentCategoryId ?? '');
    parent?.children.push(node);
    return !parent;
  });
  if (query.get('includeEmpty') === 'true') return JSON.stringify(roots);
  return JSON.stringify(withProducts(roots, usedCategories(records)));
}

function usedCategories({ store, tenant }: Records): Set<string> {
  const sql = `select distinct coalesce(categoryId, categories ->> '$[0].id') from product
    where tenant = ? and coalesce(categoryId, categories) is not null`;
  return new Set(store.read(sql, [tenant]));
}

function withProducts(nodes: CategoryNode[], used: Set<string>): CategoryNode[] {
  return nodes
    .map((node) => ({ ...node, children: withProducts(node.children, used) }))
    .filter((node) => node.children.length > 0 || used.has(node.id));
}
