/** A page of a list, filtered and sorted by its columns: by the service as far as it can, and here otherwise. */

import { compare, type Named } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { filterSteps } from '../figures/steps.ts';
import { matchName } from '../names/name-filters.ts';
import type { Collection } from '../reading/collection.ts';
import { describeUnknownItems } from '../reading/quote-items.ts';
import { isApiError } from '../service/errors.ts';
import type { PageQuery } from '../service/page.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';
import { runInSlices } from '../slices.ts';
import type { ToolCall } from '../tenant/call.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { describeUnrecognized } from '../tenant/unrecognized.ts';
import { identifier, join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import type { Known } from './columns.ts';
import {
  type Condition,
  type Criteria,
  inServiceTerms,
  isEqual,
  type Key,
  keyNames,
  keysToShow,
  matchesAlternative,
  passes,
  readCriteria,
  sortedBy,
  type Test,
  valueUnderKey,
} from './criteria.ts';
import { knownFor, nameRows } from './known.ts';
import { type ListPage, sliceOf } from './list-page.ts';
import { compareValues, valuesOf } from './search-terms.ts';

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
  query: PageQuery,
  call: ToolCall,
): Promise<NamedPage<RecordOf[R]>> {
  const criteria = readCriteria(resource, query.filters, query.sort);
  const page =
    (await servicePage(tenant, resource, query, criteria, call)) ??
    (await localPage(tenant, resource, query, criteria, call));
  const records = await nameRows(tenant, resource, page.records);
  const known = await knownFor(tenant, resource, records, call);
  const notes = [...(page.notes ?? []), ...describeUnknownItems(records)];
  return { ...page, records, notes, known, keys: keysToShow(criteria) };
}

/** The service's page. `undefined` if it does not support the criteria, or finds nothing: a name may be misspelt. */
async function servicePage<R extends Resource>(
  tenant: Tenant,
  resource: R,
  { filters: _, sort: __, ...query }: PageQuery,
  criteria: Criteria,
  call: ToolCall,
): Promise<ListPage<RecordOf[R]> | undefined> {
  const isAsked = criteria.conditions.length > 0 || criteria.sort.length > 0;
  const terms = inServiceTerms(criteria);
  if (terms === undefined || (isAsked && routes[resource].shape !== 'paged')) return undefined;
  try {
    const page = await tenant.list(resource, { ...query, ...terms }, call);
    return page.total === 0 && criteria.conditions.length > 0 ? undefined : page;
  } catch (error) {
    if (!isAsked || !isApiError(error, 'refused')) throw error;
    return undefined;
  }
}

/** A page of all records, filtered and sorted by this server. */
async function localPage<R extends Resource>(
  tenant: Tenant,
  resource: R,
  query: PageQuery,
  criteria: Criteria,
  call: ToolCall,
): Promise<ListPage<RecordOf[R]> & { deleted: number }> {
  const read = await readFor(tenant, resource, query, call);
  await Promise.all(neededBy(criteria).map((needed) => tenant.collection(needed, call)));
  const whole = { ...read, records: await nameRows(tenant, resource, read.records) };
  const known = await knownFor(tenant, resource, [], call);
  requireKnownKeys(resource, whole.records, criteria, known);
  const { conditions, notes } = resolveNames(whole.records, criteria.conditions, known);
  const fits = (condition: Condition) => (record: RecordOf[R]) => passes(record, condition, known);
  const isMatch = (record: RecordOf[R]) => conditions.every((each) => fits(each)(record));
  const matching =
    conditions.length === 0
      ? whole.records
      : await runInSlices(filterSteps(whole.records, isMatch));
  const { sort } = criteria;
  const records = sort.length > 0 ? await runInSlices(sortedBy(matching, sort, known)) : matching;
  const total = records.length;
  const coverage = { ...whole.coverage, read: total, total };
  const counts = conditions.map((condition) => ({
    name: condition.key.name,
    count: () => whole.records.filter(fits(condition)).length,
    range: () => rangeUnder(whole.records, condition, known),
  }));
  const why = total === 0 && notes.length === 0 ? emptyReason(counts) : [];
  const allNotes = [...describeUnrecognized(resource, whole.records), ...notes, ...why];
  const page = sliceOf({ records, coverage, asOf: whole.asOf }, query);
  const deleted = records.filter((record) => isDeleted(record as ApiRecord)).length;
  return { ...page, notes: allNotes, deleted };
}

interface FilterCount {
  name: string;
  /** Records that pass it alone. */
  count(): number;
  range(): Wording | undefined;
}

/** How many records pass each filter alone, if none passes all of them, and what values there are for one that none passes. */
function emptyReason(filters: readonly FilterCount[]): Wording[] {
  const counts = filters.map(({ name, count, range }) => ({ name, passing: count(), range }));
  const each = counts.map(({ name, passing }) => wording`${trusted(name)} ${passing}`);
  const alone =
    filters.length < 2
      ? []
      : [wording`No record passes all filters; alone they pass: ${join(each, ', ')}.`];
  return [
    ...alone,
    ...counts.flatMap(({ passing, range }) => (passing === 0 ? (range() ?? []) : [])),
  ];
}

const isOrdered = (value: unknown): boolean =>
  typeof value === 'number' || /^\d{4}-\d{2}-\d{2}/.test(String(value));

/** The least and the greatest value under the key of a comparison; `undefined` for other tests, and without values. */
function rangeUnder<R extends Resource>(
  records: readonly RecordOf[R][],
  { key, tests }: Condition,
  known: Known,
): Wording | undefined {
  if (!tests.some((test) => 'order' in test)) return undefined;
  const values = records.flatMap((record) => valuesOf(valueUnderKey(record, key, known)));
  const [first, ...others] = values.filter(isOrdered);
  if (first === undefined) return undefined;
  const extreme = (sign: 1 | -1): Wording => {
    const found = others.reduce(
      (one, other) => (compareValues(other, one, sign) < 0 ? other : one),
      first,
    );
    return identifier(String(found));
  };
  return wording`Values of ${identifier(key.name)} go from ${extreme(1)} to ${extreme(-1)}.`;
}

const neededBy = ({ conditions, sort }: Criteria) => [
  ...new Set([...conditions, ...sort].flatMap(({ key }) => key.column?.needs ?? [])),
];

/** All records to filter; without bundles unless they are requested. */
async function readFor<R extends Resource>(
  tenant: Tenant,
  resource: R,
  { query, includeBundles }: PageQuery,
  call: ToolCall,
): Promise<Collection<RecordOf[R]>> {
  if (query) return tenant.searchAll(resource, { query, includeBundles }, call);
  const whole = await tenant.collection(resource, call);
  if (resource !== 'product' || includeBundles) return whole;
  const records = whole.records.filter((record) => !isBundle(record as ApiRecord));
  return { ...whole, records };
}

const isBundle = ({ productType }: ApiRecord): boolean => productType === 'bundle';

/** @throws InvalidArguments for a key that is no column, and that no record has */
function requireKnownKeys<R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  { conditions, sort }: Criteria,
  known: Known,
): void {
  const keys = [...conditions, ...sort].map(({ key }) => key);
  const unknown = keys.find(
    (key) => !key.column && records.every((record) => isMissing(record, key, known)),
  );
  if (unknown === undefined || records.length === 0) return;
  throw new InvalidArguments(
    wording`No column is called ${quote(unknown.name)}. Known: ${keyNames(resource)}; or a field of the record, with dots.`,
  );
}

const isMissing = <R extends Resource>(record: RecordOf[R], key: Key, known: Known): boolean =>
  valuesOf(valueUnderKey(record, key, known)).length === 0;

interface ResolvedConditions {
  conditions: readonly Condition[];
  notes: readonly Wording[];
}

/** Replaces a text that no record has by the one name that it can mean; otherwise notes the nearest names. */
function resolveNames<R extends Resource>(
  records: readonly RecordOf[R][],
  conditions: readonly Condition[],
  known: Known,
): ResolvedConditions {
  const notes: Wording[] = [];
  const resolved = conditions.map((condition) => {
    const { key, tests } = condition;
    const occurring = () =>
      new Set(records.flatMap((record) => valuesOf(valueUnderKey(record, key, known))));
    const resolve = (test: Test) =>
      records.some((record) => matchesAlternative(record, key, test))
        ? test
        : resolveTest(key, test, occurring, notes);
    return { key, tests: tests.map(resolve) };
  });
  return { conditions: resolved, notes };
}

function resolveTest(
  { name }: Key,
  test: Test,
  occurring: () => ReadonlySet<unknown>,
  notes: Wording[],
): Test {
  if (!('is' in test)) return test;
  const values = [...occurring()];
  if (values.some((value) => isEqual(value, test.is))) return test;
  const names = values
    .filter((value) => typeof value === 'string')
    .map((value) => ({ name: value }));
  const found = matchName(test.is, names, { byWords: true });
  const key = trusted(name);
  if (found.kind === 'one' && found.match.name !== undefined) {
    notes.push(wording`${key} was read as ${quote(found.match.name)}.`);
    return { is: found.match.name };
  }
  const candidates = found.kind === 'one' ? [] : found.candidates;
  notes.push(...describeOccurring(key, test.is, candidates, values));
  return test;
}

/** Values named where none is similar to the text. */
const maxExamples = 8;

/** All values that occur, where they are few; else those like the text, or some of them. */
function describeOccurring(
  key: Wording,
  text: string,
  candidates: readonly Named[],
  values: readonly unknown[],
): Wording[] {
  const distinct = new Set(values.filter((value) => typeof value === 'string'));
  const similar = candidates.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const shown = similar.length > 0 ? similar : [...distinct].sort(compare).slice(0, maxExamples);
  if (shown.length === 0) return [];
  const names = join(
    shown.map((name) => quote(name)),
    ', ',
  );
  const missing = wording`No record has the ${key} ${quote(text)}.`;
  if (shown.length >= distinct.size) return [wording`${missing} There are: ${names}.`];
  return similar.length > 0
    ? [wording`${missing} The most similar of ${distinct.size}: ${names}.`]
    : [wording`${missing} There are ${distinct.size}, such as ${names}.`];
}
