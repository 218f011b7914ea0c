/** What a write sends for the fields that nobody changes: what the service sent, as it came. */
import { contactName } from '../figures/naming.ts';
import { flatForms, inBothCases } from '../service/records/normalise.ts';
import type { Opportunity } from '../service/records/records.ts';
import { quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isObject } from '../values.ts';
import { sentFields, type WritableField } from './writable-fields.ts';

/** A record as it was read by id. */
export interface Present {
  record: Opportunity;
  /** The same as the service sent it. */
  raw: Readonly<Record<string, unknown>>;
}

/** The value to send back, as it came; of a reference its id. `undefined` for an empty field. */
export function unchangedValue({ kind, property }: WritableField, present: Present): unknown {
  if (kind !== 'reference') return valueUnder(present.raw, inBothCases(property));
  const id = referenceId(property, present);
  return idsIn(present.raw, property).find((one) => String(one) === id) ?? id;
}

/** What the client puts in place of the key. */
const removedKey = '[key]';

/** Why a field that nobody changes cannot be sent back as it is; `undefined` where it can. */
function problemWith({ kind, property }: WritableField, present: Present): Wording | undefined {
  const { raw } = present;
  if (kind !== 'reference')
    return JSON.stringify(valueUnder(raw, inBothCases(property)))?.includes(removedKey)
      ? wording`it contains the API key of this server`
      : undefined;
  const { ids, names } = flatForms(property);
  const id = referenceId(property, present);
  if (id === undefined)
    return [property, ...ids, ...names].every((name) => isBlank(raw[name]))
      ? undefined
      : wording`the service gives no id for it`;
  return idsIn(raw, property).every((one) => String(one) === id)
    ? undefined
    : wording`the service gives two ids for it`;
}

const referenceId = (property: string, { record }: Present): string | undefined => {
  const reference = record[property];
  return isObject(reference) && typeof reference.id === 'string' && reference.id !== ''
    ? reference.id
    : undefined;
};

/** Every id that a record gives for a reference, nested or beside it. */
function idsIn(raw: Present['raw'], property: string): unknown[] {
  const nested = valueUnder(raw, inBothCases(property));
  const inside = isObject(nested) ? [nested.id ?? nested._id] : [];
  return [...inside, ...flatForms(property).ids.map((name) => raw[name])].filter(
    (id) => !isBlank(id),
  );
}

const valueUnder = (raw: Present['raw'], names: readonly string[]): unknown => {
  const name = names.find((it) => raw[it] !== undefined && raw[it] !== null && raw[it] !== '');
  return name === undefined ? undefined : raw[name];
};

/** An empty value, or a list or object without any other. */
const isBlank = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).every(isBlank)
    : value === undefined || value === null || String(value).trim() === '';

/** Refuses, as a sentence, the first field that nobody changes and that cannot be sent back. */
export function describeUnsendable(
  present: Present,
  isRequested: (name: string) => boolean,
): Wording | undefined {
  for (const field of sentFields) {
    const problem = isRequested(field.name) ? undefined : problemWith(field, present);
    if (problem === undefined) continue;
    const [label, name] = [trusted(field.label), trusted(field.name)];
    return wording`${label} is ${quote(shownText(field, present))}, and ${problem}. Every write includes all present values, because the service may clear missing ones, so this value would be lost. Give ${name} in the same call, or change the opportunity in the product.`;
  }
  return undefined;
}

function shownText({ kind, property, readFrom }: WritableField, { record, raw }: Present): string {
  const read = readFrom(record);
  const name = kind === 'reference' && isObject(read) ? (contactName(read) ?? read.id) : undefined;
  const value = name ?? valueUnder(raw, inBothCases(property));
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}
