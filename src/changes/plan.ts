import { createHash } from 'node:crypto';
import { currencyOfRecord, unknownCurrency } from '../figures/money.ts';
import { normaliseName } from '../figures/naming.ts';
import { currencyCode } from '../service/records/normalise.ts';
import type { Company, Opportunity } from '../service/records/records.ts';
import { readIfExists } from '../tenant/read-collections.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { withoutSecrets } from '../text/secrets.ts';
import {
  identifier,
  maxNameLength,
  quote,
  quoteVerbatim,
  trusted,
  type Wording,
  wording,
} from '../text/untrusted-text.ts';
import { canonicalJson, isObject, parseJson } from '../values.ts';
import type { Proposal } from './consent.ts';
import {
  changedCustomFields,
  changesBetween,
  customField,
  describeUnsendable,
  differingFields,
  type FieldChange,
  type FieldValues,
  fieldValuesOf,
  intendedValues,
  nextReference,
  nextValue,
  type Present,
  type Reference,
  referenceOf,
  roundShare,
  shownValue,
} from './fields.ts';
import { type RecordedChange, readChanges } from './journal.ts';
import { ChangeRefused, refused } from './refusal.ts';
import { findLookAlike, referenceFields, requireExisting, resolveReference } from './resolve.ts';
import {
  nameRecord,
  sampleOf,
  type Target,
  TargetFinder,
  type TenantScale,
  wholeScale,
} from './target.ts';
import { sentFields } from './writable-fields.ts';

/** The changes that would be written, and the state of the record for which they were planned. */
export interface ChangePlan extends Proposal {
  reverts?: string | undefined;
  target: Target;
  before: FieldValues;
  requested: FieldValues;
}

/** @throws ChangeRefused for a name that is unknown or ambiguous, and for a secret: it is written nowhere */
export async function makePlan(
  tenant: Tenant,
  target: Target,
  values: FieldValues,
  call: ToolCall,
): Promise<ChangePlan> {
  if (!target.present && !values.name) throw refused`A new opportunity needs a name.`;
  const written = { ...values, externalId: target.externalId };
  if (withoutSecrets(written) !== written)
    throw refused`A value contains the API key or another secret of this server, which is never written: give the value without it.`;
  const requested = await resolveReferences(tenant, values, currentValues(target), call);
  return buildPlan(tenant, target, requested, call);
}

/** @param requested is already resolved. @throws ChangeRefused for a company or contact that was deleted */
export async function buildPlan(
  tenant: Tenant,
  unnamed: Target,
  requested: FieldValues,
  call: ToolCall,
  reverts?: string,
): Promise<ChangePlan> {
  const { present, externalId } = unnamed;
  const record = present && (await nameRecord(tenant, present.record));
  const isUnsettled = requested.probability !== undefined && !unnamed.scale.certain;
  // Where the first opportunities do not show the scale of a probability, all may.
  const scale = isUnsettled ? await wholeScale(tenant, call) : unnamed.scale;
  const target = {
    ...unnamed,
    scale,
    ...(present && record && { present: { ...present, record } }),
  };
  const values = referencesAsIds(requested);
  const subject = digestOf([tenant.key.identity, externalId, values, reverts, call.caller]);
  const difference = differenceTo(target, requested, subject);
  const { before, changes } = difference;
  return {
    what: reverts === undefined ? (present ? 'change' : 'create') : 'revert',
    opportunity: String(before.name ?? nextValue(changes, 'name') ?? ''),
    company: referenceOf(before.company ?? nextValue(changes, 'company'))?.name,
    ...{ externalId, target, requested, reverts, subject, ...difference },
    ...(await planContext(tenant, target, difference, call)),
  };
}

/**
 * Plans to revert a change: its fields get their old values.
 * @throws ChangeRefused if the change is unknown, was never written, created the opportunity or was reverted
 *   already, or if the opportunity was changed since
 */
export async function planRevert(
  tenant: Tenant,
  changeId: string,
  call: ToolCall,
): Promise<ChangePlan> {
  const { changes } = await readChanges(tenant);
  const change = changes.find(({ intent }) => intent.id === changeId);
  if (!change) throw refused`There is no change ${quote(changeId)}: see cpq_list_changes.`;
  if (change.outcome?.outcome === 'not_written')
    throw refused`That change was never written, so there is nothing to revert.`;
  if (change.intent.what === 'create') {
    const verb = change.outcome?.outcome === 'written' ? 'created' : 'may have created';
    throw new ChangeRefused(
      wording`That change ${verb} the opportunity, and the API cannot delete one. The nearest thing is to close it with a stage of cpq_upsert_opportunity, or in the product, where a person can delete it too.`,
      { opportunity_id: change.outcome?.opportunityId, external_id: change.intent.externalId },
    );
  }
  if (change.revertedBy !== undefined)
    throw refused`That change was reverted already, by ${identifier(change.revertedBy)}. To restore it, revert that one.`;
  const { externalId, opportunityId, changes: made } = change.intent;
  const target = await new TargetFinder(tenant, call).find({ externalId, opportunityId });
  refuseIfChanged(change, currentValues(target));
  return buildPlan(tenant, target, revertValues(made), call, changeId);
}

/**
 * The old value of each changed field; empty values clear the field. Of custom fields, only the changed ones.
 * @throws ChangeRefused for a reference that had no id
 */
function revertValues(changes: readonly FieldChange[]): FieldValues {
  const entries = changes.map(({ field, kind, from, to }): [string, unknown] => {
    if (kind === 'reference' && referenceOf(from)?.id === '')
      throw refused`The service gave no id for the earlier ${trusted(field)}, so it cannot be set again: choose one with cpq_upsert_opportunity.`;
    if (kind !== 'custom') return [field, from];
    const names = changedCustomFields(from, to);
    return [
      field,
      Object.fromEntries(names.map((name) => [name, customField(from, name) ?? null])),
    ];
  });
  return Object.fromEntries(entries);
}

/** A record in its old state is accepted: the change never arrived, or was reverted by hand. */
function refuseIfChanged({ intent, outcome }: RecordedChange, now: FieldValues): void {
  const written = outcome?.after ?? intendedValues(intent.before, intent.changes);
  const changed = differingFields(written, now);
  if (changed.length === 0 || differingFields(intent.before, now).length === 0) return;
  const differences = changed.map(({ name, kind }) => ({
    field: name,
    written: shownValue(kind, written[name]),
    now: shownValue(kind, now[name]),
  }));
  throw new ChangeRefused(
    wording`This opportunity was changed since, so the change is not reverted. If a later change of cpq_list_changes did that, revert that one first; to set its fields anyway, use cpq_upsert_opportunity.`,
    { differences },
  );
}

/** @throws ChangeRefused for a value that cannot be sent back */
export const planAgain = (plan: ChangePlan, target: Target): ChangePlan => ({
  ...plan,
  target,
  ...differenceTo(target, plan.requested, plan.subject),
});

function differenceTo(
  target: Target,
  requested: FieldValues,
  subject: string,
): Pick<ChangePlan, 'before' | 'changes' | 'digest'> {
  const before = currentValues(target);
  const changes = changesBetween(before, requested);
  if (changes.length > 0) refuseUnsendable(target, requested);
  const { id, updatedAt } = target.present?.record ?? {};
  const digest = digestOf([subject, id, updatedAt, referencesAsIds(before)]);
  return { before, changes, digest };
}

const currentValues = ({ present, scale }: Target): FieldValues =>
  present ? fieldValuesOf(present.record, scale.divisor) : {};

const digestOf = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url');

/** Replaces references by ids, so that renaming a record does not change the hash. */
const referencesAsIds = (requested: FieldValues): Record<string, unknown> =>
  Object.fromEntries(
    sentFields.map(({ name, kind }) => {
      const value = requested[name];
      return [name, kind === 'reference' ? referenceOf(value)?.id : value];
    }),
  );

/** Every write includes all present values: one that cannot be sent back as it was read would be lost. */
function refuseUnsendable({ present, scale }: Target, requested: FieldValues): void {
  if (!present) return;
  refuseAmbiguousProbability(present, scale, requested);
  const reason = describeUnsendable(present, requested);
  if (reason !== undefined) throw new ChangeRefused(reason);
  if (!('custom_fields' in requested)) return;
  if (present.record.unreadable?.customFields === undefined) return;
  throw refused`The custom fields of this opportunity are stored in a form that this server cannot change: change them in the product.`;
}

/** Where the scale is unknown, a stored 1 may mean 1 % or 100 %. */
function refuseAmbiguousProbability(
  { record: { probability: stored } }: Present,
  { certain }: TenantScale,
  requested: FieldValues,
): void {
  if (certain || !stored || stored > 1 || 'probability' in requested) return;
  throw refused`The probability of this opportunity is stored as ${stored}, and it is unknown whether that means ${stored} % or ${stored * 100} %. Every write includes the probability: give it in the same call of cpq_upsert_opportunity.`;
}

/** What a person is told beside the changes, with the currency of the present company and of the new one. */
async function planContext(
  tenant: Tenant,
  { present }: Target,
  { before, changes }: Pick<ChangePlan, 'before' | 'changes'>,
  call: ToolCall,
): Promise<Pick<ChangePlan, 'currency' | 'remarks'>> {
  const [company, contact] = [nextReference(changes, 'company'), nextReference(changes, 'contact')];
  const [companyBefore, contactBefore] = [referenceOf(before.company), referenceOf(before.contact)];
  const newCompany = company && (await requireExisting(tenant, 'company', company, call));
  const newContact = contact && (await requireExisting(tenant, 'contact', contact, call));
  const own = ownCurrency(present?.record);
  const from =
    own ?? (isOfMoney(before, changes) ? await currencyOf(tenant, companyBefore, call) : undefined);
  const to = own ?? (newCompany ? currencyIn(newCompany) : from);
  const remarks = await lookAlikes(tenant, changes, call);
  const home = company ?? companyBefore;
  const { companyId, companyName = companyId } = newContact ?? {};
  if (contact && home && companyName !== undefined && companyId !== home.id)
    remarks.unshift(
      wording`the contact ${nameOf(contact)} belongs to another company, ${quoteVerbatim(companyName, maxNameLength)}.`,
    );
  if (company && !contact && contactBefore)
    remarks.unshift(
      wording`the contact stays ${nameOf(contactBefore)}, whom the other company had.`,
    );
  if (hasMoney(before) && from !== undefined && to !== undefined && from !== to)
    remarks.push(
      wording`amounts stay the same numbers, but in ${trusted(to)} instead of ${trusted(from)}.`,
    );
  return { currency: { from, to }, remarks };
}

const nameOf = ({ id, name = id }: Reference): Wording => quoteVerbatim(name, maxNameLength);

/** Warns about names that look alike, because a person may not compare the ids. */
async function lookAlikes(
  tenant: Tenant,
  changes: readonly FieldChange[],
  call: ToolCall,
): Promise<Wording[]> {
  const remarks: Wording[] = [];
  for (const field of referenceFields) {
    const chosen = nextReference(changes, field);
    const other = chosen && (await findLookAlike(tenant, field, chosen, call));
    if (!other) continue;
    remarks.push(
      wording`another ${field} has the name ${nameOf(chosen)}, or one that looks the same: ${quoteVerbatim(other.name ?? '')} (${identifier(other.id ?? '')}).`,
    );
  }
  return remarks;
}

/** Whether the question shows an amount, or a company whose currency the amounts get. */
const isOfMoney = (before: FieldValues, changes: readonly FieldChange[]): boolean =>
  changes.some(({ kind }) => kind === 'money') ||
  (nextReference(changes, 'company') !== undefined && hasMoney(before));

const hasMoney = (before: FieldValues): boolean =>
  sentFields.some(({ name, kind }) => kind === 'money' && before[name] !== undefined);

/** That of the opportunity itself, which stays where its company changes. */
const ownCurrency = ({ currency }: Partial<Opportunity> = {}): string | undefined =>
  currency ? currencyOfRecord({ currency }, new Map()) : undefined;

async function currencyOf(
  tenant: Tenant,
  company: Reference | undefined,
  call: ToolCall,
): Promise<string | undefined> {
  if (!company || !tenant.grants.has('company:read')) return undefined;
  const known = tenant.cached('company')?.find(({ id }) => id === company.id);
  const record = known ?? (await readIfExists(tenant, 'company', 'id', company.id, call));
  return record && currencyIn(record);
}

/** A value that is not a currency code is shown as unknown. */
const currencyIn = ({ currency, unreadable }: Company): string | undefined =>
  unreadable?.currency === undefined ? currencyCode(currency) : unknownCurrency;

async function resolveReferences(
  tenant: Tenant,
  values: FieldValues,
  before: FieldValues,
  call: ToolCall,
): Promise<FieldValues> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const requested: Record<string, unknown> = Object.fromEntries(given);
  for (const field of referenceFields) {
    const text = requested[field];
    const company = referenceOf(requested.company ?? before.company);
    if (text) requested[field] = await resolveReference(tenant, field, String(text), company, call);
  }
  if (typeof requested.probability === 'number')
    requested.probability = roundShare(requested.probability);
  if (isObject(requested.custom_fields)) {
    requested.custom_fields = await coerceCustomFields(
      tenant,
      requested.custom_fields,
      before.custom_fields,
      call,
    );
  }
  return requested;
}

/**
 * Gives custom fields the names, in any letter case, and the types that they have in this opportunity, or else in others.
 * @throws ChangeRefused for a new name that looks like one in use
 */
async function coerceCustomFields(
  tenant: Tenant,
  given: Record<string, unknown>,
  present: unknown,
  call: ToolCall,
): Promise<Record<string, unknown>> {
  const own = valuesInUse([{ customFields: isObject(present) ? present : {} }]);
  const isAbsent = (name: string): boolean => nameIn(own, name) === undefined;
  const others = Object.keys(given).some(isAbsent) ? (await sampleOf(tenant, call)).records : [];
  const all = new Map([...valuesInUse(others), ...own]);
  const named = Object.entries(given).map(
    ([name, value]) => [nameIn(own, name) ?? nameIn(all, name) ?? name, value] as const,
  );
  const newNames = named.flatMap(([name]) => (all.has(name) ? [] : name));
  if (newNames.length > 0) await refuseLookAlikes(newNames, [...all.keys()]);
  return Object.fromEntries(
    named.map(([name, value]) => [
      name,
      typeof value === 'string' ? coerceToTypeOf(all.get(name) ?? [], value) : value,
    ]),
  );
}

/** @throws ChangeRefused for a name that looks like one in use */
async function refuseLookAlikes(names: readonly string[], used: readonly string[]): Promise<void> {
  const { looksLike } = await import('../text/look-alikes.ts');
  for (const name of names) {
    const other = used.find(looksLike(name));
    if (other === undefined) continue;
    throw refused`No opportunity has a custom field of exactly the name ${quote(name)}, but there is ${quote(other)}, which looks the same: give the exact name.`;
  }
}

/** This name, or the only one that differs from it in letter case. */
function nameIn(known: ReadonlyMap<string, unknown>, given: string): string | undefined {
  if (known.has(given)) return given;
  const matches = [...known.keys()].filter((it) => normaliseName(it) === normaliseName(given));
  return matches.length === 1 ? matches[0] : undefined;
}

/** The values of each custom field by its name; an empty list where it is always null. */
function valuesInUse(
  records: readonly Pick<Opportunity, 'customFields'>[],
): ReadonlyMap<string, readonly unknown[]> {
  const values = new Map<string, unknown[]>();
  for (const { customFields = {} } of records)
    for (const [name, value] of Object.entries(customFields)) {
      const known = values.get(name) ?? [];
      if (value !== null) known.push(value);
      values.set(name, known);
    }
  return values;
}

/** The value that the text means as JSON, if it has the type of all these values; else the text. */
function coerceToTypeOf(values: readonly unknown[], text: string): unknown {
  const parsed = parseJson(text);
  const hasTypeOf = (value: unknown): boolean =>
    typeof parsed === typeof value && Array.isArray(parsed) === Array.isArray(value);
  const isText = typeof parsed === 'string' || parsed === null || values.length === 0;
  // `JSON.parse` reads 1e400 as Infinity, which would be sent as null.
  const isTooLarge =
    /\de\+?\d{3}/i.test(text) || text.split(/\D+/).some(({ length }) => length > 308);
  return !isText && values.every(hasTypeOf) && !isTooLarge ? parsed : text;
}
