/** The records that names and identifiers of a change mean. */
import { contactName, type Named, normaliseName } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { type Candidate, matchSteps, type NameMatch } from '../names/name-filters.ts';
import type { Coverage } from '../reading/coverage.ts';
import type { Company, Contact, RecordOf } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import { maxCandidates, readByRoute, searchRecords } from '../tenant/lookup.ts';
import { readIfExists } from '../tenant/read-collections.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { firstInvisible } from '../text/invisible-characters.ts';
import { identifier, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { type Reference, referenceOf } from './fields.ts';
import { ChangeRefused, partlyRead, refused } from './refusal.ts';

/** A record that is meant, perhaps. */
interface Choice extends Candidate {
  /** Distinguishes records of the same name. */
  hint?: string;
  companyId?: string | undefined;
}

function choiceOf(record: Company & Contact): Choice {
  const { id = '', externalIdentifier, email, companyId, companyName, type, address } = record;
  const name = contactName(record);
  return {
    ...{ id, externalIdentifier, email, companyId, deletedAt: isDeleted(record) },
    ...(name && { name }),
    hint: [type, address?.city, companyName, email].filter(Boolean).join(', '),
  };
}

/** The company before the contact, which is looked for among its contacts. */
export const referenceFields = [
  'company',
  'contact',
  'owner',
  'stage',
  'category',
  'source',
] as const;
type ReferenceField = (typeof referenceFields)[number];

interface Choices {
  choices: readonly Choice[];
  coverage: Coverage;
}

async function choicesFor(tenant: Tenant, field: ReferenceField, call: ToolCall): Promise<Choices> {
  if (field === 'company' || field === 'contact') {
    const { records, coverage } = await tenant.collection(field, call);
    return { choices: records.map(choiceOf), coverage };
  }
  // The API has no list of owners, stages and sources: they are those of the opportunities.
  const { records, coverage } = await tenant.collection('opportunity', call);
  const property = field === 'stage' ? 'pipelineStage' : field;
  const known = new Map<string, Choice>();
  for (const record of records) {
    const ref = referenceOf(record[property]);
    if (ref?.id) known.set(JSON.stringify([ref.id, ref.name]), { ...ref });
  }
  return { choices: [...known.values()], coverage };
}

interface Search extends Choices {
  field: ReferenceField;
  requested: string;
  /** Of the opportunity; a name means contacts of this company only. */
  company: Reference | undefined;
}

/** @param company the company of the opportunity, for a contact. @throws ChangeRefused with the candidates */
export async function resolveReference(
  tenant: Tenant,
  field: ReferenceField,
  requested: string,
  company: Reference | undefined,
  call: ToolCall,
): Promise<Reference> {
  const search = { field, requested, company, ...(await choicesFor(tenant, field, call)) };
  const found = await match(search);
  if (found.kind !== 'none' || (field !== 'company' && field !== 'contact'))
    return pick(search, found);
  const latest = await findLatest(tenant, field, requested, call);
  const known = search.choices.filter(({ id }) => !latest.some((it) => it.id === id));
  const all = { ...search, choices: [...known, ...latest] };
  return pick(all, await match(all));
}

/** What the service finds now: a record may be newer than the cached collection. */
async function findLatest(
  tenant: Tenant,
  field: 'company' | 'contact',
  requested: string,
  call: ToolCall,
): Promise<Choice[]> {
  const { records } = await searchRecords(tenant, field, { query: requested }, call);
  const isInvisible = firstInvisible(requested, { joiners: true });
  const named = isInvisible ? undefined : await readByRoute(tenant, field, requested, call);
  return [...records, ...(named ? [named] : [])].map(choiceOf);
}

/** A contact of another company is found by what identifies it, not by its name. */
async function match({ field, choices, requested, company }: Search): Promise<NameMatch> {
  const find = (among: readonly Choice[]) =>
    runInSlices(matchSteps(requested, among, { byWords: false }));
  if (field !== 'contact' || !company) return find(choices);
  const own = await find(choices.filter(({ companyId }) => companyId === company.id));
  if (own.kind !== 'none') return own;
  const other = await find(choices);
  return other.kind !== 'none' && other.by === 'name' ? own : other;
}

/** @throws ChangeRefused unless exactly one matches and is not deleted */
function pick(search: Search, found: NameMatch): Reference {
  const { field, requested, choices, coverage } = search;
  if (found.kind === 'several') {
    const reason = wording`Several are called ${quote(requested)} as ${field}: say which by id.`;
    throw refusal(reason, search, found.candidates);
  }
  if (found.kind === 'none') {
    const others = choices.filter(
      ({ name, deletedAt }) => !deletedAt && normaliseName(name) === normaliseName(requested),
    );
    throw others.length === 0
      ? refusal(wording`There is no ${field} ${quote(requested)}.`, search, found.candidates)
      : refusal(
          wording`The company has no ${field} ${quote(requested)}, but others have: say which by id.`,
          search,
          others,
        );
  }
  const { id = '', name, deleted } = found.match;
  if (deleted) throw refused`The ${field} ${quote(requested)} has been deleted.`;
  if (found.by === 'name' && !coverage.complete) {
    throw refusal(
      wording`${partlyRead(coverage, 'records')}, so it is not certain that just one ${field} is called ${quote(requested)}: say it by id.`,
      search,
      [found.match],
    );
  }
  return name === undefined ? { id } : { id, name };
}

function refusal(
  reason: Wording,
  { choices }: Search,
  candidates: readonly Named[],
): ChangeRefused {
  if (candidates.length === 0) return refused`${reason} Look it up with cpq_find or a list first.`;
  const shown = candidates.slice(0, maxCandidates).map(({ id, name }) => {
    const known = choices.find((choice) => choice.id === id);
    return { id, name, hint: known?.hint };
  });
  return new ChangeRefused(reason, { candidates: shown });
}

/** @throws ChangeRefused if it was deleted */
export async function requireExisting<R extends 'company' | 'contact'>(
  tenant: Tenant,
  resource: R,
  { id, name = id }: Reference,
  call: ToolCall,
): Promise<RecordOf[R]> {
  const record = await readIfExists(tenant, resource, 'id', id, call);
  const kind = trusted(resource);
  if (!record) throw refused`There is no ${kind} ${quote(name)} (${identifier(id)}) any more.`;
  if (isDeleted(record)) throw refused`The ${kind} ${quote(name)} has been deleted.`;
  return record;
}

/** Another record for this field whose name is the same or looks the same. */
export async function findLookAlike(
  tenant: Tenant,
  field: ReferenceField,
  { id, name = id }: Reference,
  call: ToolCall,
): Promise<Choice | undefined> {
  const { looksLike } = await import('../text/look-alikes.ts');
  const isAlike = looksLike(name);
  const { choices } = await choicesFor(tenant, field, call);
  // People of different companies often share a name.
  const companyId = choices.find((it) => it.id === id)?.companyId;
  return choices.find(
    (it) =>
      it.id !== id &&
      !it.deletedAt &&
      (field !== 'contact' || it.companyId === companyId) &&
      isAlike(it.name ?? ''),
  );
}
