import { visible } from '../text/characters.ts';
import { oneLine, Verbatim, withoutLiveMarkdown } from '../text/untrusted-text.ts';

/**
 * Text from strangers, on its way out. Record text is written by customers, vendors and integrations;
 * whatever cannot be seen by the person who reads it must not reach the model either.
 */

/** Longest text of one field; longer ones are cut and say how long they were. */
const maxText = 2_000;

const looksLikeHtml = /<[a-z!/][^<>]*>|&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,5});/i;
/** One class, without `<`, `&` and the `]` of every Markdown link and image: told apart they take more than twice the time, on every text of every answer. */
const mayNeedWork =
  /[^\n\t\u0020-\u0025\u0027-\u003B\u003D-\u005C\u005E-\u007E\u00A1-\u00AC\u00AE-\u02FF]/;

/** What it returns can be seen, and is no markup. */
export type HtmlToText = (html: string) => string;

/** How markup is made text, and whether any was met where that was not known. */
export interface Markup {
  toText?: HtmlToText | undefined;
  found?: boolean;
}

/** One text as it may leave: seen, without markup, not endless. */
function cleanText(text: string, markup: Markup): string {
  if (text.length <= maxText && !mayNeedWork.test(text)) return text;
  const seen = visible(text);
  const plain = withoutLiveMarkdown(looksLikeHtml.test(seen) ? withoutMarkup(seen, markup) : seen);
  if (plain.length <= maxText) return plain;
  const shortened = plain.slice(0, maxText).toWellFormed();
  return `${shortened}… [${maxText} of ${plain.length} characters]`;
}

function withoutMarkup(text: string, markup: Markup): string {
  if (markup.toText) return markup.toText(text);
  markup.found = true;
  return text;
}

type Row = Record<string, unknown>;

/** The same with every text, names of fields included, as it may leave; copied only where that differs. */
export function cleaned(value: unknown, markup: Markup = {}): unknown {
  if (typeof value === 'string') return cleanText(value, markup);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Verbatim) return value.toString();
  return Array.isArray(value) ? cleanedList(value, markup) : cleanedRow(value as Row, markup);
}

function cleanedList(list: readonly unknown[], markup: Markup): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const clean = cleaned(list[at], markup);
    if (!copy && clean !== list[at]) copy = list.slice(0, at);
    if (copy) copy.push(clean);
  }
  return copy ?? list;
}

function cleanedRow(row: Row, markup: Markup): Row {
  let copy: Row | undefined;
  for (const name in row) {
    const inner = row[name];
    const clean = inner === undefined ? undefined : cleaned(inner, markup);
    const cleanName = isClean(name) ? name : fieldName(name, markup);
    if (!copy && (clean === undefined || clean !== inner || cleanName !== name)) {
      copy = fieldsBefore(name, row);
    }
    if (copy && clean !== undefined) setField(copy, cleanName, clean);
  }
  return copy ?? row;
}

function fieldsBefore(end: string, row: Row): Row {
  const copy: Row = {};
  for (const name in row) {
    if (name === end) break;
    setField(copy, name, row[name]);
  }
  return copy;
}

/** How often each name was taken already: looking from the start each time takes the square of their number. */
const takenNames = new WeakMap<Row, Map<string, number>>();

function nextFree(row: Row, name: string): string {
  const taken = takenNames.get(row) ?? new Map<string, number>();
  takenNames.set(row, taken);
  let turn = (taken.get(name) ?? 1) + 1;
  while (Object.hasOwn(row, `${name} (${turn})`)) turn += 1;
  taken.set(name, turn);
  return `${name} (${turn})`;
}

/** Under a name that is free: two names may be one when what cannot be seen is gone. */
function setField(row: Row, name: string, value: unknown): void {
  const free = Object.hasOwn(row, name) ? nextFree(row, name) : name;
  if (free !== '__proto__') row[free] = value;
  else {
    const plain = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(row, free, plain);
  }
}

const maxName = 200;
const isClean = (name: string): boolean =>
  name.length <= maxName && !mayNeedWork.test(name) && !name.includes('\n');

/** In one line: the name of a field begins a line of its own in the text of an answer. */
const fieldName = (name: string, markup: Markup): string => {
  const line = oneLine(cleanText(name.slice(0, maxText), markup));
  return line.length > maxName ? `${line.slice(0, maxName).toWellFormed()}…` : line;
};
