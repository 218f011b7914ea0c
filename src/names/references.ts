/** Missing names and ids of references, from the names and ids that other records contain. Changes no record. */

import { contactName, nonBlank, normaliseName } from '../figures/naming.ts';
import { filterSteps, forEachStep, type Steps } from '../figures/steps.ts';
import type { ApiRecord, Contact, RecordOf, Ref, Resource } from '../service/records/records.ts';
import { isOneOf } from '../values.ts';

/** Kinds of referenced records. The service has no list of owners, stages and sources. */
type ReferenceTarget =
  | 'company'
  | 'contact'
  | 'category'
  | 'opportunity'
  | 'owner'
  | 'stage'
  | 'source';

/** The collections in which names are looked up, first those whose records are referred to. */
export const namingResources = [
  'company',
  'contact',
  'category',
  'opportunity',
  'quote',
  'product',
] as const satisfies readonly Resource[];
type NamingResource = (typeof namingResources)[number];

/** The records in which names are looked up. */
export type KnownRecords = { readonly [R in Resource]?: readonly ApiRecord[] | undefined };

type Links = readonly (readonly [field: string, target: ReferenceTarget])[];

/** The fields that refer to other records, with the kind of what they refer to. */
const links: Readonly<Record<NamingResource, Links>> = {
  company: [],
  category: [],
  // In two fields, `companyId` and `companyName`.
  contact: [],
  opportunity: [
    ['company', 'company'],
    ['contact', 'contact'],
    ['owner', 'owner'],
    ['pipelineStage', 'stage'],
    ['category', 'category'],
    ['source', 'source'],
  ],
  quote: [
    ['company', 'company'],
    ['contact', 'contact'],
    ['owner', 'owner'],
    ['opportunity', 'opportunity'],
  ],
  product: [['category', 'category']],
};

interface Link {
  field: string;
  target: ReferenceTarget;
  ref: Ref;
}

function linksOf(resource: NamingResource, record: ApiRecord): Link[] {
  if (resource === 'contact') return [companyLink(record)];
  const found: Link[] = [];
  for (const [field, target] of links[resource]) {
    const ref = record[field] as Ref | undefined;
    if (ref !== undefined) found.push({ field, target, ref });
  }
  return found;
}

const companyLink = ({ companyId, companyName }: Contact): Link => ({
  field: 'company',
  target: 'company',
  ref: { ...(companyId && { id: companyId }), ...(companyName && { name: companyName }) },
});

/** Whether the id or the name is missing, but not both; a contact may have first and last name instead. */
const isIncomplete = ({ ref }: Link): boolean => (ref.id === undefined) === hasName(ref);

/** Whether `contactName` finds a name, without putting it together: every reference of a collection is checked. */
const hasName = ({ name, firstName, middleName, lastName }: Contact): boolean =>
  (nonBlank(name) ?? nonBlank(firstName) ?? nonBlank(middleName) ?? nonBlank(lastName)) !==
  undefined;

const incompleteLinks = (resource: NamingResource, record: ApiRecord): Link[] =>
  linksOf(resource, record).filter(isIncomplete);

/** The references of an opportunity that have no id. */
export const referencesWithoutId = (deal: ApiRecord): ReadonlySet<string> =>
  new Set(
    linksOf('opportunity', deal).flatMap(({ ref, target }) => (ref.id === undefined ? target : [])),
  );

/** Whether the id or the name of a reference is missing. */
export const lacksName = (resource: Resource, record: ApiRecord): boolean =>
  isOneOf(namingResources, resource) && linksOf(resource, record).some(isIncomplete);

/** The records with a reference whose id or name is missing. */
export const withIncompleteReferences = <R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
): Steps<readonly RecordOf[R][]> => filterSteps(records, (record) => lacksName(resource, record));

const bytesPerEntry = 150;

/** The names and ids that the records of one collection contain: their own, and those of what they refer to. */
export class NamesIn {
  /** An empty name is that of a record which is known to have none. */
  readonly #names = new Map<string, string>();
  /** `undefined` for a name that several records have. */
  readonly #ids = new Map<string, string | undefined>();

  static *of(resource: NamingResource, records: readonly ApiRecord[]): Steps<NamesIn> {
    const names = new NamesIn();
    const isTarget = resource !== 'quote' && resource !== 'product';
    yield* forEachStep(records, (record) => {
      if (isTarget) names.#add(resource, record);
      if (resource === 'contact') return;
      for (const { target, ref } of linksOf(resource, record)) names.#add(target, ref);
    });
    return names;
  }

  /** Estimated. */
  get bytes(): number {
    return (this.#names.size + this.#ids.size) * bytesPerEntry;
  }

  /** Empty if the record has none, `undefined` if it is not known. */
  nameOf(target: ReferenceTarget, id: string): string | undefined {
    return this.#names.get(`${target} ${id}`);
  }

  /** The ids of the records of this name; only whether there are none, one or several. */
  idsOf(target: ReferenceTarget, name: string): readonly string[] | 'several' {
    const key = `${target} ${normaliseName(name)}`;
    const id = this.#ids.get(key);
    if (id !== undefined) return [id];
    return this.#ids.has(key) ? 'several' : [];
  }

  #add(target: ReferenceTarget, record: ApiRecord): void {
    const { id } = record;
    if (id === undefined) return;
    const name = contactName(record);
    const key = `${target} ${id}`;
    this.#names.set(key, name ?? this.#names.get(key) ?? '');
    if (name === undefined) return;
    const named = `${target} ${normaliseName(name)}`;
    this.#ids.set(named, this.#ids.has(named) && this.#ids.get(named) !== id ? undefined : id);
  }
}

/** The names and ids of several collections, the more specific first. */
class Directory {
  readonly #parts: readonly NamesIn[];

  constructor(parts: readonly NamesIn[]) {
    this.#parts = parts;
  }

  has(target: ReferenceTarget, id: string): boolean {
    return this.#parts.some((part) => part.nameOf(target, id) !== undefined);
  }

  nameOf(target: ReferenceTarget, id: string): string | undefined {
    return this.#parts.map((part) => part.nameOf(target, id)).find(Boolean);
  }

  /** The id of the only record of this name. */
  idOf(target: ReferenceTarget, name: string): string | undefined {
    const found = new Set<string>();
    for (const part of this.#parts) {
      const ids = part.idsOf(target, name);
      if (ids === 'several') return undefined;
      for (const id of ids) found.add(id);
    }
    return found.size === 1 ? [...found][0] : undefined;
  }

  /** The reference with what is missing; the same one if that is not known. */
  complete({ target, ref }: Link, textsAreIds: boolean): Ref {
    const { id, name: text = '' } = ref;
    if (id !== undefined) {
      const name = this.nameOf(target, id);
      return name === undefined ? ref : { ...ref, name };
    }
    if (this.has(target, text)) return this.#identified(target, ref, text);
    const found = this.idOf(target, text);
    if (found !== undefined) return { ...ref, id: found };
    return textsAreIds ? this.#identified(target, ref, text) : ref;
  }

  #identified(target: ReferenceTarget, { name: _, ...ref }: Ref, id: string): Ref {
    const name = this.nameOf(target, id);
    return { ...ref, id, ...(name !== undefined && { name }) };
  }
}

/**
 * The records with their references completed: the name added to an id, and the id to a name that only one record has.
 * A text without an id that equals the id of a record is its id. If that is so for every text that can be looked up,
 * the texts of owners, stages and sources are ids too. Records in which nothing is missing are the same objects, and
 * so is the list where that is all of them.
 * @param from the names in the collections that the caller may read
 */
export function* completeReferences<R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  from: readonly NamesIn[],
): Steps<readonly RecordOf[R][]> {
  if (!isOneOf(namingResources, resource)) return records;
  const directory = new Directory(from);
  const textsAreIds = yield* readTextsAsIds(resource, records, directory);
  let copies = 0;
  const completed: RecordOf[R][] = [];
  yield* forEachStep(records, (record) => {
    const copy = completeRecord(resource, record as ApiRecord, directory, textsAreIds);
    if (copy !== record) copies += 1;
    completed.push(copy as RecordOf[R]);
  });
  return copies === 0 ? records : completed;
}

/** Whether every text without an id that can be looked up is the id of a record. */
function* readTextsAsIds(
  resource: NamingResource,
  records: readonly ApiRecord[],
  directory: Directory,
): Steps<boolean> {
  const readAs = new Set<'id' | 'name'>();
  yield* forEachStep(records, (record) => {
    for (const { target, ref } of incompleteLinks(resource, record)) {
      if (ref.id !== undefined || ref.name === undefined) continue;
      if (directory.has(target, ref.name)) readAs.add('id');
      else if (directory.idOf(target, ref.name) !== undefined) readAs.add('name');
    }
  });
  return readAs.has('id') && !readAs.has('name');
}

function completeRecord(
  resource: NamingResource,
  record: ApiRecord,
  directory: Directory,
  textsAreIds: boolean,
): ApiRecord {
  const added: Record<string, unknown> = {};
  for (const link of incompleteLinks(resource, record)) {
    const ref = directory.complete(link, textsAreIds);
    if (ref === link.ref) continue;
    if (resource !== 'contact') added[link.field] = Object.freeze(ref);
    else Object.assign(added, { companyId: ref.id }, ref.name && { companyName: ref.name });
  }
  return Object.keys(added).length === 0 ? record : Object.freeze({ ...record, ...added });
}
