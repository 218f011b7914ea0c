/** Reads raw records, and tells whether their fields are those that this server knows. */

import { join, quote, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import { isObject, type JsonObject } from '../../values.ts';
import { ApiError, type ErrorFacts } from '../errors.ts';
import { type Fields, namesOf, normalise, ref } from './normalise.ts';
import { fieldsOf, quoteItem, type RecordOf, type Resource } from './records.ts';

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

const knownNames = new Map<Resource | 'quote_item', ReadonlySet<string>>();

/** Whether this server reads a field of that name. */
function isKnownField(kind: Resource | 'quote_item', name: string): boolean {
  const known = knownNames.get(kind) ?? namesOf(kind === 'quote_item' ? quoteItem : fieldsOf[kind]);
  knownNames.set(kind, known);
  return known.has(name);
}

const nestedCompany = { company: ref };

/** Reads the company of a contact from a nested record or a name, if it is not in `companyId` and `companyName`. */
function takeCompany(contact: Record<string, unknown>): void {
  const { company } = normalise({ company: contact.company }, nestedCompany);
  if (company?.id !== undefined) contact.companyId ||= company.id;
  if (company?.name !== undefined) contact.companyName ||= company.name;
}

type RecordKind = Resource | 'quote_item';

/** A property that nearly every record of a kind has, and the fields that can contain it. */
interface Essential {
  readonly what: string;
  readonly fields: readonly string[];
  readonly isNumber?: boolean;
}

const essentials: { readonly [K in RecordKind]?: readonly Essential[] } = {
  company: [{ what: 'name', fields: ['name'] }],
  contact: [{ what: 'name', fields: ['lastName', 'firstName', 'email', 'name'] }],
  opportunity: [
    { what: 'name', fields: ['name'] },
    { what: 'stage', fields: ['pipelineStage', 'statusId'] },
    { what: 'revenue', fields: ['onetimeRevenue', 'monthlyRevenue'], isNumber: true },
  ],
  product: [
    { what: 'name', fields: ['name', 'mpn'] },
    { what: 'price', fields: ['price', 'cost', 'msrp'], isNumber: true },
  ],
  quote: [
    { what: 'number', fields: ['number', 'title', 'name'] },
    { what: 'status', fields: ['status', 'sentAt', 'approvedAt', 'declinedAt', 'expiredAt'] },
  ],
  quote_item: [
    { what: 'price', fields: ['price', 'setupPrice'], isNumber: true },
    { what: 'quantity', fields: ['quantity'], isNumber: true },
  ],
};

/** A property that no record has in a known field, while unknown fields may contain it. */
export interface Unrecognized {
  kind: RecordKind;
  /** Such as `stage`. */
  what: string;
  /** Names of the service's own fields. */
  unknownFields: string[];
}

const maxFields = 6;
/** Among this many records at least one is expected to have an amount. */
const minForAmounts = 5;

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
  for (const { fields } of essentials[resource] ?? []) if (areFound(records, fields)) return;
  if (records.some((record) => isMostlyKnown(resource, record))) return;
  const unknown = unknownFields(resource, first);
  const isKnown = Object.keys(first).some((field) => isInformative(resource, field));
  if (records.length === 1 && (isKnown || unknown.length === 0)) return;
  throw new ApiError('unfamiliar', { ...facts, unknownFields: unknown });
}

/** The properties that these records, and the items in them, have in no known field. */
export function findUnrecognized(kind: RecordKind, records: readonly JsonObject[]): Unrecognized[] {
  const [first] = records;
  if (!first) return [];
  const found: Unrecognized[] = [];
  for (const { what, fields, isNumber = false } of essentials[kind] ?? []) {
    if (areFound(records, fields)) continue;
    // A few opportunities may all lack a revenue; an item always has a price.
    if (isNumber && kind !== 'quote_item' && records.length < minForAmounts) continue;
    const candidates = unknownFields(kind, first, isNumber ? isAmount : isLabel);
    if (candidates.length > 0) found.push({ kind, what, unknownFields: candidates });
  }
  if (kind === 'quote') {
    const withItems = records.find(({ items }) => Array.isArray(items) && items.length > 0);
    const items = withItems?.items as JsonObject[] | undefined;
    found.push(...findUnrecognized('quote_item', items ?? []));
  }
  return found;
}

/** A sentence for each of them. */
export const describeUnrecognized = (
  resource: Resource,
  records: readonly JsonObject[],
): Wording[] =>
  findUnrecognized(resource, records).map(({ kind, what, unknownFields }) => {
    const fields = unknownFields.map((field) => quote(field, 60));
    return wording`The service's records look different from what this server knows: no ${trusted(kind.replaceAll('_', ' '))} has a ${trusted(what)} in a known field, so figures that need it are missing or 0. Unknown fields: ${join(fields, ', ')}.`;
  });

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

function unknownFields(
  kind: RecordKind,
  { unreadable, ...record }: JsonObject,
  accepts: (value: unknown) => boolean = () => true,
): string[] {
  const misread = isObject(unreadable) ? unreadable : {};
  const unknown = Object.entries(record).filter(([field]) => !isKnownField(kind, field));
  return [...unknown, ...Object.entries(misread)]
    .filter(([, value]) => accepts(value))
    .map(([field]) => field)
    .slice(0, maxFields);
}

const isAmount = (value: unknown): boolean =>
  typeof value === 'number' ||
  isObject(value) ||
  (typeof value === 'string' && /^[\d.,]+$/.test(value));
const isLabel = (value: unknown): boolean =>
  isObject(value) || (typeof value === 'string' && value !== '');
