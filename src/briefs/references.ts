/** Fills in missing names and ids of references from the other known records. */
import type {
  ApiRecord,
  Contact,
  Opportunity,
  Product,
  Quote,
  Ref,
  Resource,
} from '../records/records.ts';
import { isOneOf } from '../values.ts';
import { contactName, normaliseName } from './naming.ts';

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
function linksIn(
  resource: Linking,
  records: readonly ApiRecord[],
  accepts: (ref: Ref) => boolean = () => true,
): Link[] {
  const found: Link[] = [];
  for (const record of records) {
    for (const [field, target] of links[resource]) {
      const ref = record[field] as Ref | undefined;
      if (ref !== undefined && accepts(ref)) found.push({ target, ref });
    }
  }
  return found;
}

/** Whether the id or the name is missing; a contact may have first and last name instead. */
const isIncomplete = (ref: Ref): boolean => ref.id === undefined || contactName(ref) === undefined;

const lacksCompany = ({ companyId, companyName }: Contact): boolean => !companyId !== !companyName;

/** The references of an opportunity that have no id. */
export const referencesWithoutId = (deal: Opportunity): ReadonlySet<string> =>
  new Set(linksIn('opportunity', [deal], ({ id }) => id === undefined).map(({ target }) => target));

/** Whether all references of these records have an id and a name, as far as `completeReferences` would add them. */
export function haveCompleteReferences(resource: Resource, records: readonly ApiRecord[]): boolean {
  if (resource === 'contact') return !records.some(lacksCompany);
  return !isOneOf(linking, resource) || linksIn(resource, records, isIncomplete).length === 0;
}

/** Collections in which every reference is complete. */
const completeReadings = new WeakSet<object>();

/**
 * Completes references in place: adds the name to an id, and the id to a name that only one record has. A text without
 * an id that equals the id of a record is its id. If that is so for every text that can be looked up, the texts of
 * owners, stages and sources are ids too.
 * @returns whether a reference was changed
 */
export function completeReferences(known: KnownRecords): boolean {
  const incomplete = linking.flatMap((resource) => incompleteIn(known, resource));
  const contacts = (known.contact ?? []).filter(lacksCompany);
  if (incomplete.length === 0 && contacts.length === 0) return false;
  const before = knownParts(incomplete, contacts);
  const directory = new Directory(known);
  for (const contact of contacts) directory.completeCompany(contact);
  const bare = incomplete.filter(({ ref }) => ref.id === undefined);
  const readAs = new Set(incomplete.map((link) => directory.complete(link)));
  if (readAs.has('id') && !readAs.has('name')) bare.forEach(useTextAsId);
  return knownParts(incomplete, contacts) !== before;
}

/** Changes whenever a reference is completed: an id counts more, because a text may turn out to be one. */
const knownParts = (links: readonly Link[], contacts: readonly Contact[]): number =>
  links.reduce((sum, { ref }) => sum + (ref.id ? 2 : 0) + (ref.name ? 1 : 0), 0) +
  contacts.reduce((sum, it) => sum + (it.companyId ? 2 : 0) + (it.companyName ? 1 : 0), 0);

function incompleteIn(known: KnownRecords, resource: Linking): Link[] {
  const records = known[resource];
  if (records === undefined || completeReadings.has(records)) return [];
  const incomplete = linksIn(resource, records, isIncomplete);
  if (incomplete.length === 0) completeReadings.add(records);
  return incomplete;
}

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

  constructor(known: KnownRecords) {
    for (const target of ['company', 'contact', 'category', 'opportunity'] as const) {
      for (const record of known[target] ?? []) this.#add(target, record);
    }
    for (const resource of linking) {
      for (const { target, ref } of linksIn(resource, known[resource] ?? []))
        this.#add(target, ref);
    }
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
