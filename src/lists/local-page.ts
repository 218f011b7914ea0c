/** Filters and sorts all records of a list here, where the service does not. */

import { compare, type Named } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { filterSteps, forEachStep, type Steps } from '../figures/steps.ts';
import { companyOf } from '../names/company-reference.ts';
import { matchSteps } from '../names/name-filters.ts';
import type { Collection } from '../reading/collection.ts';
import { type Ignorable, type ListPage, sliceOf } from '../reading/list-page.ts';
import type { PageQuery, Search } from '../service/page.ts';
import { describeUnrecognized } from '../service/records/recognition.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import type { ToolCall } from '../tenant/call.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { identifier, join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import type { Known } from './column.ts';
import {
  type Condition,
  type Criteria,
  isEqual,
  type Key,
  keyNames,
  matchesAlternative,
  mentions,
  passes,
  sortedBy,
  type Test,
  valueUnderKey,
} from './criteria.ts';
import { knownFor, nameRows, readIfPermitted } from './known.ts';
import { compareValues, valuesOf } from './values.ts';

/** What the service is asked for, and what is done here with the records that it finds. */
export interface LocalPlan extends Criteria {
  search: Search;
  /** Words that every record must contain. */
  text?: string | undefined;
  /** Parameters that the service ignored. */
  ignored?: readonly Ignorable[];
}

/** A page of all records, filtered and sorted here. */
export async function localPage<R extends Resource>(
  tenant: Tenant,
  resource: R,
  query: PageQuery,
  plan: LocalPlan,
  call: ToolCall,
): Promise<ListPage<RecordOf[R]> & { deleted: number }> {
  const read = await readFor(tenant, resource, plan, call);
  await Promise.all(neededBy(plan).map((each) => tenant.collection(each, call)));
  if (needsCompanyNames(plan, read.records)) await readIfPermitted(tenant, ['company'], call);
  const whole = { ...read, records: await nameRows(tenant, resource, read.records) };
  const known = await knownFor(tenant, resource, [], call);
  requireKnownKeys(resource, whole.records, plan, known);
  const { conditions, notes } = await runInSlices(
    resolveNames(whole.records, plan.conditions, known),
  );
  const { text, sort } = plan;
  const isMatch = (record: RecordOf[R]) =>
    conditions.every((each) => passes(record, each, known)) &&
    (text === undefined || mentions(record, text));
  const matching = await runInSlices(filterSteps(whole.records, isMatch));
  const records = await runInSlices(sortedBy(matching, sort, known));
  const total = records.length;
  const why =
    total === 0 && notes.length === 0
      ? await runInSlices(emptyReason(whole.records, conditions, known))
      : [];
  const coverage = { ...whole.coverage, read: total, total };
  const page = sliceOf({ records, coverage, asOf: whole.asOf }, query);
  const deleted = records.filter(isDeleted).length;
  const unrecognized = describeUnrecognized(resource, whole.records);
  const ignored = describeIgnored(plan, whole.records.length);
  return { ...page, notes: [...unrecognized, ...ignored, ...notes, ...why], deleted };
}

const parameterNames: Record<Ignorable, string> = {
  filters: 'the filter',
  query: 'the text in query',
  sort: 'the order asked for',
};

const describeIgnored = ({ ignored = [] }: LocalPlan, count: number): Wording[] =>
  ignored.map(
    (name) =>
      wording`The service ignored ${trusted(parameterNames[name])}, so it was applied here, over ${count} records.`,
  );

/** How many records pass each filter alone, if none passes all of them, and what values there are for one that none passes. */
function* emptyReason(
  records: readonly ApiRecord[],
  conditions: readonly Condition[],
  known: Known,
): Steps<Wording[]> {
  const alone: Wording[] = [];
  const ranges: Wording[] = [];
  for (const condition of conditions) {
    const { length } = yield* filterSteps(records, (record) => passes(record, condition, known));
    alone.push(wording`${trusted(condition.key.name)} ${length}`);
    if (length === 0) ranges.push(...rangeUnder(records, condition, known));
  }
  return conditions.length < 2
    ? ranges
    : [wording`No record passes all filters; alone they pass: ${join(alone, ', ')}.`, ...ranges];
}

const isOrdered = (value: unknown): boolean =>
  typeof value === 'number' || /^\d{4}-\d{2}-\d{2}/.test(String(value));

/** The least and the greatest value under the key of a comparison; nothing for other tests, and without values. */
function rangeUnder(
  records: readonly ApiRecord[],
  { key, tests }: Condition,
  known: Known,
): Wording[] {
  if (!tests.some((test) => 'order' in test)) return [];
  const values = records.flatMap((record) => valuesOf(valueUnderKey(record, key, known)));
  const [first, ...others] = values.filter(isOrdered);
  if (first === undefined) return [];
  const extreme = (sign: 1 | -1): Wording => {
    const found = others.reduce(
      (one, other) => (compareValues(other, one, sign) < 0 ? other : one),
      first,
    );
    return identifier(String(found));
  };
  return [wording`Values of ${identifier(key.name)} go from ${extreme(1)} to ${extreme(-1)}.`];
}

const keysOf = ({ conditions, sort }: Criteria): Key[] =>
  [...conditions, ...sort].map(({ key }) => key);

const neededBy = (criteria: Criteria) => [
  ...new Set(keysOf(criteria).flatMap(({ column }) => column?.needs ?? [])),
];

/** Whether names of companies are asked for, where some rows have their ids only. */
const needsCompanyNames = (criteria: Criteria, records: readonly ApiRecord[]): boolean =>
  keysOf(criteria).some(({ name }) => name === 'company') &&
  records.map(companyOf).some(({ id, name }) => id !== undefined && name === undefined);

/** All records to filter; without bundles unless they are requested. */
async function readFor<R extends Resource>(
  tenant: Tenant,
  resource: R,
  { search }: LocalPlan,
  call: ToolCall,
): Promise<Collection<RecordOf[R]>> {
  const { query, filters, sort, includeBundles } = search;
  if (query || filters || sort) return tenant.collection(resource, call, search);
  const whole = await tenant.collection(resource, call);
  if (resource !== 'product' || includeBundles) return whole;
  return { ...whole, records: whole.records.filter((record) => !isBundle(record)) };
}

const isBundle = ({ productType }: ApiRecord): boolean => productType === 'bundle';

/** @throws InvalidArguments for a key that is no column, and that no record has */
function requireKnownKeys(
  resource: Resource,
  records: readonly ApiRecord[],
  criteria: Criteria,
  known: Known,
): void {
  const isMissing = (key: Key) => (record: ApiRecord) =>
    valuesOf(valueUnderKey(record, key, known)).length === 0;
  const unknown = keysOf(criteria).find((key) => !key.column && records.every(isMissing(key)));
  if (unknown === undefined || records.length === 0) return;
  throw new InvalidArguments(
    wording`No column is called ${quote(unknown.name)}. Known: ${keyNames(resource)}; or a field of the record, with dots.`,
  );
}

interface ResolvedConditions {
  conditions: readonly Condition[];
  notes: readonly Wording[];
}

/** Texts of one filter for which similar names are looked for. */
const maxResolved = 8;

/** Replaces a text that no record has by the one name that it can mean; otherwise notes the nearest names. */
function* resolveNames(
  records: readonly ApiRecord[],
  conditions: readonly Condition[],
  known: Known,
): Steps<ResolvedConditions> {
  const notes: Wording[] = [];
  const resolved: Condition[] = [];
  for (const { key, tests } of conditions) {
    const values = tests.some((test) => 'is' in test)
      ? yield* valuesIn(records, key, known)
      : new Set();
    const unmatched = tests.filter((test) => isUnmatched(records, key, test, values));
    const read = new Map<Test, Test>();
    for (const test of unmatched.slice(0, maxResolved))
      read.set(test, yield* resolveTest(key, test, [...values], notes));
    resolved.push({ key, tests: tests.map((test) => read.get(test) ?? test) });
  }
  return { conditions: resolved, notes };
}

function* valuesIn(records: readonly ApiRecord[], key: Key, known: Known): Steps<Set<unknown>> {
  const values = new Set<unknown>();
  yield* forEachStep(records, (record) => {
    for (const value of valuesOf(valueUnderKey(record, key, known))) values.add(value);
  });
  return values;
}

const isUnmatched = (
  records: readonly ApiRecord[],
  key: Key,
  test: Test,
  values: ReadonlySet<unknown>,
): boolean =>
  'is' in test &&
  !values.has(test.is) &&
  ![...values].some((value) => isEqual(value, test.is)) &&
  !(key.column?.alternatives && records.some((record) => matchesAlternative(record, key, test)));

function* resolveTest(
  { name }: Key,
  test: Test,
  values: readonly unknown[],
  notes: Wording[],
): Steps<Test> {
  if (!('is' in test)) return test;
  const names = values.flatMap((value) => (typeof value === 'string' ? [{ name: value }] : []));
  const found = yield* matchSteps(test.is, names, { byWords: true });
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
