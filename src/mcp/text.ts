/**
 * Cleans untrusted text in results. Record text is written by customers, vendors and integrations; characters
 * that a person cannot see must not reach the model either.
 */

import { visible } from '../text/characters.ts';
import { oneLine, Verbatim, withoutLiveMarkdown, withoutTags } from '../text/untrusted-text.ts';
import { isObject, type JsonObject } from '../values.ts';

/** Maximum length of a field's text; longer text is cut, with its full length. */
const maxText = 2_000;

const looksLikeHtml = /<[a-z!/][^<>]*>|&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,5});/i;
/** A quick test for text that may need cleaning. A single character class, because separate tests take more than twice as long on every text of every answer. */
const mayNeedWork =
  /[^\n\t\u0020-\u0025\u0027-\u003B\u003D-\u005C\u005E-\u007E\u00A1-\u00AC\u00AE-\u02FF]/;

/** Returns visible text without markup. */
type HtmlToText = (html: string) => string;

/** Loaded when markup is found for the first time. */
let converter: HtmlToText | undefined;
let isConverterNeeded = false;

/** Without the converter no `<` can begin an element. */
function convert(html: string): string {
  isConverterNeeded = true;
  return converter ? converter(html) : withoutTags(html);
}

/** What `clean` returns once markup is converted; it is called again if the converter has to be loaded. */
export async function withMarkupConverted<T>(clean: () => T): Promise<T> {
  isConverterNeeded = false;
  const cleaned = clean();
  if (converter || !isConverterNeeded) return cleaned;
  converter = (await import('./html.ts')).htmlToText;
  return clean();
}

/** Removes invisible characters and markup, and limits the length. */
function cleanText(text: string, toText: HtmlToText): string {
  if (text.length <= maxText && !mayNeedWork.test(text)) return text;
  const seen = visible(text);
  const plain = withoutLiveMarkdown(looksLikeHtml.test(seen) ? toText(seen) : seen);
  if (plain.length <= maxText) return plain;
  const shortened = plain.slice(0, maxText).toWellFormed();
  return `${shortened}… [${maxText} of ${plain.length} characters]`;
}

/** A value with every text in it cleaned, field names included; the same one where nothing has to be. */
export const cleaned = (value: unknown, toText: HtmlToText = convert): unknown =>
  isClean(value) ? value : cleanedCopy(value, toText);

/** As `cleaned`. Two names may become equal, and are numbered then. */
export const cleanedRow = (row: JsonObject, toText: HtmlToText = convert): JsonObject =>
  isClean(row) ? row : rowCopy(row, toText);

function isClean(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= maxText && !mayNeedWork.test(value);
  if (typeof value !== 'object' || value === null) return value !== undefined;
  if (Array.isArray(value)) return value.every(isClean);
  if (value instanceof Verbatim || !isObject(value)) return false;
  for (const name in value) if (!isCleanName(name) || !isClean(value[name])) return false;
  return true;
}

function cleanedCopy(value: unknown, toText: HtmlToText): unknown {
  if (typeof value === 'string') return cleanText(value, toText);
  if (Array.isArray(value)) return value.map((entry) => cleaned(entry, toText));
  if (value instanceof Verbatim) return value.toString();
  return isObject(value) ? rowCopy(value, toText) : value;
}

function rowCopy(row: JsonObject, toText: HtmlToText): JsonObject {
  const copy: JsonObject = {};
  let copies = 1;
  for (const name in row) {
    const inner = row[name];
    if (inner === undefined) continue;
    const cleanName = isCleanName(name) ? name : fieldName(name, toText);
    let free = cleanName;
    while (Object.hasOwn(copy, free)) free = `${cleanName} (${++copies})`;
    const value = cleanedCopy(inner, toText);
    if (free !== '__proto__') copy[free] = value;
    else Object.defineProperty(copy, free, { value, enumerable: true });
  }
  return copy;
}

const maxName = 200;
/** The rows of all lists have the same few names. */
const cleanNames = new Set<string>();
const maxCleanNames = 1_000;

function isCleanName(name: string): boolean {
  if (cleanNames.has(name)) return true;
  if (name.length > maxName || mayNeedWork.test(name) || name.includes('\n')) return false;
  if (cleanNames.size < maxCleanNames) cleanNames.add(name);
  return true;
}

/** On one line, since a field name starts a line in the text form. */
function fieldName(name: string, toText: HtmlToText): string {
  const line = oneLine(cleanText(name.slice(0, maxText), toText));
  return line.length > maxName ? `${line.slice(0, maxName).toWellFormed()}…` : line;
}
