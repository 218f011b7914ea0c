import { Verbatim } from '../../text/untrusted-text.ts';
import type { FieldValue, Reference } from './fields.ts';

/** A value for an answer: numbers unchanged, texts as stored, references by name and id. */
export function shownValue(value: FieldValue): number | Verbatim {
  if (typeof value === 'number') return value;
  return new Verbatim(asText(value));
}

function asText(value: Exclude<FieldValue, number>): string {
  if (value === undefined) return '(empty)';
  if (typeof value !== 'object') return value;
  if (!('id' in value)) return JSON.stringify(value);
  const { id, name } = value as Reference;
  if (name === undefined) return id;
  return id === '' ? name : `${name} (${id})`;
}
