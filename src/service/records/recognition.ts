/** Reads raw records, and tells which of their fields this server knows. */

import type { JsonObject } from '../../values.ts';
import { type Fields, namesOf, normalise, ref } from './normalise.ts';
import {
  fieldsOf,
  type Kind,
  marks,
  mayBeCalled,
  type RecordOf,
  type Resource,
} from './records.ts';

/**
 * Types and normalises one raw record in place: numeric strings become numbers, enumeration values lower case,
 * labels strings. Empty known fields are removed, unknown fields are kept. Never throws.
 */
export function toRecord<R extends Resource>(resource: R, raw: JsonObject): RecordOf[R] {
  const record = normalise<Fields>(raw, fieldsOf[resource]);
  if (resource === 'contact' && raw.company !== undefined) takeCompany(raw);
  if (resource === 'quote') markCutItems(raw);
  return record;
}

const nestedCompany = { company: ref };

/** Reads the company of a contact from a nested record or a name, if it is not in `companyId` and `companyName`. */
function takeCompany(contact: JsonObject): void {
  const { company } = normalise({ company: contact.company }, nestedCompany);
  if (company?.id !== undefined) contact.companyId ||= company.id;
  if (company?.name !== undefined) contact.companyName ||= company.name;
}

const itemCounts = ['itemCount', 'itemsCount', 'lineCount', 'lineItemCount', 'item_count'];

/** A quote that counts more items than it has: what is left out is in no total. */
function markCutItems(quote: JsonObject): void {
  const { items } = quote;
  if (!Array.isArray(items) || !itemCounts.some((name) => Number(quote[name]) > items.length))
    return;
  quote.unreadable = { ...(quote.unreadable ?? {}), items: 'only some of them' };
  delete quote.items;
}

export const isNothing = (value: unknown): boolean => value === undefined || value === null;

/** Fields beside the id that a record also has which was not given whole, and that most records have others than. */
const nominal: { readonly [K in Kind]?: ReadonlySet<string> } = {
  company: new Set(['id', ...marks]),
  contact: new Set(['id', ...marks]),
  opportunity: new Set(['id', 'name', 'externalIdentifier', ...marks]),
  product: new Set(['id', 'name', 'externalIdentifier', ...marks]),
  quote: new Set(['id', 'name', 'number', 'title', ...marks]),
};

/** Whether it has hardly more than an id. What is deleted may be nothing but that. */
export function isBare(kind: Kind, record: JsonObject): boolean {
  const names = nominal[kind];
  if (!names || record.deletedAt || record.deleted) return false;
  for (const name in record) if (!names.has(name) && !isNothing(record[name])) return false;
  return true;
}

/** The path of the field of the table that a name may mean by its words. */
export function fieldCalled(kind: Kind, name: string): string | undefined {
  const letters = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  return Object.entries(mayBeCalled[kind] ?? {}).find(([, words]) => words.test(letters))?.[0];
}

/** Fields of the table that an envelope may have too. */
export const ofEnvelopes: ReadonlySet<string> = new Set(['id', 'type', 'children']);

/**
 * A quick test: whether each value is of a known form, no other field may be one of the table, and each record has one of
 * the table and more than an id.
 */
export function areRead(kind: Resource, records: readonly JsonObject[]): boolean {
  const known = namesOf(fieldsOf[kind]);
  const others = new Set<string>();
  for (const record of records) {
    let isKnown = false;
    for (const name in record)
      if (!known.has(name)) others.add(name);
      else isKnown ||= !ofEnvelopes.has(name);
    if (!isKnown || isBare(kind, record)) return false;
  }
  for (const name of others)
    if (name === 'unreadable' || fieldCalled(kind, name) !== undefined) return false;
  return true;
}
