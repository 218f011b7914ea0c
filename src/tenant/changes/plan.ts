import { createHash } from 'node:crypto';
import { isObject } from '../../api/envelope.ts';
import { currencyCode, unknownCurrency } from '../../briefs/money.ts';
import { fold } from '../../briefs/naming.ts';
import { quote, wording } from '../../outside-text.ts';
import type { ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import {
  canBeSent,
  canonical,
  differenceOf,
  entryOf,
  type FieldChange,
  type FieldValue,
  type Reference,
  type Snapshot,
  sentFields,
  snapshotOf,
  tidy,
  type Wanted,
} from './fields.ts';
import { ChangeRefused } from './refusal.ts';
import {
  lookAlikeOf,
  resolveCompany,
  resolveContact,
  resolveWord,
  stillThere,
  tenantWords,
} from './resolve.ts';
import type { Target } from './target.ts';

/** What a person should know beside the difference. */
export type Remark =
  /** The contact that is to be written belongs to another company. */
  | { about: 'contact elsewhere'; contact: string; company: string }
  /** Another company is to be written, and the contact stays. */
  | { about: 'contact stays'; contact: string }
  /** The amounts stay the same numbers, in another currency. */
  | { about: 'currency'; from: string; to: string }
  /** Another record of the kind is called the same, or looks as if it were. */
  | { about: 'look-alike'; label: string; name: string; other: string; id: string }
  /** A value that the service gives without an id, and that cannot be sent back. */
  | { about: 'cannot be sent'; label: string; value: string };

/** Exactly what would be written, to what, as it is now. */
export interface Plan {
  target: Target;
  before: Snapshot;
  wanted: Wanted;
  changes: readonly FieldChange[];
  /** Of the company that the opportunity has now, and of the one that it would have. */
  currency: { from?: string | undefined; to?: string | undefined };
  remarks: readonly Remark[];
  /** What is asked for, whatever the record holds. */
  wish: string;
  /** The wish, the record's state that the difference was made from, and the difference. */
  digest: string;
}

/**
 * Resolves every name, compares with the record as it is, and says what would change. `values` are by
 * field name; references by id, external identifier or name.
 * @throws ChangeRefused for a name that is unknown or ambiguous
 */
export async function makePlan(
  tenant: Tenant,
  target: Target,
  values: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<Plan> {
  if (!target.record && !values.name)
    throw new ChangeRefused(wording`A new opportunity needs a name.`);
  return planOf(tenant, target, await resolveAll(tenant, values, beforeOf(target), call), call);
}

/**
 * The plan towards values that need no resolving, as when a change is taken back.
 * @throws ChangeRefused for a company or contact that was deleted
 */
export async function planOf(
  tenant: Tenant,
  target: Target,
  wanted: Wanted,
  call: ToolCall,
): Promise<Plan> {
  const before = beforeOf(target);
  refuseDoubtfulProbability(target, before, wanted);
  const changes = differenceOf(before, wanted);
  const { currency, remarks } = await surroundings(tenant, before, changes, call);
  const wish = digestOf([tenant.identity, target.externalId, withoutNames(wanted)]);
  const { id, updatedAt } = target.record ?? {};
  const digest = digestOf([wish, id, updatedAt, before, changes]);
  return { target, before, wanted, changes, currency, remarks, wish, digest };
}

const beforeOf = ({ record, scale }: Target): Snapshot =>
  record ? snapshotOf(record, scale.divisor) : {};

const digestOf = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('base64url');

/** A reference means the same record whatever that is called by now. */
const withoutNames = (wanted: Wanted): Record<string, unknown> =>
  Object.fromEntries(
    sentFields
      .filter(({ name }) => name in wanted)
      .map(({ name, kind }) => {
        const value = wanted[name];
        return [name, kind === 'reference' ? (value as Reference | undefined)?.id : value];
      }),
  );

/**
 * What is there goes back with every write, as 0–1. A stored 1 that may be 1 % or certain would be
 * written wrong without anybody having asked for it.
 */
function refuseDoubtfulProbability({ record, scale }: Target, before: Snapshot, wanted: Wanted) {
  const stored = record?.probability;
  const certain = scale.certain || stored === undefined || stored === 0 || stored > 1;
  if (certain || 'probability' in wanted || before.probability === undefined) return;
  throw new ChangeRefused(
    wording`The probability of this opportunity is stored as ${stored}, and nothing tells whether this tenant means ${stored} % or ${stored * 100} %. Every write sends it along: say probability in the same call of cpq_upsert_opportunity.`,
  );
}

async function surroundings(
  tenant: Tenant,
  before: Snapshot,
  changes: readonly FieldChange[],
  call: ToolCall,
): Promise<Pick<Plan, 'currency' | 'remarks'>> {
  const next = (name: string) =>
    changes.find(({ field }) => field === name)?.to as Reference | undefined;
  const [company, contact] = [next('company'), next('contact')];
  const moved = company && (await stillThere(tenant, 'company', company, call));
  const person = contact && (await stillThere(tenant, 'contact', contact, call));
  const from = await currencyOf(tenant, before.company as Reference | undefined, call);
  const currency = { from, to: moved ? codeOf(moved.currency) : from };
  const home = (company ?? before.company) as Reference | undefined;
  const remarks: (Remark | undefined)[] = [
    contact && elsewhere(contact, person?.companyId, person?.companyName, home),
    company && !contact ? staying(before.contact as Reference | undefined) : undefined,
    otherCurrency(before, currency),
    ...(await lookAlikes(tenant, changes, call)),
    ...unsendable(before, changes),
  ];
  return { currency, remarks: remarks.filter((remark) => remark !== undefined) };
}

function elsewhere(
  contact: Reference,
  companyId: string | undefined,
  companyName: string | undefined,
  home: Reference | undefined,
): Remark | undefined {
  if (!home || companyId === undefined || companyId === home.id) return undefined;
  const company = companyName ?? companyId;
  return { about: 'contact elsewhere', contact: contact.name ?? contact.id, company };
}

/** Who reads a name, and not the id beside it, takes the one for the other. */
async function lookAlikes(
  tenant: Tenant,
  changes: readonly FieldChange[],
  call: ToolCall,
): Promise<Remark[]> {
  const remarks: Remark[] = [];
  for (const { field, label, kind, to } of changes) {
    if (kind !== 'reference' || to === undefined) continue;
    const chosen = to as Reference;
    const other = await lookAlikeOf(tenant, field, chosen, call);
    if (!other) continue;
    const name = chosen.name ?? chosen.id;
    remarks.push({ about: 'look-alike', label, name, other: other.name ?? '', id: other.id });
  }
  return remarks;
}

const staying = (contact: Reference | undefined): Remark | undefined =>
  contact && { about: 'contact stays', contact: contact.name ?? contact.id };

function otherCurrency(before: Snapshot, { from, to }: Plan['currency']): Remark | undefined {
  const money = sentFields.some(({ name, kind }) => kind === 'money' && before[name] !== undefined);
  if (!money || from === undefined || to === undefined || from === to) return undefined;
  return { about: 'currency', from, to };
}

const unsendable = (before: Snapshot, changes: readonly FieldChange[]): Remark[] =>
  sentFields
    .filter(({ name, kind }) => !canBeSent(kind, before[name]))
    .filter(({ name }) => !changes.some(({ field }) => field === name))
    .map(({ name, label }) => {
      const value = (before[name] as Reference).name ?? '';
      return { about: 'cannot be sent', label, value };
    });

async function currencyOf(
  tenant: Tenant,
  company: Reference | undefined,
  call: ToolCall,
): Promise<string | undefined> {
  if (!company || !tenant.grants.has('company:read')) return undefined;
  const { records } = await tenant.collection('company', call);
  return codeOf(records.find(({ id }) => id === company.id)?.currency);
}

/** What is no code is told as unknown, whatever the record says. */
const codeOf = (currency: string | undefined): string | undefined =>
  currency && (currencyCode(currency) ?? unknownCurrency);

async function resolveAll(
  tenant: Tenant,
  values: Readonly<Record<string, unknown>>,
  before: Snapshot,
  call: ToolCall,
): Promise<Wanted> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const wanted: Record<string, FieldValue> = Object.fromEntries(given) as Wanted;
  if (wanted.company) wanted.company = await resolveCompany(tenant, String(wanted.company), call);
  if (wanted.contact) {
    const company = (wanted.company ?? before.company) as Reference | undefined;
    wanted.contact = await resolveContact(tenant, String(wanted.contact), company, call);
  }
  for (const what of tenantWords) {
    if (wanted[what]) wanted[what] = await resolveWord(tenant, what, String(wanted[what]), call);
  }
  if (typeof wanted.probability === 'number') wanted.probability = tidy(wanted.probability);
  if (isObject(wanted.custom_fields)) {
    const named = ofPresentKinds(wanted.custom_fields, before.custom_fields);
    await refuseLookAlikeFields(tenant, Object.keys(named), call);
    wanted.custom_fields = named;
  }
  return wanted;
}

/**
 * Custom fields are given as text: one that holds a number, a switch or a list now goes on doing so, and
 * one that is there is meant in whatever letter case it is named.
 */
function ofPresentKinds(
  given: Record<string, unknown>,
  present: FieldValue,
): Record<string, unknown> {
  const known = Object.keys(isObject(present) ? present : {});
  const entries = Object.entries(given).map(([said, text]) => {
    const alike = known.filter((name) => fold(name) === fold(said));
    const name = known.includes(said) || alike.length !== 1 ? said : (alike[0] ?? said);
    return [name, typeof text === 'string' ? ofKind(text, entryOf(present, name)) : text];
  });
  return Object.fromEntries(entries);
}

/** A new custom field beside one that looks the same would hold what everybody looks for in the other. */
async function refuseLookAlikeFields(
  tenant: Tenant,
  names: readonly string[],
  call: ToolCall,
): Promise<void> {
  const { looksLike } = await import('../../text/look-alikes.ts');
  const { records } = await tenant.collection('opportunity', call);
  const used = new Set(records.flatMap(({ customFields }) => Object.keys(customFields ?? {})));
  for (const name of names.filter((it) => !used.has(it))) {
    const isAlike = looksLike(name);
    const other = [...used].find((it) => isAlike(it) && fold(it) !== fold(name));
    if (other === undefined) continue;
    throw new ChangeRefused(
      wording`No opportunity has a custom field of exactly the name ${quote(name)}, but there is ${quote(other)}, which looks the same: say which is meant.`,
    );
  }
}

function ofKind(text: string, now: unknown): unknown {
  if (typeof now === 'string' || now === undefined || text.trim() === '') return text;
  try {
    const read: unknown = JSON.parse(text);
    const alike = typeof read === typeof now && Array.isArray(read) === Array.isArray(now);
    // A number beyond all numbers would be sent as nothing.
    const canBeSaid = read !== null && read !== Infinity && read !== -Infinity;
    return alike && canBeSaid ? read : text;
  } catch {
    return text; // A text where there was none: shown as one.
  }
}
