import { visible } from '../text/characters.ts';
import { oneLine, Verbatim, withoutLiveMarkdown } from '../text/untrusted-text.ts';
import { isObject, type JsonObject } from '../values.ts';

/**
 * Cleans untrusted text in results. Record text is written by customers, vendors and integrations; characters
 * that a person cannot see must not reach the model either.
 */

/** Maximum length of a field's text; longer text is cut, with its full length. */
const maxText = 2_000;

const looksLikeHtml = /<[a-z!/][^<>]*>|&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,5});/i;
/** A quick test for text that may need cleaning. A single character class, because separate tests take more than twice as long on every text of every answer. */
const mayNeedWork =
  /[^\n\t\u0020-\u0025\u0027-\u003B\u003D-\u005C\u005E-\u007E\u00A1-\u00AC\u00AE-\u02FF]/;

/** Returns visible text without markup. */
type HtmlToText = (html: string) => string;

/** The HTML converter, if loaded, and whether markup was found without it. */
export interface Markup {
  toText?: HtmlToText | undefined;
  found?: boolean;
}

/** Removes invisible characters and markup, and limits the length. */
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

/** Cleans every text in a value, field names included; copies only what changes. */
export function cleaned(value: unknown, markup: Markup = {}): unknown {
  if (typeof value === 'string') return cleanText(value, markup);
  if (Array.isArray(value)) return cleanedList(value, markup);
  if (value instanceof Verbatim) return value.toString();
  return isObject(value) ? cleanedRow(value, markup) : value;
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

/** Cleans every text in a row, as `cleaned` does. */
export function cleanedRow(row: JsonObject, markup: Markup = {}): JsonObject {
  let copy: JsonObject | undefined;
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

function fieldsBefore(end: string, row: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const name in row) {
    if (name === end) break;
    setField(copy, name, row[name]);
  }
  return copy;
}

/** Last suffix used per name; searching from the start each time would be quadratic. */
const takenNames = new WeakMap<JsonObject, Map<string, number>>();

function nextFree(row: JsonObject, name: string): string {
  const taken = takenNames.get(row) ?? new Map<string, number>();
  takenNames.set(row, taken);
  let suffix = (taken.get(name) ?? 1) + 1;
  while (Object.hasOwn(row, `${name} (${suffix})`)) suffix += 1;
  taken.set(name, suffix);
  return `${name} (${suffix})`;
}

/** Sets a field under an unused name: two names may become equal when cleaned. */
function setField(row: JsonObject, name: string, value: unknown): void {
  const free = Object.hasOwn(row, name) ? nextFree(row, name) : name;
  if (free !== '__proto__') row[free] = value;
  else {
    const plain = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(row, free, plain);
  }
}

const maxName = 200;
/** Names that are clean as they are: the rows of a list have the same ones. */
const cleanNames = new Set<string>();
const maxCleanNames = 1_000;

function isClean(name: string): boolean {
  if (cleanNames.has(name)) return true;
  if (name.length > maxName || mayNeedWork.test(name) || name.includes('\n')) return false;
  if (cleanNames.size < maxCleanNames) cleanNames.add(name);
  return true;
}

/** On one line, since a field name starts a line in the text form. */
const fieldName = (name: string, markup: Markup): string => {
  const line = oneLine(cleanText(name.slice(0, maxText), markup));
  return line.length > maxName ? `${line.slice(0, maxName).toWellFormed()}…` : line;
};
