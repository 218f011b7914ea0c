import type { ApiRecord, Company, Contact, Opportunity, RecordOf, Ref } from '../../api/records.ts';
import { contactName, fold } from '../../briefs/naming.ts';
import { isDeleted } from '../../briefs/outcome.ts';
import { identifier, quote, trusted, type Wording, wording } from '../../outside-text.ts';
import { firstUnseen } from '../../text/characters.ts';
import { interactive, type ToolCall } from '../call.ts';
import type { Coverage } from '../reading/coverage.ts';
import { type Naming, readIfThere, surest } from '../resolve.ts';
import type { Tenant } from '../tenant.ts';
import type { Reference } from './fields.ts';
import { ChangeRefused } from './refusal.ts';

const mostCandidates = 8;

interface Candidate {
  id: string;
  name?: string | undefined;
  /** Other names that it goes by. */
  names?: ReadonlySet<string> | undefined;
  /** Other words that mean exactly this one. */
  also: readonly unknown[];
  /** What tells it from its namesakes. */
  hint?: string | undefined;
  deleted: boolean;
  /** Whether it is the company's own, where the company is known. */
  near?: boolean;
}

type What = 'company' | 'contact' | TenantWord;

/** What is meant, and among which. */
interface Search {
  what: What;
  wanted: string;
  candidates: readonly Candidate[];
  coverage: Coverage;
}

const same = (one: unknown, other: string): boolean =>
  typeof one === 'string' && one.trim() !== '' && fold(one) === fold(other);

/** A company by id, external identifier or name. @throws ChangeRefused with the candidates */
export async function resolveCompany(
  tenant: Tenant,
  wanted: string,
  call: ToolCall,
): Promise<Reference> {
  const { records, coverage } = await tenant.collection('company', call);
  const what = 'company';
  const candidates = records.map(companyCandidate);
  if (candidates.some((it) => namingOf(it, wanted))) {
    return pick({ what, wanted, candidates, coverage });
  }
  const late = (await lookUp(tenant, what, wanted, call)).map(companyCandidate);
  return pick({ what, wanted, candidates: renewed(candidates, late), coverage });
}

/**
 * A contact by id, external identifier, e-mail address or name; a name means one of `company`, where
 * that is known.
 * @throws ChangeRefused with the candidates
 */
export async function resolveContact(
  tenant: Tenant,
  wanted: string,
  company: Reference | undefined,
  call: ToolCall,
): Promise<Reference> {
  const { records, coverage } = await tenant.collection('contact', call);
  const what = 'contact';
  const candidateOf = (contact: Contact) => contactCandidate(contact, company);
  const candidates = records.map(candidateOf);
  if (candidates.some((it) => namingOf(it, wanted))) {
    return pick({ what, wanted, candidates, coverage });
  }
  const late = (await lookUp(tenant, what, wanted, call)).map(candidateOf);
  return pick({ what, wanted, candidates: renewed(candidates, late), coverage });
}

const renewed = (known: readonly Candidate[], late: readonly Candidate[]): Candidate[] => [
  ...known.filter(({ id }) => !late.some((it) => it.id === id)),
  ...late,
];

/** A held collection is minutes old: what is not in it may have been made since. */
async function lookUp<R extends 'company' | 'contact'>(
  tenant: Tenant,
  resource: R,
  wanted: string,
  call: ToolCall,
): Promise<RecordOf[R][]> {
  const found = await tenant.client.page(resource, { size: 25, query: wanted }, interactive(call));
  const [byId, byWord] = firstUnseen(wanted, { joiners: true })
    ? []
    : [
        await readIfThere(tenant, resource, 'id', wanted, call),
        await readIfThere(tenant, resource, 'externalIdentifier', wanted, call),
      ];
  const records = [...found.records, byId, byWord].filter((record) => record !== undefined);
  return [...new Map(records.map((record) => [record.id, record])).values()];
}

const companyCandidate = (company: Company): Candidate => ({
  ...candidateOf(company),
  hint: [company.type, company.address?.city].filter(Boolean).join(', '),
});

const contactCandidate = (contact: Contact, company: Reference | undefined): Candidate => ({
  ...candidateOf(contact),
  name: contactName(contact),
  also: [contact.externalIdentifier, contact.email],
  hint: [contact.companyName, contact.email].filter(Boolean).join(', '),
  near: company === undefined || contact.companyId === company.id,
});

const candidateOf = (record: ApiRecord): Candidate => ({
  id: record.id ?? '',
  name: record.name,
  also: [record.externalIdentifier],
  deleted: isDeleted(record),
});

/**
 * A company or contact that is to be written, as it is now: one that was deleted since it was looked up
 * is not written.
 * @throws ChangeRefused when it is gone
 */
export async function stillThere<R extends 'company' | 'contact'>(
  tenant: Tenant,
  resource: R,
  { id, name = id }: Reference,
  call: ToolCall,
): Promise<RecordOf[R]> {
  const record = await readIfThere(tenant, resource, 'id', id, call);
  const kind = trusted(resource);
  if (!record)
    throw new ChangeRefused(
      wording`There is no ${kind} ${quote(name)} (${identifier(id)}) any more.`,
    );
  if (isDeleted(record))
    throw new ChangeRefused(wording`The ${kind} ${quote(name)} has been deleted.`);
  return record;
}

export const tenantWords = ['owner', 'stage', 'category', 'source'] as const;
type TenantWord = (typeof tenantWords)[number];

const refOf: Record<TenantWord, (opportunity: Opportunity) => Ref | undefined> = {
  owner: (opportunity) => opportunity.owner,
  stage: (opportunity) => opportunity.pipelineStage,
  category: (opportunity) => opportunity.category,
  source: (opportunity) => opportunity.source,
};

/**
 * An owner, stage, category or source by id, external identifier or name. The API lists none of them, so
 * the known ones, and what is known of them, are those that opportunities carry.
 * @throws ChangeRefused with the known ones
 */
export async function resolveWord(
  tenant: Tenant,
  what: TenantWord,
  wanted: string,
  call: ToolCall,
): Promise<Reference> {
  const { records, coverage } = await tenant.collection('opportunity', call);
  return pick({ what, wanted, candidates: knownWords(what, records), coverage });
}

function knownWords(what: TenantWord, opportunities: readonly Opportunity[]): Candidate[] {
  const known = new Map<string, Candidate & { names: Set<string>; also: unknown[] }>();
  for (const opportunity of opportunities) {
    const ref = refOf[what](opportunity);
    if (!ref?.id) continue;
    const word = known.get(ref.id) ?? { id: ref.id, names: new Set(), also: [], deleted: false };
    // Where it goes by several names, the last one seen is shown, and all are understood.
    if (ref.name) word.names.add(ref.name);
    if (ref.externalIdentifier) word.also.push(ref.externalIdentifier);
    known.set(ref.id, { ...word, name: ref.name ?? word.name });
  }
  return [...known.values()];
}

/** Another record that could be written to this field, and whose name is the same or looks the same. */
export async function lookAlikeOf(
  tenant: Tenant,
  field: string,
  { id, name = id }: Reference,
  call: ToolCall,
): Promise<Reference | undefined> {
  const { looksLike } = await import('../../text/look-alikes.ts');
  const isAlike = looksLike(name);
  const others = (await candidatesFor(tenant, field, id, call)).filter(
    (it) => it.id !== id && !it.deleted,
  );
  const found = others.find((it) =>
    [it.name ?? '', ...(it.names ?? [])].some((other) => isAlike(other)),
  );
  return found && referenceTo(found);
}

/** Of the contacts those of the same company: people of one name are many. */
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
  const word = tenantWords.find((it) => it === field);
  return word ? knownWords(word, (await tenant.collection('opportunity', call)).records) : [];
}

const isCalled = ({ name, names }: Candidate, wanted: string): boolean =>
  same(name, wanted) || [...(names ?? [])].some((other) => same(other, wanted));

/** By a name only where it is the company's own, if the company is known. */
function namingOf(candidate: Candidate, wanted: string): Naming | undefined {
  if (candidate.id === wanted) return 'id';
  if (candidate.also.some((word) => same(word, wanted))) return 'identifier';
  return candidate.near !== false && isCalled(candidate, wanted) ? 'name' : undefined;
}

/** The one that is meant, alive and certainly alone. */
async function pick({ what, wanted, candidates, coverage }: Search): Promise<Reference> {
  const found = surest(
    candidates,
    (it) => namingOf(it, wanted),
    ({ deleted }) => deleted,
  );
  const { by, alive } = found ?? { by: undefined, alive: [] };
  const [only] = alive.length > 1 ? onlyNear(alive) : alive;
  if (only && by === 'name' && !coverage.complete) throw uncertain(what, wanted, coverage, alive);
  if (only) return referenceTo(only);
  const named = candidates.filter((it) => isCalled(it, wanted));
  throw await notOne(what, wanted, { found: found?.all ?? [], alive, named, candidates });
}

const referenceTo = ({ id, name }: Candidate): Reference =>
  name === undefined ? { id } : { id, name };

/** Several share an e-mail address or a name: the company's own is meant, where it has just one. */
function onlyNear(alive: readonly Candidate[]): readonly Candidate[] {
  const near = alive.filter((it) => it.near === true);
  return alive.some((it) => it.near === false) && near.length === 1 ? near : [];
}

interface Findings {
  found: readonly Candidate[];
  alive: readonly Candidate[];
  named: readonly Candidate[];
  candidates: readonly Candidate[];
}

async function notOne(
  what: What,
  wanted: string,
  { found, alive, named, candidates }: Findings,
): Promise<ChangeRefused> {
  if (alive.length > 1) {
    return refusal(
      wording`Several are called ${quote(wanted)} as ${what}: say which by id.`,
      alive,
    );
  }
  const elsewhere = named.filter(({ deleted }) => !deleted);
  if (found.length > 0) {
    const reason = wording`The ${what} ${quote(wanted)} has been deleted.`;
    return elsewhere.length > 0 ? refusal(reason, elsewhere) : new ChangeRefused(reason);
  }
  if (elsewhere.length > 0) {
    const reason = wording`The company has no ${what} ${quote(wanted)}, but others have: say which by id.`;
    return refusal(reason, elsewhere);
  }
  return refusal(wording`There is no ${what} ${quote(wanted)}.`, await closest(wanted, candidates));
}

const uncertain = (
  what: What,
  wanted: string,
  { read, total, reason }: Coverage,
  alive: readonly Candidate[],
): ChangeRefused =>
  refusal(
    wording`Only ${read} of ${total} records could be read (${trusted(reason ?? 'for an unknown reason')}), so it is not certain that just one ${what} is called ${quote(wanted)}: say it by id.`,
    alive,
  );

/** What could be meant: all where they are few; otherwise what looks the same, or shares a word. */
async function closest(
  wanted: string,
  candidates: readonly Candidate[],
): Promise<readonly Candidate[]> {
  const alive = candidates.filter(({ deleted }) => !deleted);
  if (alive.length <= mostCandidates) return alive;
  const { looksLike } = await import('../../text/look-alikes.ts');
  const isAlike = looksLike(wanted);
  const words = wanted
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2);
  return alive.filter(
    ({ name = '' }) => isAlike(name) || words.some((word) => name.toLowerCase().includes(word)),
  );
}

function refusal(reason: Wording, candidates: readonly Candidate[]): ChangeRefused {
  const shown = candidates
    .slice(0, mostCandidates)
    .map(({ id, name, hint }) => ({ id, name, hint }));
  return shown.length === 0
    ? new ChangeRefused(wording`${reason} Look it up with cpq_find or a list first.`)
    : new ChangeRefused(reason, { candidates: shown });
}
