import { Verbatim } from '../text/untrusted-text.ts';
import { type FieldValue, type Reference, referenceOf } from './fields.ts';
import type { FieldKind } from './writable-fields.ts';

/** A value for an answer: numbers unchanged, texts as stored, references by name and id. */
export function shownValue(kind: FieldKind | undefined, value: FieldValue): number | Verbatim {
  if (typeof value === 'number') return value;
  if (value === undefined) return new Verbatim('(empty)');
  if (typeof value === 'string') return new Verbatim(value);
  const reference = kind === 'reference' ? referenceOf(value) : undefined;
  return new Verbatim(reference ? nameAndId(reference) : JSON.stringify(value));
}

function nameAndId({ id, name }: Reference): string {
  if (name === undefined) return id;
  return id === '' ? name : `${name} (${id})`;
}
