/** Reads raw records, and tells whether their fields are those that this server knows. */

import { isObject, type JsonObject } from '../../values.ts';
import { ApiError, type ErrorFacts } from '../errors.ts';
import { type Fields, namesOf, normalise, ref } from './normalise.ts';
import { fieldsOf, type RecordOf, type Resource } from './records.ts';

/**
 * Types and normalises one raw record in place: numeric strings become numbers, enumeration values lower case,
 * labels strings. Empty known fields are removed, unknown fields are kept. Never throws.
 */
export function toRecord<R extends Resource>(
  resource: R,
  raw: Record<string, unknown>,
): RecordOf[R] {
  const record = normalise<Fields>(raw, fieldsOf[resource]);
  if (resource === 'contact' && raw.company !== undefined) takeCompany(raw);
  if (resource === 'quote') markCutItems(raw);
  return record;
}

const itemCounts = ['itemCount', 'itemsCount', 'lineCount', 'lineItemCount', 'item_count'];

/** A quote that counts more items than it has: what is left out is in no total. */
function markCutItems(quote: Record<string, unknown>): void {
  const { items } = quote;
  if (!Array.isArray(items) || !itemCounts.some((name) => Number(quote[name]) > items.length))
    return;
  quote.unreadable = { ...(quote.unreadable ?? {}), items: 'only some of them' };
  delete quote.items;
}

/** Whether this server reads a field of that name. */
const isKnownField = (resource: Resource, name: string): boolean =>
  namesOf(fieldsOf[resource]).has(name);

const nestedCompany = { company: ref };

/** Reads the company of a contact from a nested record or a name, if it is not in `companyId` and `companyName`. */
function takeCompany(contact: Record<string, unknown>): void {
  const { company } = normalise({ company: contact.company }, nestedCompany);
  if (company?.id !== undefined) contact.companyId ||= company.id;
  if (company?.name !== undefined) contact.companyName ||= company.name;
}

/** Fields of which nearly every record of a kind has one. */
const essentials: { readonly [K in Resource]?: readonly string[] } = {
  company: ['name'],
  contact: ['lastName', 'firstName', 'email', 'name'],
  opportunity: ['name', 'pipelineStage', 'statusId', 'onetimeRevenue', 'monthlyRevenue'],
  product: ['name', 'mpn', 'price', 'cost', 'msrp'],
  quote: [
    ...['number', 'title', 'name', 'status', 'sentAt', 'approvedAt', 'declinedAt', 'expiredAt'],
  ],
};

const maxFields = 6;

/**
 * A single record may have few values, so it is recognized by any known field other than the id.
 * @throws ApiError (`unfamiliar`) where no record has any of the fields that its kind is read by: figures of them
 *   would all be 0
 */
export function requireRecognized(
  resource: Resource,
  records: readonly JsonObject[],
  facts: ErrorFacts,
): void {
  const [first] = records;
  if (!first) return;
  if (areFound(records, essentials[resource] ?? [])) return;
  if (records.some((record) => isMostlyKnown(resource, record))) return;
  const unknown = unknownFields(resource, first);
  const isKnown = Object.keys(first).some((field) => isInformative(resource, field));
  if (records.length === 1 && (isKnown || unknown.length === 0)) return;
  throw new ApiError('unfamiliar', { ...facts, unknownFields: unknown });
}

/** Whether any record has any of these fields; usually the first one has. */
function areFound(records: readonly JsonObject[], fields: readonly string[]): boolean {
  for (const record of records)
    for (const field of fields) if (record[field] !== undefined) return true;
  return false;
}

/** A record may have few values, such as a contact with a telephone only. */
function isMostlyKnown(resource: Resource, record: JsonObject): boolean {
  const known = Object.keys(record).filter((field) => isInformative(resource, field)).length;
  const unknown = unknownFields(resource, record).length;
  // Records of the other kinds may have no fields but an id.
  return essentials[resource] === undefined ? known > 0 || unknown === 0 : known > unknown;
}

const isInformative = (resource: Resource, field: string): boolean =>
  field !== 'id' && field !== 'children' && isKnownField(resource, field);

function unknownFields(resource: Resource, { unreadable, ...record }: JsonObject): string[] {
  const misread = isObject(unreadable) ? unreadable : {};
  const unknown = Object.keys(record).filter((field) => !isKnownField(resource, field));
  return [...unknown, ...Object.keys(misread)].slice(0, maxFields);
}
