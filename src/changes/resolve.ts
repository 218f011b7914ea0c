import { contactName, normaliseName } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { runSteps } from '../figures/steps.ts';
import { bestMatches } from '../names/name-filters.ts';
import { type MatchKind, matchKinds } from '../names/search.ts';
import type { Coverage } from '../reading/coverage.ts';
import type {
  ApiRecord,
  Company,
  Contact,
  Opportunity,
  RecordOf,
  Ref,
} from '../service/records/records.ts';
import type { ToolCall } from '../tenant/call.ts';
import { searchRecords } from '../tenant/lookup.ts';
import { readIfExists } from '../tenant/read-collections.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { firstInvisible } from '../text/characters.ts';
import { identifier, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isOneOf } from '../values.ts';
import type { Reference } from './fields.ts';
import { ChangeRefused } from './refusal.ts';

const maxCandidates = 8;

interface Candidate {
  id: string;
  name?: string | undefined;
  /** Alternative names. */
  names?: ReadonlySet<string> | undefined;
  /** Other identifiers of the record, such as the external identifier or the e-mail address. */
  otherIdentifiers: readonly unknown[];
  /** Distinguishes records of the same name. */
  hint?: string | undefined;
  deleted: boolean;
  /** For contacts: true if the contact belongs to the company of the opportunity, or no company is known. */
  isPreferred?: boolean;
}

type What = 'company' | 'contact' | ReferenceField;

interface NameSearch {
  field: What;
  requested: string;
  candidates: readonly Candidate[];
  coverage: Coverage;
}

/** `other` is not blank. */
const equalsFolded = (one: unknown, other: string): boolean =>
  typeof one === 'string' && normaliseName(one) === normaliseName(other);

/** A company by id, external identifier or name. @throws ChangeRefused with the candidates */
export const resolveCompany = (
  tenant: Tenant,
  requested: string,
  call: ToolCall,
): Promise<Reference> => resolveAmong(tenant, 'company', requested, call, companyCandidate);

/**
 * A contact by id, external identifier, e-mail address or name. A name only matches contacts of `company`, if that
 * is known.
 * @throws ChangeRefused with the candidates
 */
export const resolveContact = (
  tenant: Tenant,
  requested: string,
  company: Reference | undefined,
  call: ToolCall,
): Promise<Reference> =>
  resolveAmong(tenant, 'contact', requested, call, (contact) => contactCandidate(contact, company));

async function resolveAmong<R extends 'company' | 'contact'>(
  tenant: Tenant,
  resource: R,
  requested: string,
  call: ToolCall,
  candidateOf: (record: RecordOf[R]) => Candidate,
): Promise<Reference> {
  const { records, coverage } = await tenant.collection(resource, call);
  const search = { field: resource, requested, coverage };
  const candidates = records.map(candidateOf);
  if (candidates.some((it) => matchKindOf(it, requested)))
    return pickOne({ ...search, candidates });
  const latest = (await searchService(tenant, resource, requested, call)).map(candidateOf);
  return pickOne({ ...search, candidates: withLatest(candidates, latest) });
}

const withLatest = (known: readonly Candidate[], latest: readonly Candidate[]): Candidate[] => [
  ...known.filter(({ id }) => !latest.some((it) => it.id === id)),
  ...latest,
];

/** Searches the service: a record may be newer than the cached collection. */
async function searchService<R extends 'company' | 'contact'>(
  tenant: Tenant,
  resource: R,
  requested: string,
  call: ToolCall,
): Promise<RecordOf[R][]> {
  const found = await searchRecords(tenant, resource, requested, call);
  const [byId, byExternalId] = firstInvisible(requested, { joiners: true })
    ? []
    : [
        await readIfExists(tenant, resource, 'id', requested, call),
        await readIfExists(tenant, resource, 'externalIdentifier', requested, call),
      ];
  const records = [...found, byId, byExternalId].filter((record) => record !== undefined);
  return [...new Map(records.map((record) => [record.id, record])).values()];
}

const companyCandidate = (company: Company): Candidate => ({
  ...candidateOf(company),
  hint: [company.type, company.address?.city].filter(Boolean).join(', '),
});

const contactCandidate = (contact: Contact, company: Reference | undefined): Candidate => ({
  ...candidateOf(contact),
  name: contactName(contact),
  otherIdentifiers: [contact.externalIdentifier, contact.email],
  hint: [contact.companyName, contact.email].filter(Boolean).join(', '),
  isPreferred: company === undefined || contact.companyId === company.id,
});

const candidateOf = (record: ApiRecord): Candidate => ({
  id: record.id ?? '',
  name: record.name,
  otherIdentifiers: [record.externalIdentifier],
  deleted: isDeleted(record),
});

/**
 * Reads the present company or contact that is to be written.
 * @throws ChangeRefused if it was deleted
 */
export async function requireExisting<R extends 'company' | 'contact'>(
  tenant: Tenant,
  resource: R,
  { id, name = id }: Reference,
  call: ToolCall,
): Promise<RecordOf[R]> {
  const record = await readIfExists(tenant, resource, 'id', id, call);
  const kind = trusted(resource);
  if (!record)
    throw new ChangeRefused(
      wording`There is no ${kind} ${quote(name)} (${identifier(id)}) any more.`,
    );
  if (isDeleted(record))
    throw new ChangeRefused(wording`The ${kind} ${quote(name)} has been deleted.`);
  return record;
}

export const referenceFields = ['owner', 'stage', 'category', 'source'] as const;
type ReferenceField = (typeof referenceFields)[number];

const refOf: Record<ReferenceField, (opportunity: Opportunity) => Ref | undefined> = {
  owner: (opportunity) => opportunity.owner,
  stage: (opportunity) => opportunity.pipelineStage,
  category: (opportunity) => opportunity.category,
  source: (opportunity) => opportunity.source,
};

/**
 * An owner, stage, category or source by id, external identifier or name. The API has no list of them, so the
 * candidates are those in the opportunities.
 * @throws ChangeRefused with the candidates
 */
export async function resolveReference(
  tenant: Tenant,
  what: ReferenceField,
  requested: string,
  call: ToolCall,
): Promise<Reference> {
  const { records, coverage } = await tenant.collection('opportunity', call);
  return pickOne({ field: what, requested, candidates: knownValues(what, records), coverage });
}

function knownValues(what: ReferenceField, opportunities: readonly Opportunity[]): Candidate[] {
  const known = new Map<string, Candidate & { names: Set<string>; otherIdentifiers: unknown[] }>();
  for (const opportunity of opportunities) {
    const ref = refOf[what](opportunity);
    if (!ref?.id) continue;
    const candidate = known.get(ref.id) ?? {
      id: ref.id,
      names: new Set(),
      otherIdentifiers: [],
      deleted: false,
    };
    // Of several names, the last one is shown, and all are matched.
    if (ref.name) candidate.names.add(ref.name);
    candidate.otherIdentifiers.push(ref.externalIdentifier);
    known.set(ref.id, { ...candidate, name: ref.name ?? candidate.name });
  }
  return [...known.values()];
}

/** The name of a record by id, from what was read last and may be read by the caller. */
export function knownName(tenant: Tenant, field: string, id: string): string | undefined {
  const opportunities = tenant.cached('opportunity') ?? [];
  if (field === 'owner' || field === 'stage' || field === 'source')
    return knownValues(field, opportunities).find((it) => it.id === id)?.name;
  if (!isOneOf(['company', 'contact', 'category'] as const, field)) return undefined;
  if (!tenant.grants.has(`${field}:read`)) return undefined;
  const records: readonly ApiRecord[] = tenant.cached(field) ?? [];
  const record = records.find((it) => it.id === id);
  return record && contactName(record);
}

/** Another candidate for this field whose name is the same or looks the same. */
export async function findLookAlike(
  tenant: Tenant,
  field: string,
  { id, name = id }: Reference,
  call: ToolCall,
): Promise<Reference | undefined> {
  const { looksLike } = await import('../text/look-alikes.ts');
  const isAlike = looksLike(name);
  const others = (await candidatesFor(tenant, field, id, call)).filter(
    (it) => it.id !== id && !it.deleted,
  );
  const found = others.find((it) =>
    [it.name ?? '', ...(it.names ?? [])].some((other) => isAlike(other)),
  );
  return found && referenceTo(found);
}

/** For contacts, only those of the same company: people of different companies often share a name. */
async function candidatesFor(
  tenant: Tenant,
  field: string,
  id: string,
  call: ToolCall,
): Promise<readonly Candidate[]> {
  if (field === 'company') {
    return (await tenant.collection('company', call)).records.map(candidateOf);
  }
  if (field === 'contact') {
    const { records } = await tenant.collection('contact', call);
    const companyId = records.find((it) => it.id === id)?.companyId;
    const colleagues = records.filter((it) => it.companyId === companyId);
    return colleagues.map((it) => contactCandidate(it, undefined));
  }
  if (!isOneOf(referenceFields, field)) return [];
  return knownValues(field, (await tenant.collection('opportunity', call)).records);
}

const hasName = ({ name, names }: Candidate, requested: string): boolean =>
  equalsFolded(name, requested) ||
  [...(names ?? [])].some((other) => equalsFolded(other, requested));

/** A name only matches a contact of the company, if that is known. */
function matchKindOf(candidate: Candidate, requested: string): MatchKind | undefined {
  if (candidate.id === requested) return 'id';
  if (candidate.otherIdentifiers.some((one) => equalsFolded(one, requested))) return 'identifier';
  return candidate.isPreferred !== false && hasName(candidate, requested) ? 'name' : undefined;
}

/** @throws ChangeRefused unless exactly one candidate matches and is not deleted */
async function pickOne(search: NameSearch): Promise<Reference> {
  const { field, requested, candidates, coverage } = search;
  const tests = matchKinds.map((kind) => (it: Candidate) => matchKindOf(it, requested) === kind);
  const found = runSteps(bestMatches(candidates, tests, ({ deleted }) => deleted));
  const by = found && matchKinds[found.by];
  const current = found?.current ?? [];
  const [match] = current.length > 1 ? preferredOnly(current) : current;
  if (match && by === 'name' && !coverage.complete) throw incompleteError(search, current);
  if (match) return referenceTo(match);
  if (current.length > 1) {
    throw candidatesRefusal(
      wording`Several are called ${quote(requested)} as ${field}: say which by id.`,
      current,
    );
  }
  const others = candidates.filter((it) => hasName(it, requested) && !it.deleted);
  throw found ? deletedError(search, others) : await notFoundError(search, others);
}

const referenceTo = ({ id, name }: Candidate): Reference =>
  name === undefined ? { id } : { id, name };

/** Of several contacts with the same e-mail address or name, the only one of the company, if there is one. */
function preferredOnly(current: readonly Candidate[]): readonly Candidate[] {
  const near = current.filter((it) => it.isPreferred);
  return near.length === 1 ? near : [];
}

function deletedError(
  { field, requested }: NameSearch,
  others: readonly Candidate[],
): ChangeRefused {
  const reason = wording`The ${field} ${quote(requested)} has been deleted.`;
  return others.length > 0 ? candidatesRefusal(reason, others) : new ChangeRefused(reason);
}

/** @param others candidates of this name that do not belong to the company */
async function notFoundError(
  { field, requested, candidates }: NameSearch,
  others: readonly Candidate[],
): Promise<ChangeRefused> {
  if (others.length > 0) {
    return candidatesRefusal(
      wording`The company has no ${field} ${quote(requested)}, but others have: say which by id.`,
      others,
    );
  }
  const similar = await similarCandidates(requested, candidates);
  return candidatesRefusal(wording`There is no ${field} ${quote(requested)}.`, similar);
}

const incompleteError = (
  { field, requested, coverage: { read, total, reason } }: NameSearch,
  current: readonly Candidate[],
): ChangeRefused =>
  candidatesRefusal(
    wording`Only ${read} of ${total} records could be read (${trusted(reason ?? 'for an unknown reason')}), so it is not certain that just one ${field} is called ${quote(requested)}: say it by id.`,
    current,
  );

/** Suggestions: all candidates if there are few, otherwise those that look similar or share a word. */
async function similarCandidates(
  requested: string,
  candidates: readonly Candidate[],
): Promise<readonly Candidate[]> {
  const current = candidates.filter(({ deleted }) => !deleted);
  if (current.length <= maxCandidates) return current;
  const { looksLike } = await import('../text/look-alikes.ts');
  const isAlike = looksLike(requested);
  const words = requested
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2);
  return current.filter(
    ({ name = '' }) => isAlike(name) || words.some((word) => name.toLowerCase().includes(word)),
  );
}

function candidatesRefusal(reason: Wording, candidates: readonly Candidate[]): ChangeRefused {
  const shown = candidates
    .slice(0, maxCandidates)
    .map(({ id, name, hint }) => ({ id, name, hint }));
  return shown.length === 0
    ? new ChangeRefused(wording`${reason} Look it up with cpq_find or a list first.`)
    : new ChangeRefused(reason, { candidates: shown });
}
