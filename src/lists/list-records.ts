/** A page of a list, filtered and sorted by its columns: by the service as far as it can, and here otherwise. */

import { deletion, listsRestOn } from '../briefs/rests-on.ts';
import { compact } from '../figures/fields.ts';
import { compare } from '../figures/lists.ts';
import { type Named, plural } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { filterSteps, flatMapSteps, type Steps, sortSteps } from '../figures/steps.ts';
import { excludesNothing, isNegated, matchSteps } from '../names/name-filters.ts';
import { companyOf } from '../names/references.ts';
import type { Collection } from '../reading/coverage.ts';
import { type IgnoredParameters, type ListPage, sliceOf } from '../reading/list-page.ts';
import { pageSize } from '../reading/service-pages.ts';
import { isApiError, unlessKeyRefused } from '../service/errors.ts';
import { type FieldGap, minRows } from '../service/records/account.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { type PageQuery, routes, type Search } from '../service/routes.ts';
import { runInSlices } from '../slices.ts';
import {
  danglingReferences,
  fieldGaps,
  gapsAbout,
  gapsOfRows,
  withoutChance,
} from '../tenant/field-gaps.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { identifier, join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import type { Known } from './columns.ts';
import { type RecordShape, showsCurrency } from './concise.ts';
import {
  type Condition,
  type Criteria,
  compareValues,
  inServiceTerms,
  isDate,
  isEqual,
  isFieldOf,
  isNumber,
  judgeOf,
  type Key,
  keyNames,
  keyOf,
  keysToShow,
  matchesAlternative,
  mentions,
  passes,
  readCriteria,
  requireValues,
  sortedBy,
  type Test,
  valuesOf,
  valueUnderKey,
} from './criteria.ts';
import { knownFor, nameRows, nameShownProducts, readForColumns, readGranted } from './known.ts';
import { describeAssigned, describeNamesakes, subcategoriesLeftOut } from './left-out.ts';

/** A page, and what is known to name what its rows refer to. */
export interface NamedPage<R> extends ListPage<R> {
  known: Known;
  /** Filtered or sorted by: shown with every row. */
  keys: readonly string[];
  /** Deleted records of the whole list; absent if the service made the page. */
  deleted?: number;
}

/** What is asked of a collection: filters and sort as `criteria`, the rest as `query`. */
interface ListQuestion<R extends Resource = Resource> {
  tenant: Tenant;
  resource: R;
  query: PageQuery;
  criteria: Criteria;
  /** Columns and fields that are shown, if not those of the concise form. */
  fields: readonly string[] | undefined;
  call: ToolCall;
}

/** A page, and the form in which its rows are shown. */
export type ListArguments = PageQuery & Partial<RecordShape>;

/**
 * The page with all that its rows show.
 * @throws InvalidArguments for a filter or an order that nothing can be made of; NotGranted, ApiError
 */
export async function listRecords<R extends Resource>(
  tenant: Tenant,
  resource: R,
  { detail = 'concise', fields, filters, sort, ...query }: ListArguments,
  call: ToolCall,
): Promise<NamedPage<RecordOf[R]>> {
  const criteria = readCriteria(resource, filters, sort);
  const question = { tenant, resource, query, criteria, fields, call };
  if (fields) await readForColumns(tenant, resource, fields, call);
  const found = await servicePage(question);
  const page: Awaited<ReturnType<typeof localPage<R>>> =
    'plan' in found ? await localPage(question, found.plan) : found;
  requireValues(page.examined ?? page.records, criteria);
  const known = await knownFor(tenant, resource, page.records, call, fields);
  const named = await nameRows(tenant, resource, page.records, known);
  const records = await nameShownProducts(tenant, resource, named, { detail, fields }, call);
  const gaps = await gapsOfList(question, page);
  const coverage = gaps.length === 0 ? page.coverage : { ...page.coverage, fields: gaps };
  const namesakes = await describeNamesakes(tenant, records, page.total, criteria, call);
  const first = page.from === 0 && describeFirst(records, criteria, known);
  const asIds = page.total === 0 ? describeIds(criteria) : [];
  const notes = [...(page.notes ?? []), namesakes, first, ...asIds];
  const { from, total, next, deleted } = page;
  const keys = keysToShow(criteria);
  return compact({ from, total, next, deleted, coverage, records, known, keys, notes });
}

/** The service's page; or what is left to do here, if it does not support the criteria, or finds nothing. */
async function servicePage<R extends Resource>(
  question: ListQuestion<R>,
): Promise<ListPage<RecordOf[R]> | { plan: LocalPlan }> {
  const { tenant, resource, query, criteria, call } = question;
  const terms = inServiceTerms(criteria);
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
    if (unproven.length > 0)
      throw new InvalidArguments(
        wording`The service finds nothing, but it is not certain that it filters by ${join(unproven.map(identifier), ', ')}, and reading all records takes too many of its requests. Ask with query or another filter, or look it up with cpq_find.`,
      );
    const notes = await valuesNotFound(question, page.records);
    if (notes === 'few records') return { plan };
    return notes.length > 0 ? { ...page, notes } : page;
  } catch (error) {
    if (!isAsked || !isApiError(error, 'refused')) throw error;
    return { plan };
  }
}

/** Said where a value was read as an id, and nothing has that id: names such as 1-Qualification look like ids. */
const describeIds = ({ conditions }: Criteria): Wording[] =>
  conditions.flatMap(({ key, ids, tests: [test] }) => {
    if (key !== ids || !test || !('is' in test)) return [];
    const name = trusted(key.name.replace(/\.?id$/i, ''));
    return [
      wording`The value of ${name} was read as an id: ${name}:~${identifier(test.is)} finds names that contain it.`,
    ];
  });

/** Said where the first record has nothing of what is sorted by: some services put such records before all others. */
function describeFirst(
  [first]: readonly ApiRecord[],
  { sort: [by] }: Criteria,
  known: Known,
): Wording | false {
  if (!first || !by || valuesOf(valueUnderKey(first, by.key, known)).length > 0) return false;
  const name = identifier(by.key.name);
  return wording`The first records show no ${name}: filters ${name}:(any) leaves them out.`;
}

/**
 * Notes on values of a filter that no record has, where the filter has several: the service finds the others. `few records`
 * if all records can be read instead, to find what is meant.
 */
async function valuesNotFound(
  { tenant, resource, criteria, call }: ListQuestion,
  shown: readonly ApiRecord[],
): Promise<Wording[] | 'few records'> {
  const several = criteria.conditions.filter(
    ({ tests }) => tests.length > 1 && tests.length <= maxResolved,
  );
  const values = several.flatMap(({ key, tests }) =>
    tests.flatMap((test) => ('is' in test ? { key, test } : [])),
  );
  const notes: Wording[] = [];
  for (const { key, test } of values) {
    const alone = { conditions: [{ key, tests: [test] }], sort: [] };
    const judge = judgeOf(alone);
    if (shown.some((row) => judge.filters([row]))) continue;
    const query = { ...inServiceTerms(alone), size: 1 };
    const found = await tenant.list(resource, query, call, judge).catch(unlessKeyRefused);
    if (found?.total !== 0 || found.ignored) continue;
    if (found.unproven === 'few records') return found.unproven;
    notes.push(
      wording`The service finds no record with the ${trusted(key.name)} ${quote(test.is)}: it may be spelt otherwise.`,
    );
  }
  return notes;
}

/** What makes the rows wrong, their currencies, or the order and the choice of the records. */
async function gapsOfList(question: ListQuestion, page: LocalPage<ApiRecord>): Promise<FieldGap[]> {
  const { tenant, resource, query, criteria, fields: columns, call } = question;
  const { records, examined, total } = page;
  // The service chose these records by a text or by filters: others of the collection may differ.
  const isSearched = Boolean(query.query) || (criteria.conditions.length > 0 && !examined);
  const shown = columns?.map((name) => keyOf(resource, name)) ?? [];
  const restOn = [...deletion, ...fieldsOfKeys(resource, shown).flat()];
  const paths = shown.length > 0 ? restOn : listsRestOn[resource];
  const found = await gapsOfRows(tenant, resource, page, paths);
  if (examined) found.push(...(await gapsOfCriteria(question, examined)));
  const isWhole = !isSearched && (examined !== undefined || total <= records.length);
  const gaps = isWhole ? found : await withoutChance(tenant, resource, found, call);
  if (examined) gaps.push(...(await gapsOfReferences(question, records.length, examined)));
  const companies = showsCurrency(resource, columns) && tenant.cached('company');
  if (companies)
    gaps.push(...(await fieldGaps(tenant, 'company', { records: companies }, ['currency'])));
  // A field may be shown, filtered and sorted by.
  return [...new Map(gaps.map((gap) => [`${gap.record} ${gap.field}`, gap])).values()];
}

async function gapsOfCriteria(
  { tenant, resource, criteria }: ListQuestion,
  records: readonly ApiRecord[],
): Promise<FieldGap[]> {
  const keys = [...criteria.conditions, ...criteria.sort].map(({ key }) => key);
  const [named, others] = fieldsOfKeys(resource, keys);
  const ofNamed = await fieldGaps(tenant, resource, { records }, named);
  const ofOthers = await fieldGaps(tenant, resource, { records }, others);
  return [...ofNamed, ...gapsAbout({ [resource]: [] }, ofOthers)];
}

/**
 * The references that lead nowhere. Where a filter by company finds nothing, a page of companies shows whether their ids in
 * other records have their form.
 */
async function gapsOfReferences(
  { tenant, resource, criteria, call }: ListQuestion,
  found: number,
  records: readonly ApiRecord[],
): Promise<FieldGap[]> {
  const whole = tenant.cached('company');
  const isLookedFor = found === 0 && criteria.conditions.some(({ key }) => isOfCompany(key));
  const isPart = isLookedFor && !whole;
  const page =
    isPart && tenant.grants.has('company:read')
      ? await tenant.list('company', { size: pageSize }, call).catch(unlessKeyRefused)
      : undefined;
  const known = { company: whole ?? page?.records, [resource]: records };
  return danglingReferences(tenant, known, (to) =>
    to === 'company' && isPart ? Infinity : minRows,
  );
}

const isOfCompany = ({ name }: Key): boolean => name.startsWith('company');

/** The fields of columns with a path; and if a column has none, all that rows show, since it is made of some of them. */
function fieldsOfKeys(
  resource: Resource,
  keys: readonly Key[],
): [named: readonly string[], others: readonly string[]] {
  const paths = keys.map(({ column }) => column.sort ?? column.filter);
  const fields = paths.flatMap((path) => path?.split('.')[0] ?? []);
  const named = fields.filter((field) => isFieldOf(resource, field));
  return [named, paths.includes(undefined) ? (listsRestOn[resource] ?? []) : []];
}

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
  };
}

/** What the service is asked for, and what is done here with the records that it finds. */
interface LocalPlan extends Criteria {
  search: Search;
  /** Words that every record must contain. */
  text?: string | undefined;
}

interface LocalPage<R> extends ListPage<R> {
  deleted?: number;
  /** All records of which the page shows some. */
  examined?: readonly R[];
}

/** A page of all records, filtered and sorted here. */
async function localPage<R extends Resource>(
  question: ListQuestion<R>,
  plan: LocalPlan,
): Promise<LocalPage<RecordOf[R]>> {
  const { tenant, resource, query, call } = question;
  const { sort, search } = plan;
  const keys = [...plan.conditions, ...sort].map(({ key }) => key);
  const { coverage, asOf, records: read } = await readFor(question, search);
  const text =
    plan.text ?? (search.query ? await ignoredText(question, search.query, read) : undefined);
  await readForKeys(tenant, keys, read, call);
  const all = await nameRows(tenant, resource, read);
  const known = await knownFor(tenant, resource, [], call);
  requireKnownKeys(resource, all, keys, known);
  const notes: (Wording | false)[] = [];
  const conditions: Condition[] = [];
  // Where the text in query finds nothing, no value of a filter can be told to be missing.
  for (const condition of all.length > 0 ? plan.conditions : []) {
    const isUnnamed = condition.key.name === 'for' && !tenant.cached('company');
    conditions.push(
      isUnnamed ? condition : await runInSlices(resolveNames(all, condition, known, notes)),
    );
    notes.push(...describeAssigned(condition, isUnnamed));
  }
  for (const one of resource === 'product' ? conditions : []) {
    const others = conditions.filter((each) => each !== one);
    const passesOthers = isMatch(others, text, known);
    const isOther = (it: ApiRecord) => !passes(it, one, known) && passesOthers(it);
    notes.push(await subcategoriesLeftOut(tenant, one, all, isOther, call));
  }
  const matching = await runInSlices(filterSteps(all, isMatch(conditions, text, known)));
  const records = await runInSlices(sortedBy(matching, sort, known));
  const total = records.length;
  if (total === 0 && all.length > 0)
    notes.push(...(await runInSlices(emptyReason(all, conditions, known))));
  notes.push(...(await runInSlices(withoutValues(all, { conditions, text }, known))));
  const page = sliceOf({ records, coverage: { ...coverage, read: total, total }, asOf }, query);
  return { ...page, notes, deleted: records.filter(isDeleted).length, examined: all };
}

/** The text, if it has to be looked for here: some records that were found lack it, because the service ignores it. */
async function ignoredText(
  { tenant, resource, call }: ListQuestion,
  text: string,
  found: readonly ApiRecord[],
): Promise<string | undefined> {
  const having = await runInSlices(filterSteps(found, (record) => mentions(record, text)));
  if (having.length === found.length) return undefined;
  // Whatever the first page contains, it is compared with that without the text.
  const judge = { filters: () => true, query: () => false, sort: () => true };
  const { ignored } = await tenant.list(resource, { query: text, size: pageSize }, call, judge);
  return ignored && text;
}

/** Whether a record passes all conditions, and contains the words. */
const isMatch =
  (conditions: readonly Condition[], text: string | undefined, known: Known) =>
  (record: ApiRecord): boolean =>
    conditions.every((each) => passes(record, each, known)) &&
    (text === undefined || mentions(record, text));

/** All records to filter; without bundles unless they are requested. */
async function readFor<R extends Resource>(
  { tenant, resource, call }: ListQuestion<R>,
  search: Search,
): Promise<Collection<RecordOf[R]>> {
  const { query, filters, sort, includeBundles } = search;
  if (query || filters || sort) return tenant.collection(resource, call, search);
  const whole = await tenant.collection(resource, call);
  if (resource !== 'product' || includeBundles) return whole;
  const isListed = ({ productType }: ApiRecord) => productType !== 'bundle';
  return { ...whole, records: whole.records.filter(isListed) };
}

/** What the keys need besides; the companies where some rows have their ids or their names only. */
async function readForKeys(
  tenant: Tenant,
  keys: readonly Key[],
  records: readonly ApiRecord[],
  call: ToolCall,
): Promise<void> {
  const needs = new Set(keys.flatMap(({ column }) => column.needs ?? []));
  await Promise.all([...needs].map((each) => tenant.collection(each, call)));
  const lacks = (part: 'id' | 'name') => (record: ApiRecord) => {
    const company = companyOf(record);
    return company[part] === undefined && (company.id ?? company.name) !== undefined;
  };
  const isIncomplete = (key: Key) =>
    isOfCompany(key) && records.some(lacks(/id$/i.test(key.name) ? 'id' : 'name'));
  if (keys.some(isIncomplete)) await readGranted(tenant, 'company', call);
  if (keys.some(({ name }) => name === 'for'))
    await readGranted(tenant, 'company', call, unlessKeyRefused);
}

/** @throws InvalidArguments for a key that is no column, and that no record has */
function requireKnownKeys(
  resource: Resource,
  records: readonly ApiRecord[],
  keys: readonly Key[],
  known: Known,
): void {
  const isMissing = (key: Key) =>
    records.every((record) => valuesOf(valueUnderKey(record, key, known)).length === 0);
  const isUnknown = ({ name, column }: Key) => column.isField && !isFieldOf(resource, name);
  const unknown = keys.find((key) => isUnknown(key) && isMissing(key));
  if (unknown === undefined || records.length === 0) return;
  throw new InvalidArguments(
    wording`No column is called ${quote(unknown.name)}. Known: ${keyNames(resource)}; or a field of the record, with dots.`,
  );
}

/** How many records pass each filter alone, if none passes all of them, and the range of values for one that none passes. */
function* emptyReason(
  records: readonly ApiRecord[],
  conditions: readonly Condition[],
  known: Known,
): Steps<Wording[]> {
  const alone: Wording[] = [];
  const ranges: Wording[] = [];
  for (const condition of conditions) {
    const { key, tests } = condition;
    const { length } = yield* filterSteps(records, (record) => passes(record, condition, known));
    alone.push(wording`${trusted(key.name)} ${length}`);
    const isRange = tests.some((test) => 'order' in test);
    if (length > 0 || !(isRange || tests.some((test) => 'is' in test))) continue;
    const all = yield* flatMapSteps(records, (record) =>
      valuesOf(valueUnderKey(record, key, known)),
    );
    const values = yield* filterSteps(all, isOrdered);
    // Names have no range, even if one begins with a date.
    if (!isRange && values.length < all.length) continue;
    const sorted = yield* sortSteps(values, (a, b) => compareValues(a, b, 1));
    const [first = '', last = ''] = [sorted[0], sorted.at(-1)].map(String);
    const name = identifier(key.name);
    if (values.length > 0)
      ranges.push(wording`Values of ${name} go from ${identifier(first)} to ${identifier(last)}.`);
    else if (isRange) ranges.push(wording`A range compares numbers and dates: no ${name} is one.`);
  }
  return conditions.length < 2
    ? ranges
    : [wording`No record passes all filters; alone they pass: ${join(alone, ', ')}.`, ...ranges];
}

/** How many records each range leaves out only because they have no value. */
function* withoutValues(
  records: readonly ApiRecord[],
  { conditions, text }: Pick<LocalPlan, 'conditions' | 'text'>,
  known: Known,
): Steps<Wording[]> {
  const notes: Wording[] = [];
  for (const { key, tests } of conditions) {
    const isRange = tests.some((test) => 'order' in test);
    if (!isRange || key.column.isMark || tests.some((test) => 'empty' in test)) continue;
    const none: Condition = { key, tests: [{ empty: true }] };
    const left = conditions.map((each) => (each.key.name === key.name ? none : each));
    const { length } = yield* filterSteps(records, isMatch(left, text, known));
    const name = trusted(key.name);
    if (length > 0)
      notes.push(
        wording`${plural(length, 'record')} without ${name} ${length === 1 ? 'is' : 'are'} not in the range: ${name}:none shows them.`,
      );
  }
  // A range of two ends has two conditions.
  return [...new Set(notes)];
}

const isOrdered = (value: unknown): boolean =>
  typeof value === 'number' || /^\d{4}-\d{2}-\d{2}/.test(String(value));

/** Values of one filter for which similar names are looked for. */
const maxResolved = 8;

/** Replaces a text that no record has by the one name that it can mean; otherwise notes the nearest names. */
function* resolveNames(
  records: readonly ApiRecord[],
  { key, ids, tests }: Condition,
  known: Known,
  notes: (Wording | false)[],
): Steps<Condition> {
  const values = new Set(
    yield* flatMapSteps(records, (record) => valuesOf(valueUnderKey(record, key, known))),
  );
  const isFound = (test: { is: string }) =>
    values.has(test.is) ||
    [...values].some((value) => isEqual(value, test.is)) ||
    (key.column.alternatives && records.some((record) => matchesAlternative(record, key, test)));
  const resolved: Test[] = [];
  for (const test of tests) {
    const isKept = resolved.length >= maxResolved || !('is' in test) || isFound(test);
    resolved.push(isKept ? test : yield* resolveName(key, test, [...values], notes));
  }
  return { key, ids, tests: resolved };
}

function* resolveName(
  { name }: Key,
  test: { is: string },
  values: readonly unknown[],
  notes: (Wording | false)[],
): Steps<Test> {
  const key = trusted(name);
  const texts = values.filter((value) => typeof value === 'string');
  const form = formOf(key, values);
  if (form) {
    if (!form.isGiven(test.is)) notes.push(form.hint);
    return test;
  }
  const names = texts.map((value) => ({ name: value }));
  const found = yield* matchSteps(test.is, names, { byWords: true });
  if (found.kind === 'one' && found.match.name !== undefined) {
    notes.push(wording`${key} was read as ${quote(found.match.name)}.`);
    return { is: found.match.name };
  }
  const candidates = found.kind === 'one' ? [] : found.candidates;
  notes.push(describeOccurring(key, test.is, candidates, texts));
  notes.push(isNegated(test.is) && excludesNothing);
  return test;
}

const dateOrTime = /^\d{4}-\d{2}-\d{2}(?:[T ]|$)/;

/** How values that are no names are given, and whether a text is; `undefined` of names. */
function formOf(
  key: Wording,
  values: readonly unknown[],
): { hint: Wording; isGiven(text: string): boolean } | undefined {
  const are = (isOne: (value: unknown) => boolean) => values.length > 0 && values.every(isOne);
  if (are((value) => typeof value === 'boolean'))
    return {
      hint: wording`${key} takes true or false.`,
      isGiven: (text) => /^(?:true|false)$/i.test(text),
    };
  if (are((value) => typeof value === 'number')) {
    const example = identifier(String(values[0]));
    return {
      hint: wording`${key} takes a number or a range, such as ${key}:${example} or ${key}:>=${example}.`,
      isGiven: isNumber,
    };
  }
  if (are((value) => typeof value === 'string' && dateOrTime.test(value)))
    return {
      hint: wording`${key} takes a date, a month, a year or a range, such as ${key}:2026-11 or ${key}:>=2026-11-01,${key}:<2027.`,
      isGiven: isDate,
    };
  return undefined;
}

/** Values named where none is similar to the text. */
const maxExamples = 8;

/** All values that occur, where they are few; else those like the text, or some of them. */
function describeOccurring(
  key: Wording,
  text: string,
  candidates: readonly Named[],
  values: readonly string[],
): Wording {
  const part = text.toLowerCase();
  const parts = part === '' ? [] : values.filter((value) => value.toLowerCase().includes(part));
  const alike = candidates.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const similar = alike.length > 0 ? alike : parts.slice(0, maxExamples);
  const shown = similar.length > 0 ? similar : values.toSorted(compare).slice(0, maxExamples);
  if (shown.length === 0) return wording`No record has a value for ${key}.`;
  const quoted = shown.map((name) => quote(name));
  const names = join(quoted, ', ');
  const missing =
    key === 'for'
      ? wording`No record is for ${quote(text)}.`
      : wording`No record has the ${key} ${quote(text)}.`;
  if (shown.length >= values.length) return wording`${missing} There are: ${names}.`;
  if (parts.length > maxExamples)
    return wording`${missing} ${parts.length} values contain it: ${key}:~TEXT finds all of them.`;
  return similar.length > 0
    ? wording`${missing} The most similar of ${values.length}: ${names}.`
    : wording`${missing} There are ${values.length}, such as ${names}.`;
}
