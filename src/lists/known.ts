import type { Assignable } from '../briefs/prices/books.ts';
import { currencyOfRecord, unknownCurrency } from '../figures/money.ts';
import { recordsById, runSteps } from '../figures/steps.ts';
import { companyOf, type KnownRecords, lacksName, namingResources } from '../names/references.ts';
import type { ReferencedRecord } from '../reading/referenced-records.ts';
import { ignoreApiError, unlessKeyRefused } from '../service/errors.ts';
import { currencyCode } from '../service/records/normalise.ts';
import type { ApiRecord, PricingBook, RecordOf, Resource } from '../service/records/records.ts';
import { readGrant } from '../tenant/grants.ts';
import { ownerNamesFor } from '../tenant/prepared.ts';
import { nameReferences, unreadable } from '../tenant/read-collections.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { isKeyOf } from '../values.ts';
import { type Known, listColumns, nothingKnown, shownProducts } from './columns.ts';
import { type RecordShape, showsCurrency } from './concise.ts';

/**
 * Names and currencies for the rows of a list, from the cached collections that the caller may read, and from the
 * companies of the rows. These are read, whatever else was read before, unless only these other `fields` are shown.
 * @throws ApiError if the key is refused
 */
export async function knownFor<R extends Resource>(
  tenant: Tenant,
  resource: R,
  rows: readonly RecordOf[R][],
  call: ToolCall,
  fields: readonly string[] = [],
): Promise<Known> {
  if (resource === 'discount_group' && rows.length > 0)
    await readGranted(tenant, 'category', call, unlessKeyRefused);
  const assigned: readonly Assignable[] = rows;
  // These have no names of the companies that they are for.
  const isAssigned = resource === 'pricing_book' || resource === 'discount_group';
  const cached = cachedById(tenant, 'company');
  const ids = isAssigned
    ? assigned.flatMap(({ companyIds = [] }) => companyIds).filter((id) => !cached?.has(id))
    : companiesToRead(resource, rows, cached, fields);
  const { found, isWhole } = await tenant.referenced('company', ids, call);
  if (isAssigned && !isWhole) await readGranted(tenant, 'company', call, unlessKeyRefused);
  const companies = cachedById(tenant, 'company');
  const companyOfId = (id: string | undefined) =>
    id === undefined ? undefined : (companies?.get(id) ?? found.get(id));
  const names = {
    company: (id: string) => companyOfId(id)?.name,
    category: (id: string) => cachedById(tenant, 'category')?.get(id)?.name,
    person: (id: string) =>
      ownerNamesFor(tenant, tenant.cached('opportunity'), tenant.cached('quote')).get(id),
  };
  return {
    currencyOf: { get: (id) => currencyCode(companyOfId(id)?.currency) },
    nameOf: (kind, id) => (id === undefined ? undefined : names[kind](id)),
  };
}

/** Of the companies that the rows refer to, those that are not cached, and whose name or currency is shown and lacking. */
function companiesToRead(
  resource: Resource,
  rows: readonly ApiRecord[],
  cached: CachedById | undefined,
  fields: readonly string[],
): string[] {
  if (!listColumns[resource].isInCompanyCurrency) return [];
  const hasCurrency = showsCurrency(resource, fields) || fields.includes('currency');
  const hasName = fields.length === 0 || fields.some((it) => it.startsWith('company'));
  const ids: string[] = [];
  for (const row of rows) {
    const { id, name } = companyOf(row);
    if (id === undefined || cached?.has(id)) continue;
    const lacksCurrency =
      hasCurrency && currencyOfRecord(row, nothingKnown.currencyOf) === unknownCurrency;
    if (lacksCurrency || (hasName && name === undefined)) ids.push(id);
  }
  return ids;
}

/**
 * Reads the opportunities, if these columns would be empty without them. Companies are left to `knownFor`, and the products of
 * pricing books to `nameShownProducts`, which need fewer requests.
 * @throws ApiError
 */
export async function readForColumns(
  tenant: Tenant,
  resource: Resource,
  fields: readonly string[],
  call: ToolCall,
): Promise<void> {
  const { all } = listColumns[resource];
  const needsDeals = fields.some(
    (it) => isKeyOf(all, it) && all[it]?.needs?.includes('opportunity'),
  );
  if (needsDeals) await readGranted(tenant, 'opportunity', call);
}

/** Reads a collection, if it may and can be read: without it the list shows ids. @throws ApiError */
export async function readGranted(
  tenant: Tenant,
  resource: Resource,
  call: ToolCall,
  orIgnore: (error: unknown) => undefined = ignoreApiError(...unreadable),
): Promise<void> {
  if (tenant.grants.has(readGrant(resource)))
    await tenant.collection(resource, call).catch(orIgnore);
}

type CachedById = ReadonlyMap<string | undefined, ReferencedRecord>;

/** The cached records of a collection that the caller may read. */
function cachedById(tenant: Tenant, resource: 'company' | 'category'): CachedById | undefined {
  const records: readonly ReferencedRecord[] | undefined = tenant.cached(resource);
  return records && tenant.derived.get([records], 'by id', () => runSteps(recordsById(records)));
}

/**
 * Pricing books with the names and part numbers of the products that are shown: from the cached products, those of the
 * books, or all where the service cannot be asked for some. Without permission for products they keep their ids only.
 * Other records are returned as they are.
 * @throws ApiError if the key is refused
 */
export async function nameShownProducts<R extends Resource>(
  tenant: Tenant,
  resource: R,
  records: readonly RecordOf[R][],
  { detail, fields = [] }: RecordShape,
  call: ToolCall,
): Promise<readonly RecordOf[R][]> {
  if (resource !== 'pricing_book') return records;
  const isAsked = fields.some((field) => field === 'product' || field.startsWith('products.'));
  if (fields.length > 0 && !isAsked) return records;
  const each = isAsked || detail === 'full' ? undefined : shownProducts;
  const named = withProductNames(records, tenant.cached('product'));
  const { found, isWhole } = await tenant.referenced('product', unnamedProducts(named, each), call);
  const whole = isWhole
    ? undefined
    : await tenant.collection('product', call).catch(unlessKeyRefused);
  return withProductNames(named, whole?.records ?? [...found.values()]);
}

/** Ids of the first `each` products of every book that have no name yet. */
const unnamedProducts = (books: readonly PricingBook[], each?: number): string[] =>
  books.flatMap(({ products = [] }) =>
    products.slice(0, each).flatMap(({ name, productId }) => (name ? [] : (productId ?? []))),
  );

/** The name follows the id, so that a table of the products begins with both. */
function withProductNames<Book extends PricingBook>(
  books: readonly Book[],
  products: readonly ReferencedRecord[] | undefined,
): readonly Book[] {
  if (!products || unnamedProducts(books).length === 0) return books;
  const byId = new Map(products.map((product) => [product.id, product]));
  return books.map((book) => {
    const entries = book.products?.map((entry) => {
      const { productId, ...prices } = entry;
      const { name, mpn } = byId.get(productId) ?? {};
      if (!productId || !name) return entry;
      return { productId, name, ...(mpn && { mpn }), ...prices };
    });
    return entries ? { ...book, products: entries } : book;
  });
}

const maxPage = 100;

/** The rows with missing names of what they refer to, from what is known and from cached collections. */
export async function nameRows<R extends Resource>(
  tenant: Tenant,
  resource: R,
  records: readonly RecordOf[R][],
  known: Known = nothingKnown,
): Promise<readonly RecordOf[R][]> {
  if (resource === 'pricing_book') return withProductNames(records, tenant.cached('product'));
  // What is made of a reading and kept would be made anew for every page.
  if (records.length <= maxPage && !records.some((record) => lacksName(resource, record)))
    return records;
  const cached = namingResources.map((each) => [each, tenant.cached(each)]);
  const company = tenant.cached('company') ?? companiesOf(records, known);
  const named: KnownRecords = { ...Object.fromEntries(cached), company, [resource]: records };
  return nameReferences(tenant, resource, records, named);
}

/** The companies that the records refer to, as far as their names are known. */
function companiesOf(records: readonly ApiRecord[], { nameOf }: Known) {
  const ids = new Set(records.flatMap((record) => companyOf(record).id ?? []));
  return [...ids].flatMap((id) => {
    const name = nameOf('company', id);
    return name === undefined ? [] : [{ id, name }];
  });
}
