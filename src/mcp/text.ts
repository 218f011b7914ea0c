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

/** A quick test for characters that are not seen as they are, in text that needs work for another reason. */
const mayHide = /[^\n\t\u0020-\u007E\u00A1-\u00AC\u00AE-\u02FF]/;

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

/** Resolves to true if markup was found before its converter was loaded: then texts have to be cleaned again. */
export async function loadConverter(): Promise<boolean> {
  if (converter || !isConverterNeeded) return false;
  converter = (await import('./html.ts')).htmlToText;
  return true;
}

/** Removes invisible characters and markup, and limits the length. */
function cleanText(text: string, toText: HtmlToText): string {
  const seen = mayHide.test(text) ? visible(text) : text;
  const plain = withoutLiveMarkdown(looksLikeHtml.test(seen) ? toText(seen) : seen);
  if (plain.length <= maxText) return plain;
  const shortened = plain.slice(0, maxText).toWellFormed();
  return `${shortened}… [${maxText} of ${plain.length} characters]`;
}

/** A value with every text in it cleaned, names of fields included, and without fields that have no value. */
export function cleaned(value: unknown, toText: HtmlToText = convert): unknown {
  if (typeof value === 'string')
    return value.length > maxText || mayNeedWork.test(value) ? cleanText(value, toText) : value;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    for (const entry of value) copy.push(cleaned(entry, toText));
    return copy;
  }
  if (value instanceof Verbatim) return value.toString();
  return isObject(value) ? cleanedRow(value, toText) : value;
}

/** As `cleaned`. Two names may become equal, and are numbered then. */
export function cleanedRow(row: JsonObject, toText: HtmlToText = convert): JsonObject {
  const copy: JsonObject = {};
  for (const name in row) {
    const value = row[name];
    if (value === undefined) continue;
    if (!cleanNames.has(name)) return withCleanNames(row, toText);
    copy[name] = cleaned(value, toText);
  }
  return copy;
}

function withCleanNames(row: JsonObject, toText: HtmlToText): JsonObject {
  const copy: JsonObject = {};
  let copies = 1;
  for (const name in row) {
    if (row[name] === undefined) continue;
    const value = cleaned(row[name], toText);
    const cleanName = fieldName(name, toText);
    let free = cleanName;
    while (Object.hasOwn(copy, free)) free = `${cleanName} (${++copies})`;
    if (free !== '__proto__') copy[free] = value;
    else Object.defineProperty(copy, free, { value, enumerable: true });
  }
  return copy;
}

const maxName = 200;
/** Names of which nothing has to be removed: the rows of all lists have the same few. */
const cleanNames = new Set<string>();
const maxCleanNames = 1_000;

/** On one line, since a field name starts a line in the text form. */
function fieldName(name: string, toText: HtmlToText): string {
  const line = oneLine(cleanText(name.slice(0, maxText), toText));
  const clean = line.length > maxName ? `${line.slice(0, maxName).toWellFormed()}…` : line;
  if (clean === name && name !== '__proto__' && cleanNames.size < maxCleanNames)
    cleanNames.add(name);
  return clean;
}
