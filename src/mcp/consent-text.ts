import type { Proposal } from '../changes/consent.ts';
import {
  changedCustomFields,
  customField,
  type FieldChange,
  type FieldValue,
  type Reference,
  referenceOf,
} from '../changes/fields.ts';
import { isCurrencyCode } from '../figures/money.ts';
import {
  join,
  maxNameLength,
  oneLine,
  quoteVerbatim,
  trusted,
  type Wording,
  wording,
} from '../text/untrusted-text.ts';

/** Unchanged characters shown before the difference in a long text. */
const leadInLength = 40;

/** Quotes untrusted text that identifies the record. */
const named = (text: string): Wording => quoteVerbatim(text, maxNameLength);

/** The question put to the person: which fields change, from what to what, and what stays the same. */
export function consentQuestion(proposal: Proposal, host: string): Wording {
  const { changes, currency, remarks } = proposal;
  const lines = changes.map((change) => wording`• ${describeChange(change, currency)}`);
  const notes = remarks.map((remark) => wording`Note: ${remark}`);
  return join(
    [heading(proposal, trusted(host)), ...lines, ...notes, closingSentence(proposal)],
    '\n',
  );
}

function heading({ what, opportunity, company, externalId }: Proposal, host: Wording): Wording {
  const at = company === undefined ? '' : wording` of ${named(company)}`;
  const id = what === 'create' ? quoteVerbatim(externalId) : named(externalId);
  const which = wording`the opportunity ${named(opportunity)}${at} (external identifier ${id}) at ${host}`;
  if (what === 'create') return wording`Create ${which}?`;
  return what === 'revert' ? wording`Take back a change to ${which}?` : wording`Change ${which}?`;
}

function closingSentence({ what }: Proposal): Wording {
  const kept = what === 'create' ? '' : 'Every other field stays as it is. ';
  const reversal = what === 'create' ? 'The API cannot delete it again.' : 'It can be reverted.';
  return wording`${kept}Nothing is sent to a customer, no quote is touched, nothing is deleted. ${reversal}`;
}

const describeCurrency = (currency: string): Wording =>
  isCurrencyCode(currency) ? trusted(currency) : wording`unknown currency`;

/**
 * One field, old → new. The new value is shown whole, as it will be stored; a long old text only around the
 * difference.
 */
export function describeChange(
  { label, kind, from, to }: FieldChange,
  currency: Proposal['currency'] = {},
): Wording {
  const name = trusted(label);
  if (kind === 'custom') return wording`${name}: ${describeCustomFields(from, to)}`;
  if (typeof from === 'string' && typeof to === 'string') {
    return wording`${name}: ${describeTextChange(from, to)}`;
  }
  if (kind === 'reference' && referenceOf(from)?.name === referenceOf(to)?.name)
    return wording`${name}: ${describeNamesakes(from, to)}`;
  const after = describeValue(kind, to, currency.to);
  if (from === undefined) return wording`${name}: ${after}`;
  const before =
    typeof from === 'string' && kind !== 'day'
      ? named(from)
      : describeValue(kind, from, currency.from);
  return wording`${name}: ${arrowText(before, after)}`;
}

/** Two records of one name, or without names. */
function describeNamesakes(from: FieldValue, to: FieldValue): Wording {
  const [before, after] = [from, to].map((value) => {
    const reference = referenceOf(value);
    return reference ? describeReference(reference, true) : wording`(empty)`;
  });
  return arrowText(before ?? wording``, after ?? wording``);
}

/** Says so when the difference is invisible. */
const arrowText = (before: Wording, after: Wording): Wording =>
  before === after
    ? wording`${before} → ${after} (they differ only in characters that are not visible here)`
    : wording`${before} → ${after}`;

function describeValue(kind: FieldChange['kind'], value: FieldValue, currency?: string): Wording {
  if (value === undefined) return wording`(empty)`;
  const reference = kind === 'reference' ? referenceOf(value) : undefined;
  if (reference) return describeReference(reference);
  if (typeof value === 'object' || typeof value === 'boolean')
    return quoteVerbatim(JSON.stringify(value));
  if (typeof value === 'string') return kind === 'day' ? dayOrQuoted(value) : quoteVerbatim(value);
  if (kind === 'share') return wording`${Math.round(value * 1e6) / 1e4} %`;
  if (kind !== 'money') return wording`${value}`;
  const amount = formatMoney(value);
  return currency === undefined ? amount : wording`${amount} ${describeCurrency(currency)}`;
}

const dayOrQuoted = (text: string): Wording =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) ? trusted(text) : quoteVerbatim(text);

/** The name, with the id where the name does not tell which one it is; the id alone where there is no name. */
const describeReference = ({ id, name }: Reference, withId = false): Wording => {
  const known = /^[\w.:-]{1,80}$/.test(id) ? trusted(id) : quoteVerbatim(id);
  if (name === undefined) return known;
  return withId && id !== '' ? wording`${quoteVerbatim(name)} (${known})` : quoteVerbatim(name);
};

/** Formats as 1,234.50 in every locale, since the reader's is unknown; -0 becomes 0. */
const formatMoney = (amount: number): Wording =>
  trusted(
    (amount || 0).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 20 }),
  );

function describeCustomFields(from: FieldValue, to: FieldValue): Wording {
  const all = changedCustomFields(from, to).map((name) => {
    const [before, after] = [customField(from, name), customField(to, name)];
    const [was, is] = [toText(before), toText(after)];
    if (was !== undefined && is !== undefined) {
      return wording`${quoteVerbatim(name)} ${describeTextChange(was, is)}`;
    }
    const replaced = was === undefined ? quotedUnlessScalar(before) : named(was);
    return wording`${quoteVerbatim(name)} ${arrowText(replaced, quotedUnlessScalar(after))}`;
  });
  return join(all, '; ');
}

/** A text, or a list or object as JSON. */
function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
}

/** Numbers are shown without quotation marks, to distinguish 5 from the text “5”. */
function quotedUnlessScalar(value: unknown): Wording {
  if (value === undefined || value === null) return wording`(empty)`;
  if (typeof value === 'object') return quoteVerbatim(JSON.stringify(value));
  return typeof value === 'string' ? quoteVerbatim(value) : trusted(String(value));
}

/** The part of the old text to show; it starts shortly before the first difference if that comes late. */
function describeTextChange(from: string, to: string): Wording {
  const firstDifferent = firstDifference(oneLine(from), oneLine(to));
  const start = firstDifferent < maxNameLength - leadInLength ? 0 : firstDifferent - leadInLength;
  return arrowText(quoteVerbatim(from, maxNameLength, start), quoteVerbatim(to));
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
}
