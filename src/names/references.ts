/** Fills in missing names and ids of references from the other known records. */

import { contactName, nonBlank, normaliseName } from '../figures/naming.ts';
import { filterSteps, forEachStep, runSteps, type Steps } from '../figures/steps.ts';
import type {
  ApiRecord,
  Contact,
  Opportunity,
  Product,
  Quote,
  Ref,
  Resource,
} from '../service/records/records.ts';
import { isOneOf } from '../values.ts';

/** Kinds of referenced records. The service has no list of owners, stages and sources. */
const targets = [
  'company',
  'contact',
  'category',
  'opportunity',
  'owner',
  'stage',
  'source',
] as const;
type ReferenceTarget = (typeof targets)[number];

/** The known records by resource. */
export type KnownRecords = { readonly [R in Resource]?: readonly ApiRecord[] };

interface Link {
  target: ReferenceTarget;
  ref: Ref;
}

/** The fields that refer to other records, with the kind of what they refer to. */
const links = {
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
} as const satisfies {
  readonly opportunity: readonly (readonly [keyof Opportunity, ReferenceTarget])[];
  readonly quote: readonly (readonly [keyof Quote, ReferenceTarget])[];
  readonly product: readonly (readonly [keyof Product, ReferenceTarget])[];
};
const linking = ['opportunity', 'quote', 'product'] as const;
type Linking = (typeof linking)[number];

/** The references of some records that are accepted. */
function* linksIn(
  resource: Linking,
  records: readonly ApiRecord[],
  accepts: (ref: Ref) => boolean = () => true,
): Steps<Link[]> {
  const found: Link[] = [];
  yield* forEachStep(records, (record) => {
    for (const [field, target] of links[resource]) {
      const ref = record[field] as Ref | undefined;
      if (ref !== undefined && accepts(ref)) found.push({ target, ref });
    }
  });
  return found;
}

/** Whether the id or the name is missing; a contact may have first and last name instead. */
const isIncomplete = (ref: Ref): boolean => ref.id === undefined || !hasName(ref);

/** Whether `contactName` finds a name, without putting it together: every reference of a collection is checked. */
const hasName = ({ name, firstName, middleName, lastName }: Contact): boolean =>
  (nonBlank(name) ?? nonBlank(firstName) ?? nonBlank(middleName) ?? nonBlank(lastName)) !==
  undefined;

const lacksCompany = ({ companyId, companyName }: Contact): boolean => !companyId !== !companyName;

/** The references of an opportunity that have no id. */
export function referencesWithoutId(deal: Opportunity): ReadonlySet<string> {
  const without = runSteps(linksIn('opportunity', [deal], ({ id }) => id === undefined));
  return new Set(without.map(({ target }) => target));
}

/** Lists in which every reference is complete, which no later completion changes. */
const completeLists = new WeakSet<object>();

/** Notes that all references of a list have an id and a name, so that they are not checked again. */
export function noteCompleteReferences(records: readonly ApiRecord[]): void {
  completeLists.add(records);
}

/** Whether all references of these records have an id and a name, as far as `completeReferences` would add them. */
export function* haveCompleteReferences(
  resource: Resource,
  records: readonly ApiRecord[],
): Steps<boolean> {
  const known = { [resource]: records };
  if (resource === 'contact') return (yield* incompleteContacts(known)).length === 0;
  return !isOneOf(linking, resource) || (yield* incompleteIn(known, resource)).length === 0;
}

function* incompleteIn(known: KnownRecords, resource: Linking): Steps<Link[]> {
  const records = known[resource];
  if (records === undefined || completeLists.has(records)) return [];
  const incomplete = yield* linksIn(resource, records, isIncomplete);
  if (incomplete.length === 0) completeLists.add(records);
  return incomplete;
}

function* incompleteContacts({ contact }: KnownRecords): Steps<Contact[]> {
  if (contact === undefined || completeLists.has(contact)) return [];
  const incomplete = yield* filterSteps(contact, lacksCompany);
  if (incomplete.length === 0) completeLists.add(contact);
  return incomplete;
}

/** Runs `completionSteps` at once. */
export const completeReferences = (known: KnownRecords): boolean =>
  runSteps(completionSteps(known));

/**
 * Completes references in place: adds the name to an id, and the id to a name that only one record has. A text without
 * an id that equals the id of a record is its id. If that is so for every text that can be looked up, the texts of
 * owners, stages and sources are ids too. The records must not be completed by others meanwhile.
 * @returns whether a reference was changed
 */
export function* completionSteps(known: KnownRecords): Steps<boolean> {
  let incomplete: Link[] = [];
  for (const resource of linking)
    incomplete = incomplete.concat(yield* incompleteIn(known, resource));
  const contacts = yield* incompleteContacts(known);
  if (incomplete.length === 0 && contacts.length === 0) return false;
  const before = countMissing(incomplete, contacts);
  const directory = yield* Directory.of(known);
  yield* forEachStep(contacts, (contact) => directory.completeCompany(contact));
  const readAs = new Set<'id' | 'name' | undefined>();
  yield* forEachStep(incomplete, (link) => readAs.add(directory.complete(link)));
  if (readAs.has('id') && !readAs.has('name')) incomplete.forEach(useTextAsId);
  return countMissing(incomplete, contacts) !== before;
}

/** Falls whenever a reference is completed: one without an id counts twice, because its text may turn out to be one. */
const countMissing = (links: readonly Link[], contacts: readonly Contact[]): number =>
  links.filter(({ ref }) => isIncomplete(ref)).length +
  links.filter(({ ref }) => ref.id === undefined).length +
  contacts.filter(lacksCompany).length;

function useTextAsId({ ref }: Link): void {
  if (ref.id !== undefined || ref.name === undefined) return;
  ref.id = ref.name;
  delete ref.name;
}

/** The names and ids of the known records. */
class Directory {
  readonly #names = new Map<string, string>();
  /** `undefined` for a name that several records have. */
  readonly #ids = new Map<string, string | undefined>();

  static *of(known: KnownRecords): Steps<Directory> {
    const directory = new Directory();
    for (const target of ['company', 'contact', 'category', 'opportunity'] as const)
      yield* forEachStep(known[target] ?? [], (record) => directory.#add(target, record));
    for (const resource of linking) {
      const all = yield* linksIn(resource, known[resource] ?? []);
      yield* forEachStep(all, ({ target, ref }) => directory.#add(target, ref));
    }
    return directory;
  }

  #add(target: ReferenceTarget, record: ApiRecord): void {
    const { id } = record;
    const name = contactName(record);
    if (id === undefined) return;
    this.#names.set(`${target} ${id}`, name ?? this.#names.get(`${target} ${id}`) ?? '');
    if (name === undefined) return;
    const key = `${target} ${normaliseName(name)}`;
    this.#ids.set(key, this.#ids.has(key) && this.#ids.get(key) !== id ? undefined : id);
  }

  /** Completes one reference. @returns for a text without an id, whether it was found as an id or as a name */
  complete({ target, ref }: Link): 'id' | 'name' | undefined {
    if (ref.id !== undefined) {
      const name = this.#names.get(`${target} ${ref.id}`);
      if (name) ref.name = name;
      return undefined;
    }
    const text = ref.name ?? '';
    if (this.#names.has(`${target} ${text}`)) {
      useTextAsId({ target, ref });
      return this.complete({ target, ref }) ?? 'id';
    }
    const id = this.#ids.get(`${target} ${normaliseName(text)}`);
    if (id === undefined) return undefined;
    ref.id = id;
    return 'name';
  }

  completeCompany(contact: Contact): void {
    const ref: Ref = {};
    if (contact.companyId) ref.id = contact.companyId;
    if (contact.companyName) ref.name = contact.companyName;
    this.complete({ target: 'company', ref });
    if (ref.id !== undefined) contact.companyId = ref.id;
    if (ref.name !== undefined) contact.companyName = ref.name;
  }
}
