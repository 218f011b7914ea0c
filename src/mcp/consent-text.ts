import type { Proposal } from '../changes/consent.ts';
import {
  changedCustomFields,
  customField,
  type FieldChange,
  type Reference,
  referenceOf,
} from '../changes/fields.ts';
import { dayOf } from '../figures/days.ts';
import { compact } from '../figures/fields.ts';
import { isCurrencyCode } from '../figures/money.ts';
import { countInvisible, visible } from '../text/characters.ts';
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

/** The same question in pieces, with old texts whole. */
export function questionPieces(proposal: Proposal, host: string): Record<string, unknown> {
  const { what, opportunity, company, externalId, changes, currency, remarks } = proposal;
  return {
    what,
    opportunity: named(opportunity),
    ...(company === undefined ? {} : { company: named(company) }),
    externalId: quoteVerbatim(externalId),
    host,
    changes: changes.flatMap((change) =>
      differencesOf(change, currency, Number.POSITIVE_INFINITY).map(
        ({ name, isUnseen, ...shown }) => ({
          field: change.field,
          label: name === undefined ? change.label : `${change.label} ${name}`,
          from: emptyValue,
          ...shown,
          ...(isUnseen && looksAlike(shown) && { differs: unseenDifference }),
        }),
      ),
    ),
    remarks,
    closing: closingSentence(proposal),
  };
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

/** One value, old → new, as a person reads it. */
interface Difference extends StoredTexts {
  /** Of a custom field. */
  name?: Wording;
  /** Absent where there was none before; that need not be said. */
  from?: Wording;
  to: Wording;
  /** Old and new look the same. */
  isUnseen: boolean;
}

/** Texts as they are stored, for a view, which needs not quote them; one with invisible characters is quoted. */
interface StoredTexts {
  fromText?: string;
  toText?: string;
}

const storedTexts = (from: unknown, to: unknown): StoredTexts =>
  // A change that is taken back writes an old text again, whatever it contains.
  compact({ fromText: wholeText(from), toText: wholeText(to) });

const wholeText = (text: unknown): string | undefined =>
  typeof text === 'string' && countInvisible(text) === 0 ? text : undefined;

const looksAlike = ({ fromText, toText }: StoredTexts): boolean =>
  fromText === undefined || toText === undefined || inSpaces(fromText) === inSpaces(toText);

const inSpaces = (text: string): string => visible(text).replaceAll('\t', ' ');

const emptyValue = wording`(empty)`;
const unseenDifference = wording`they differ only in characters that are not visible here`;

/** The new value is shown whole, as it will be stored; a long old text only around the difference. */
export function describeChange(change: FieldChange, currency: Proposal['currency'] = {}): Wording {
  const differences = differencesOf(change, currency, maxNameLength).map(describeDifference);
  return wording`${trusted(change.label)}: ${join(differences, '; ')}`;
}

function describeDifference({ name, from, to, isUnseen }: Difference): Wording {
  const of = name === undefined ? '' : wording`${name} `;
  const before = from === undefined ? '' : wording`${from} → `;
  return wording`${of}${before}${to}${isUnseen ? wording` (${unseenDifference})` : ''}`;
}

/** The differences of a field: one of each custom field that changes. @param maxOld of an old text */
function differencesOf(
  { kind, from, to }: FieldChange,
  currency: Proposal['currency'],
  maxOld: number,
): Difference[] {
  if (kind === 'custom') {
    return changedCustomFields(from, to).map((name) => {
      const [was, is] = [customField(from, name), customField(to, name)];
      const shown = { ...customDifference(was, is, maxOld), ...storedTexts(was, is) };
      return { name: quoteVerbatim(name), ...shown };
    });
  }
  const stored = kind === 'text' ? storedTexts(from, to) : {};
  if (kind === 'text' && typeof from === 'string' && typeof to === 'string')
    return [{ ...textDifference(from, to, maxOld), ...stored }];
  if (kind === 'reference' && referenceOf(from)?.name === referenceOf(to)?.name)
    return [difference(describeNamesake(from), describeNamesake(to))];
  const after = describeValue(kind, to, currency.to);
  if (from === undefined) return [{ to: after, isUnseen: false, ...stored }];
  const isText = typeof from === 'string' && kind !== 'day';
  const before = isText ? quoteVerbatim(from, maxOld) : describeValue(kind, from, currency.from);
  return [{ ...difference(before, after), ...stored }];
}

const difference = (from: Wording, to: Wording): Difference => ({
  from,
  to,
  isUnseen: from === to,
});

/** One of two records of one name, or without names. */
function describeNamesake(value: unknown): Wording {
  const reference = referenceOf(value);
  return reference ? describeReference(reference, true) : emptyValue;
}

/** Numbers are shown without quotation marks, to distinguish 5 from the text “5”. */
function describeValue(kind: FieldChange['kind'], value: unknown, currency?: string): Wording {
  if (value === undefined || value === null) return emptyValue;
  const reference = kind === 'reference' ? referenceOf(value) : undefined;
  if (reference) return describeReference(reference);
  if (typeof value === 'object') return quoteVerbatim(JSON.stringify(value));
  if (typeof value === 'string') return kind === 'day' ? dayOrQuoted(value) : quoteVerbatim(value);
  if (typeof value !== 'number') return trusted(String(value));
  if (kind === 'share') return wording`${Math.round(value * 1e6) / 1e4} %`;
  if (kind !== 'money') return wording`${value}`;
  const amount = formatMoney(value);
  if (currency === undefined) return amount;
  return wording`${amount} ${isCurrencyCode(currency) ? trusted(currency) : 'unknown currency'}`;
}

/** Formats as 29 Oct 2026; what is no day is quoted. */
function dayOrQuoted(text: string): Wording {
  if (dayOf(text) !== text) return quoteVerbatim(text);
  const [, day, month, year] = new Date(text).toUTCString().split(' ');
  return trusted(`${Number(day)} ${month} ${year}`);
}

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

function customDifference(before: unknown, after: unknown, maxOld: number): Difference {
  const [was, is] = [toText(before), toText(after)];
  if (was !== undefined && is !== undefined) return textDifference(was, is, maxOld);
  const replaced = was === undefined ? describeValue('text', before) : quoteVerbatim(was, maxOld);
  return difference(replaced, describeValue('text', after));
}

/** A text, or a list or object as JSON. */
function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
}

/** Of an old text that is too long, the part from shortly before the first difference. */
function textDifference(from: string, to: string, maxOld: number): Difference {
  const [old, next] = [oneLine(from), oneLine(to)];
  let at = 0;
  while (at < old.length && old[at] === next[at]) at += 1;
  const start = at < maxOld - leadInLength ? 0 : at - leadInLength;
  return difference(quoteVerbatim(from, maxOld, start), quoteVerbatim(to));
}
