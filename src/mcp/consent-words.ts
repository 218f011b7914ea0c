import type { Proposal } from '../tenant/changes/consent.ts';
import {
  changedCustom,
  entryOf,
  type FieldChange,
  type FieldValue,
  type Reference,
} from '../tenant/changes/fields.ts';
import type { Remark } from '../tenant/changes/plan.ts';
import { visible } from './text.ts';

/** Longest stretch of a text that is shown; of a longer one its beginning, or where it changes. */
const longestQuote = 240;
/** What is shown before the place where a long text changes. */
const leadIn = 40;

/** A proposal in plain words for the person who decides: what changes, from what to what, and what does not. */
export function inWords(proposal: Proposal, host: string): string {
  const { changes, currency, remarks } = proposal;
  const lines = changes.map((change) => `• ${changeInWords(change, currency)}`);
  const notes = remarks.map((remark) => `Note: ${remarkInWords(remark)}`);
  return [heading(proposal, host), ...lines, ...notes, nothingElse(proposal)].join('\n');
}

function heading({ what, opportunity, company, externalId }: Proposal, host: string): string {
  const at = company === undefined ? '' : ` of ${quoted(company)}`;
  const which = `the opportunity ${quoted(opportunity)}${at} (external identifier ${quoted(externalId)}) at ${host}`;
  if (what === 'create') return `Create ${which}?`;
  return what === 'revert' ? `Take back a change to ${which}?` : `Change ${which}?`;
}

function nothingElse({ what }: Proposal): string {
  const kept = what === 'create' ? '' : 'Every other field stays as it is. ';
  const way = what === 'create' ? 'The API cannot delete it again.' : 'It can be taken back.';
  return `${kept}Nothing is sent to a customer, no quote is touched, nothing is deleted. ${way}`;
}

function remarkInWords(remark: Remark): string {
  switch (remark.about) {
    case 'contact elsewhere':
      return `the contact ${quoted(remark.contact)} belongs to another company, ${quoted(remark.company)}.`;
    case 'contact stays':
      return `the contact stays ${quoted(remark.contact)}, whom the other company had.`;
    case 'currency':
      return `amounts stay the same numbers, but in ${remark.to} instead of ${remark.from}.`;
    case 'look-alike':
      return `another ${remark.label.toLowerCase()} has the name ${quoted(remark.name)}, or one that looks the same: ${referenceInWords({ id: remark.id, name: remark.other })}.`;
    case 'cannot be sent':
      return `${remark.label} is ${quoted(remark.value)} without an id, so it cannot be sent along: the service may clear it.`;
  }
}

/** One field, old → new; customer text is quoted and shortened. */
export function changeInWords(
  { label, kind, from, to }: FieldChange,
  currency: Proposal['currency'] = {},
): string {
  if (kind === 'custom') return `${label}: ${customInWords(from, to)}`;
  if (typeof from === 'string' && typeof to === 'string') {
    return `${label}: ${textsInWords(from, to)}`;
  }
  const after = valueInWords(kind, to, currency.to);
  if (from === undefined) return `${label}: ${after}`;
  return `${label}: ${told(valueInWords(kind, from, currency.from), after)}`;
}

/** Nobody can agree to a difference that does not show. */
const told = (before: string, after: string): string =>
  before === after
    ? `${before} → ${after} (they differ, in what cannot be seen here)`
    : `${before} → ${after}`;

function valueInWords(kind: FieldChange['kind'], value: FieldValue, currency?: string): string {
  if (value === undefined) return '(empty)';
  if (kind === 'reference') return referenceInWords(value as Reference);
  if (typeof value === 'object') return quoted(JSON.stringify(value));
  if (typeof value === 'string') return kind === 'day' ? plainDay(value) : quoted(value);
  if (kind === 'share') return `${Math.round(value * 1e6) / 1e4} %`;
  if (kind !== 'money') return String(value);
  return `${moneyInWords(value)}${currency === undefined ? '' : ` ${visible(currency)}`}`;
}

const plainDay = (text: string): string => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? text : quoted(text));

const referenceInWords = ({ id, name }: Reference): string => {
  const known = /^[\w.:-]{1,80}$/.test(id) ? id : quoted(id);
  if (name === undefined) return known;
  return id === '' ? quoted(name) : `${quoted(name)} (${known})`;
};

/** The same for every reader, because the server does not know theirs: 1,234.50. There is no -0. */
const moneyInWords = (amount: number): string =>
  (amount || 0).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 20 });

function customInWords(from: FieldValue, to: FieldValue): string {
  const all = changedCustom(from, to).map((name) => {
    const [before, after] = [entryOf(from, name), entryOf(to, name)];
    const [was, is] = [asText(before), asText(after)];
    if (was !== undefined && is !== undefined) return `${quoted(name)} ${textsInWords(was, is)}`;
    return `${quoted(name)} ${told(plain(before), plain(after))}`;
  });
  return all.join('; ');
}

/** What may be long: a text, or a list or object written out. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
}

/** A number stands without quotation marks: the text “5” is not the number 5. */
function plain(value: unknown): string {
  if (value === undefined || value === null) return '(empty)';
  if (typeof value === 'object') return quoted(JSON.stringify(value));
  return typeof value === 'string' ? quoted(value) : String(value);
}

/** Two texts, each from shortly before the place where they part if that would not show otherwise. */
function textsInWords(from: string, to: string): string {
  const [before, after] = [oneLine(from), oneLine(to)];
  const parting = firstDifference(before, after);
  const start = parting < longestQuote - leadIn ? 0 : parting - leadIn;
  return told(stretch(from, before, start), stretch(to, after, start));
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
}

/** A stranger's text in one line, between marks that it cannot close. */
const quoted = (text: string): string => stretch(text, oneLine(text), 0);

function stretch(text: string, line: string, start: number): string {
  const shown = line.slice(start, start + longestQuote).toWellFormed();
  const whole = start === 0 && line.length <= longestQuote;
  const [head, tail] = [start > 0 ? '…' : '', start + longestQuote < line.length ? '…' : ''];
  const notes = [
    ...(whole ? [] : [`${line.length.toLocaleString('en-US')} characters`]),
    ...hidden(text),
  ];
  const note = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
  return isolated(`“${head}${shown}${tail}”`) + note;
}

/** How many characters of a text are there without being seen. */
function hidden(text: string): string[] {
  const unseen = text.replaceAll('\r\n', '\n').length - visible(text).length;
  return unseen > 0 ? [`${unseen} that cannot be seen`] : [];
}

/** Line breaks show as a mark; quotation marks that could pass for the closing one become plain. */
const oneLine = (text: string): string =>
  visible(text)
    .replace(/\s+/g, oneBlank)
    .replace(/[“”„‟❝❞〝〞〟＂]/g, '"');

/** A pattern for blanks before a line break would start anew at each of them, and take the square of their number. */
const oneBlank = (blanks: string): string =>
  blanks.includes('\n') ? ' ⏎ ' : ' '.repeat(blanks.length);

/** Scripts that run from right to left: without the isolates they would turn what stands beside them. */
const fromTheRight =
  /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const isolated = (text: string): string => (fromTheRight.test(text) ? `\u2068${text}\u2069` : text);
