import type { ApiRecord, Company, Contact, Opportunity, Ref } from '../../api/records.ts';
import { nameOfPerson } from '../../briefs/concise.ts';
import { isDeleted } from '../../briefs/outcome.ts';
import type { ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import type { Reference } from './fields.ts';
import { ChangeRefused } from './refusal.ts';

const mostCandidates = 8;

interface Candidate {
  id: string;
  name?: string | undefined;
  /** Other words that mean exactly this one. */
  also: readonly (string | undefined)[];
  /** What tells it from its namesakes. */
  hint?: string | undefined;
  deleted: boolean;
}

const same = (one: string | undefined, other: string): boolean =>
  one !== undefined && one.trim().toLowerCase() === other.trim().toLowerCase();

/** A company by id, external identifier or name. @throws ChangeRefused with the candidates */
export async function resolveCompany(
  tenant: Tenant,
  wanted: string,
  call: ToolCall,
): Promise<Reference> {
  const { records } = await tenant.collection('company', call);
  const candidates = records.map((company: Company) => ({
    ...candidateOf(company),
    hint: [company.type, company.address?.city].filter(Boolean).join(', '),
  }));
  return pick('company', wanted, candidates);
}

/**
 * A contact by id, external identifier, e-mail address or name; among namesakes the one of `company`.
 * @throws ChangeRefused with the candidates
 */
export async function resolveContact(
  tenant: Tenant,
  wanted: string,
  company: Reference | undefined,
  call: ToolCall,
): Promise<Reference> {
  const { records } = await tenant.collection('contact', call);
  const there = records.filter((it) => company === undefined || it.companyId === company.id);
  const contacts = there.some((contact) => means(contactCandidate(contact), wanted))
    ? there
    : records;
  return pick('contact', wanted, contacts.map(contactCandidate));
}

const contactCandidate = (contact: Contact): Candidate => ({
  ...candidateOf(contact),
  name: contact.name ?? nameOfPerson(contact),
  also: [contact.externalIdentifier, contact.email],
  hint: [contact.companyName, contact.email].filter(Boolean).join(', '),
});

const candidateOf = (record: ApiRecord): Candidate => ({
  id: record.id ?? '',
  name: record.name,
  also: [record.externalIdentifier],
  deleted: isDeleted(record),
});

type TenantWord = 'owner' | 'stage' | 'category' | 'source';

const refOf: Record<TenantWord, (opportunity: Opportunity) => Ref | undefined> = {
  owner: (opportunity) => opportunity.owner,
  stage: (opportunity) => opportunity.pipelineStage,
  category: (opportunity) => opportunity.category,
  source: (opportunity) => opportunity.source,
};

/**
 * An owner, stage, category or source by id or name. The API lists none of them, so the known ones are
 * those that opportunities carry.
 * @throws ChangeRefused with the known ones
 */
export function resolveWord(
  what: TenantWord,
  wanted: string,
  opportunities: readonly Opportunity[],
): Reference {
  const known = new Map<string, Candidate>();
  for (const opportunity of opportunities) {
    const ref = refOf[what](opportunity);
    if (ref?.id) known.set(ref.id, { id: ref.id, name: ref.name, also: [], deleted: false });
  }
  return pick(what, wanted, [...known.values()]);
}

function means(candidate: Candidate, wanted: string): boolean {
  return (
    candidate.id === wanted ||
    candidate.also.some((word) => same(word, wanted)) ||
    same(candidate.name, wanted)
  );
}

/** The one that is meant: an id wins over an identifier, that over a name. */
function pick(what: string, wanted: string, candidates: readonly Candidate[]): Reference {
  const byId = candidates.filter(({ id }) => id === wanted);
  const byWord = candidates.filter(({ also }) => also.some((word) => same(word, wanted)));
  const byName = candidates.filter(({ name }) => same(name, wanted));
  const found = [byId, byWord, byName].find((some) => some.length > 0) ?? [];
  const alive = found.filter(({ deleted }) => !deleted);
  const [only] = alive;
  if (alive.length === 1 && only) {
    return only.name === undefined ? { id: only.id } : { id: only.id, name: only.name };
  }
  if (alive.length > 1)
    throw refusal(`Several are called "${wanted}" as ${what}: say which by id.`, alive);
  if (found.length > 0) throw new ChangeRefused(`The ${what} "${wanted}" has been deleted.`);
  throw refusal(`There is no ${what} "${wanted}".`, closest(wanted, candidates));
}

function closest(wanted: string, candidates: readonly Candidate[]): readonly Candidate[] {
  const alive = candidates.filter(({ deleted }) => !deleted);
  if (alive.length <= mostCandidates) return alive;
  const words = wanted
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word.length > 2);
  return alive.filter(({ name }) => words.some((word) => name?.toLowerCase().includes(word)));
}

function refusal(reason: string, candidates: readonly Candidate[]): ChangeRefused {
  const shown = candidates
    .slice(0, mostCandidates)
    .map(({ id, name, hint }) => ({ id, name, hint }));
  return shown.length === 0
    ? new ChangeRefused(`${reason} Look it up with cpq_find or a list first.`)
    : new ChangeRefused(reason, { candidates: shown });
}
