/** The part of a large collection that a question is about, by the service's own filter or search. */

import type { Slots } from '../containers.ts';
import { groupBy } from '../figures/lists.ts';
import { normaliseName } from '../figures/naming.ts';
import { probabilityScale } from '../figures/probability.ts';
import { runSteps } from '../figures/steps.ts';
import { companyOf } from '../names/references.ts';
import { displayName, isSearchKind } from '../names/search.ts';
import type { Call, CallContext } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { ignoreApiError } from '../service/errors.ts';
import { accountOf, missingIn } from '../service/records/account.ts';
import type { ApiRecord, Company, Resource } from '../service/records/records.ts';
import { type Page, resources, routes, type Search } from '../service/routes.ts';
import { isSearchable, readByIds } from './by-ids.ts';
import type { Collections } from './collections.ts';
import { type Collection, completeCoverage } from './coverage.ts';
import { isSamePage, recordKeys } from './pass.ts';
import { markUnknownItems, pageSize, type ServicePages } from './service-pages.ts';

/** A collection of up to so many pages is read whole: that answers later questions too. */
const wholePages = 10;
const maxSingleReads = 5;

/** The fields of the id of a company, by which a service may filter; tried in this order. */
const idFields = ['company.id', 'companyId'];
/** Of routes that search but do not filter: takes one name, and finds rows of other companies too. */
const byName = 'query';

const companiesBy = (field: string, values: readonly string[]): Search =>
  field === byName ? { query: values[0] } : { filters: `${field}:${values.join('|')}` };

/** Names what is learnt: whether the service finds the records of a company by this field. */
const partBy = (field: string): string => `part ${field}`;

/** The part of a collection that a question is about. */
export type PartOf =
  /** These records, which were read already. */
  | { readonly only: readonly ApiRecord[] }
  /** Those of a company. */
  | { readonly of: Company }
  /** Those that a text may mean. */
  | { readonly about: string }
  /** Those that have exactly this text, of which one is meant; without any, those that it may mean. */
  | { readonly called: string }
  /** Without ids none of a large collection. */
  | { readonly ids: readonly string[] };

/** The learnt property that a search by text finds records by what they are called. */
const byText = 'search';

export interface PartSources {
  readonly client: Pick<ApiClient, 'getRecord'>;
  readonly pages: ServicePages;
  readonly collections: Pick<Collections, 'read'>;
  /** The search by text is tried by one route after the other: what one shows the others need not try. */
  readonly trials: Slots;
}

/** For a part of this collection. */
interface Question extends PartSources {
  readonly resource: Resource;
  readonly call: CallContext;
  /** The first page of the collection, read once. */
  readonly sample: () => Promise<Page<ApiRecord>>;
}

/** `undefined` if the whole collection has to be read. */
type Found = Collection<ApiRecord> | undefined;

/**
 * Reads a part of a collection; `undefined` if the whole has to be read, because it is small, or because the service does not
 * find the part for sure. A search is trusted to find everything once the service returned, for values that its first page
 * has, at least the records of that page, and no others.
 * @throws ApiError
 */
export async function readPart(
  sources: PartSources,
  resource: Resource,
  part: PartOf,
  call: CallContext,
): Promise<Found> {
  if ('only' in part) return { ...completeOf(part.only), isPart: true };
  // The routes without parameters are those of small collections.
  if (routes[resource].parameters.length === 0) return undefined;
  let first: Promise<Page<ApiRecord>> | undefined;
  const sample = () => {
    first ??= takeSample(sources.pages, resource, call);
    return first;
  };
  const found = await findPart({ ...sources, resource, call, sample }, part);
  const { probability } = sources.pages.traits(resource);
  return found && { ...found, isPart: true, ...(probability && { probability }) };
}

/** Reads the first page of a collection, which shows how many there are and which fields records have. @throws ApiError */
export async function takeSample(
  pages: ServicePages,
  resource: Resource,
  call: Call,
): Promise<Page<ApiRecord>> {
  const page = await pages.page(resource, { size: pageSize, includeBundles: true }, call);
  const { total, countIsLimit, records } = page;
  const isCounted = total !== undefined && !countIsLimit;
  const count = isCounted ? Math.ceil(total / Math.max(1, records.length)) : 'uncounted';
  const probability = resource === 'opportunity' && { probability: probabilityScale(records) };
  const missing = missingIn(runSteps(accountOf(resource, records)));
  pages.learn(resource, { pages: count, missing, ...probability });
  return page;
}

async function isSmall({ pages, resource, sample }: Question): Promise<boolean> {
  if (pages.traits(resource).pages === undefined) await sample();
  return Number(pages.traits(resource).pages) <= wholePages;
}

async function findPart(asked: Question, part: Exclude<PartOf, { only: unknown }>): Promise<Found> {
  if ('called' in part) return aboutText(asked, part.called);
  const isOne = 'ids' in part && part.ids.length === 1;
  if (!isOne && (await isSmall(asked))) return undefined;
  if ('about' in part) return part.about === '' ? firstPage(asked) : aboutText(asked, part.about);
  if ('of' in part) return ofCompany(asked, part.of);
  if (part.ids.length === 0) return completeOf(none);
  return withIds(asked, part.ids);
}

async function ofCompany(asked: Question, { id, name }: Company): Promise<Found> {
  const { pages, resource, call } = asked;
  const filters = routes[resource].parameters.includes('filters');
  for (const field of filters ? idFields : [byName]) {
    const value = filters ? id : name;
    if (!isSearchable(value) || !(await finds(asked, field, value))) continue;
    const found = await asked.collections.read(resource, call, companiesBy(field, [value]));
    if (!filters || found.records.every((it) => companyOf(it).id === value)) return found;
    pages.learnHonoured(resource, partBy(field), false);
  }
  return undefined;
}

/**
 * Whether the service finds all records of the first page that have some values and, by ids, no others. Values in another
 * letter case than the asked one do not show that it finds that.
 */
async function finds(
  { pages, resource, call, sample }: Question,
  field: string,
  asked: string,
): Promise<boolean> {
  const known = pages.traits(resource).honoured[partBy(field)];
  if (known !== undefined) return known;
  const { records, total } = await sample();
  const isLoose = field === byName;
  const key = isLoose ? 'name' : 'id';
  const companies = records.map(companyOf);
  // A record that names its company only in the other way would be missed.
  if (companies.some((it) => it[key] === undefined && (it.id ?? it.name) !== undefined))
    return false;
  const values = rarestValues(companies.map((it) => it[key])).slice(0, isLoose ? 1 : 2);
  if (values.length === 0) return false;
  if (!isLoose && values.every((each) => isInOtherCase(each, asked))) return false;
  const query = { ...companiesBy(field, values), size: pageSize };
  const found = await pages.page(resource, query, call).catch(ignoreApiError('refused'));
  const isWanted = (record: ApiRecord) => values.includes(companyOf(record)[key] ?? '');
  const isSelected = isLoose ? found?.total !== total : found?.records.every(isWanted);
  const keys = new Set(recordKeys(found?.records ?? []));
  const isTrusted =
    isSelected === true && recordKeys(records.filter(isWanted)).every((key) => keys.has(key));
  pages.learnHonoured(resource, partBy(field), isTrusted);
  return isTrusted;
}

async function withIds(
  { pages, client, resource, call }: Question,
  ids: readonly string[],
): Promise<Found> {
  const wanted = [...new Set(ids)];
  const read = await readByIds(pages, client, resource, wanted, maxSingleReads, call);
  if (!read.isWhole) return undefined;
  const found = wanted.map((id) => read.found.get(id));
  return completeOf(found.filter((record) => record !== undefined));
}

/** The first page, where no text is asked for. Nothing is learnt of the service's search from it. */
async function firstPage({ sample }: Question): Promise<Found> {
  const { records, total } = await sample();
  const read = records.length;
  if (total !== undefined && total <= read) return completeOf(records);
  const coverage = { complete: false, read, total: total ?? read, reason: 'one page' };
  return { records, coverage, asOf: new Date() };
}

/**
 * What the service's search finds for a text, unless it ignores the text. The size of the collection matters only where
 * no record has exactly the text.
 */
async function aboutText(asked: Question, text: string): Promise<Found> {
  const { pages, resource, call } = asked;
  if (pages.traits(resource).honoured.query === false) return undefined;
  const search = { query: text, includeBundles: resource === 'product' || undefined };
  const asOf = new Date();
  const page = await pages
    .page(resource, { ...search, size: pageSize }, call)
    .catch(ignoreApiError('refused'));
  if (!page) return undefined;
  const records = markUnknownItems(resource, page.records, pages);
  const { total = records.length } = page;
  const isFound = total <= records.length && records.some((record) => hasText(record, text));
  if (isFound) pages.learnHonoured(resource, byText, true);
  else if (await isSmall(asked)) return undefined;
  else if (await ignoresText(asked, page)) return undefined;
  else if (records.length === 0 && !(await asked.trials.run(() => findsByText(asked))))
    return undefined;
  if (total <= records.length) return { ...completeOf(records), asOf };
  if (total <= pageSize * wholePages) return asked.collections.read(resource, call, search);
  const reason = `the service's search finds ${total}`;
  return { records, coverage: { complete: false, read: records.length, total, reason }, asOf };
}

async function ignoresText(
  { pages, resource, sample }: Question,
  page: Page<ApiRecord>,
): Promise<boolean> {
  if (pages.traits(resource).honoured.query !== undefined) return false;
  const isSame = isSamePage(page, await sample());
  pages.learnHonoured(resource, 'query', !isSame);
  return isSame;
}

/** Whether the service's search finds what a record is called: shown by any route, as all have the same search. */
async function findsByText({ pages, resource, call, sample }: Question): Promise<boolean> {
  const isKnown = resources.some((each) => pages.traits(each).honoured[byText] === true);
  const isRefuted = pages.traits(resource).honoured[byText] === false;
  if (isKnown || isRefuted || !isSearchKind(resource)) return isKnown && !isRefuted;
  const { records } = await sample();
  const known = records.find((record) => isSearchable(displayName[resource](record)));
  const query = known && displayName[resource](known);
  if (query === undefined) return false;
  const search = { query, size: pageSize, includeBundles: true };
  const found = await pages.page(resource, search, call);
  const isFound = recordKeys(found.records).includes(recordKeys([known])[0]);
  pages.learnHonoured(resource, byText, isFound);
  return isFound;
}

/** The same one each time, as results are kept by the records that they are computed from. */
const none: readonly never[] = [];

const completeOf = <R>(records: readonly R[]): Collection<R> => ({
  records,
  coverage: completeCoverage(records.length),
  asOf: new Date(),
});

const hasText = (record: ApiRecord, text: string): boolean =>
  Object.values(record).some(
    (value) => typeof value === 'string' && normaliseName(value) === normaliseName(text),
  );

/** Whether one text has small letters only, and the other one capital letters only. */
const isInOtherCase = (one: string, other: string): boolean =>
  [one, other].every((text) => [text.toLowerCase(), text.toUpperCase()].includes(text)) &&
  (one === one.toLowerCase()) !== (other === other.toLowerCase());

/** The two values that occur least: all their records are likely to be on one page. Empty if there are not two. */
function rarestValues(all: readonly (string | undefined)[]): string[] {
  const byValue = groupBy(all.filter(isSearchable), (value) => value);
  const rarest = [...byValue].sort(([, a], [, b]) => a.length - b.length).slice(0, 2);
  return rarest.length < 2 ? [] : rarest.map(([value]) => value);
}
