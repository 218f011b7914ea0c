/** Missing names and ids of references, from the names and ids that other records contain. Changes no record. */

import { compact, nonBlank } from '../figures/fields.ts';
import { contactName, type Named, normaliseName } from '../figures/naming.ts';
import { forEachStep, type Steps } from '../figures/steps.ts';
import type { ApiRecord, Company, RecordOf, Ref, Resource } from '../service/records/records.ts';
import { fieldOf, isKeyOf, keysOf } from '../values.ts';

/** The records in which names are looked up. */
export type KnownRecords = { readonly [R in Resource]?: readonly ApiRecord[] | undefined };

/**
 * The fields that refer to other records, of the collections in which names are looked up: first those whose records are
 * referred to. A field is also the kind of what it refers to; the service has no list of owners, stages and sources.
 */
const links = {
  company: [],
  // In two fields, `companyId` and `companyName`.
  contact: [],
  category: [],
  opportunity: ['company', 'contact', 'owner', 'pipelineStage', 'category', 'source'],
  quote: ['company', 'contact', 'owner', 'opportunity'],
  product: ['category'],
} as const satisfies { readonly [R in Resource]?: readonly string[] };
type NamingResource = keyof typeof links;
type ReferenceField = (typeof links)[NamingResource][number];
export const namingResources = keysOf(links);

interface Link {
  field: ReferenceField;
  ref: Ref;
}

function linksOf(resource: NamingResource, record: ApiRecord): Link[] {
  if (resource === 'contact') return [{ field: 'company', ref: { ...companyOf(record) } }];
  const found: Link[] = [];
  const fields: readonly ReferenceField[] = links[resource];
  for (const field of fields) {
    const ref = record[field] as Ref | undefined;
    if (ref !== undefined) found.push({ field, ref });
  }
  return found;
}

/** Whether the id or the name is missing, but not both. Most have both. */
const isIncomplete = (ref: Ref): boolean =>
  !(ref.id && ref.name?.trim()) && (ref.id === undefined) === (contactName(ref) !== undefined);

export const referencesWithoutId = (deal: ApiRecord): ReadonlySet<string> =>
  new Set(
    linksOf('opportunity', deal).flatMap(({ ref, field }) => (ref.id === undefined ? field : [])),
  );

/** Whether the id or the name of a reference is missing. */
export const lacksName = (resource: Resource, record: ApiRecord): boolean =>
  isKeyOf(links, resource) && linksOf(resource, record).some(({ ref }) => isIncomplete(ref));

/** Whether a record has another name of its company than that has now: it was renamed since the record was read. */
export function hasFormerName(record: ApiRecord, companies: NamesIn): boolean {
  const { id, name } = companyOf(record);
  return (
    id !== undefined && name !== undefined && name !== (companies.nameOf('company', id) || name)
  );
}

const bytesPerEntry = 150;

/** The names and ids that the records of one collection contain: their own, and those of what they refer to. */
export class NamesIn {
  /** An empty name is that of a record which is known to have none. */
  readonly #names = new Map<string, string>();
  /** Empty for a name that several records have. */
  readonly #ids = new Map<string, string>();

  static *of(resource: NamingResource, records: readonly ApiRecord[]): Steps<NamesIn> {
    const names = new NamesIn();
    const isTarget = resource !== 'quote' && resource !== 'product';
    yield* forEachStep(records, (record) => {
      if (isTarget) names.#add(resource, record);
      if (resource === 'contact') return;
      for (const { field, ref } of linksOf(resource, record)) names.#add(field, ref);
    });
    return names;
  }

  /** Estimated. */
  get bytes(): number {
    return (this.#names.size + this.#ids.size) * bytesPerEntry;
  }

  /** Empty if the record has none, `undefined` if it is not known. */
  nameOf(kind: ReferenceField, id: string): string | undefined {
    return this.#names.get(`${kind} ${id}`);
  }

  /** The id of the record of this name, empty if several have it, `undefined` if it is not known. */
  idOf(kind: ReferenceField, name: string): string | undefined {
    return this.#ids.get(`${kind} ${normaliseName(name)}`);
  }

  #add(kind: ReferenceField, record: ApiRecord): void {
    const { id } = record;
    if (id === undefined) return;
    const name = contactName(record);
    const key = `${kind} ${id}`;
    this.#names.set(key, name ?? this.#names.get(key) ?? '');
    if (name === undefined) return;
    const named = `${kind} ${normaliseName(name)}`;
    this.#ids.set(named, (this.#ids.get(named) ?? id) === id ? id : '');
  }
}

/** The reference with what is missing; the same one if that is not known. */
function completeReference(
  { field, ref }: Link,
  from: readonly NamesIn[],
  textsAreIds: boolean,
): Ref {
  const { id, name: text = '', ...rest } = ref;
  const names = from.flatMap((part) => part.nameOf(field, id ?? text) ?? []);
  const name = names.find(Boolean);
  if (id !== undefined && name !== undefined) return { ...ref, name };
  if (id !== undefined) return inOtherCase(field, ref, id.toLowerCase(), from);
  // The text is the id of a record.
  if (names.length > 0) return { ...rest, id: text, ...(name !== undefined && { name }) };
  const [found, ...others] = new Set(from.flatMap((part) => part.idOf(field, text) ?? []));
  if (found && others.length === 0) return { ...ref, id: found };
  return textsAreIds && found === undefined ? { ...rest, id: text } : ref;
}

/** The reference to the record of the same id in small letters, where there is one. */
function inOtherCase(field: ReferenceField, ref: Ref, id: string, from: readonly NamesIn[]): Ref {
  const name = id === ref.id ? undefined : from.map((part) => part.nameOf(field, id)).find(Boolean);
  return name === undefined ? ref : { ...ref, id, name };
}

/** The reference with the name that its company has now. */
function currentReference({ field, ref }: Link, companies: NamesIn | undefined): Ref {
  const name = field === 'company' && ref.id && companies?.nameOf(field, ref.id);
  return name && name !== nonBlank(ref.name) ? { ...ref, name } : ref;
}

/** Whether every text without an id that can be looked up is the id of a record. */
function* readTextsAsIds(
  resource: NamingResource,
  records: readonly ApiRecord[],
  from: readonly NamesIn[],
): Steps<boolean> {
  let ids = 0;
  let names = 0;
  yield* forEachStep(records, (record) => {
    for (const { field, ref } of linksOf(resource, record)) {
      const { id, name: text } = ref;
      if (id !== undefined || text === undefined) continue;
      if (from.some((part) => part.nameOf(field, text) !== undefined)) ids += 1;
      else if (from.some((part) => part.idOf(field, text) !== undefined)) names += 1;
    }
  });
  return ids > 0 && names === 0;
}

/**
 * The records with their references completed: the name added to an id, and the id to a name that only one record has.
 * A text without an id that equals the id of a record is its id. If that is so for every text that can be looked up,
 * the texts of owners, stages and sources are ids too. Records in which nothing is missing are the same objects, and
 * so is the list where that is all of them.
 * @param from the names in the collections that the caller may read, the more specific first
 * @param companies those of all companies, for records that may have former names of them
 */
export function* completeReferences<R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  from: readonly NamesIn[],
  companies?: NamesIn,
): Steps<readonly RecordOf[R][]> {
  if (!isKeyOf(links, resource)) return records;
  const textsAreIds = yield* readTextsAsIds(resource, records, from);
  let copies = 0;
  const completed: RecordOf[R][] = [];
  yield* forEachStep(records, (record) => {
    const added: Record<string, unknown> = {};
    for (const link of linksOf(resource, record as ApiRecord)) {
      const ref = isIncomplete(link.ref)
        ? completeReference(link, from, textsAreIds)
        : currentReference(link, companies);
      if (ref === link.ref) continue;
      if (resource !== 'contact') added[link.field] = Object.freeze(ref);
      else Object.assign(added, { companyId: ref.id }, ref.name && { companyName: ref.name });
    }
    const isSame = Object.keys(added).length === 0;
    if (!isSame) copies += 1;
    completed.push(isSame ? record : (Object.freeze({ ...record, ...added }) as RecordOf[R]));
  });
  return copies === 0 ? records : completed;
}

/** Compares by the company's id, or by name if the record has no company id. */
export function belongsTo(record: ApiRecord, company: Company): boolean {
  const { id, name } = companyOf(record);
  if (id !== undefined) return id === company.id;
  return name !== undefined && normaliseName(name) === normaliseName(company.name);
}

export const labelsOf = (
  record: ApiRecord,
  companies: ReadonlyMap<string | undefined, Company>,
): string[] => [...(record.labels ?? []), ...(companies.get(companyOf(record).id)?.labels ?? [])];

/** The company of a record, from its nested record or its own fields; empty if it has none. */
export function companyOf({ company, companyId, companyName }: ApiRecord): Named {
  const id = nonBlank(fieldOf(company, 'id')) ?? nonBlank(companyId);
  const name = nonBlank(fieldOf(company, 'name')) ?? nonBlank(companyName);
  return compact({ id, name });
}
