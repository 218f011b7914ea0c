/**
 * Text from strangers, on its way out. Record text is written by customers, vendors and integrations;
 * whatever cannot be seen by the person who reads it must not reach the model either.
 */

/** Longest text of one field; longer ones are cut and say how long they were. */
export const longestText = 2_000;

/**
 * Control and format characters (Unicode classes Cc and Cf: zero-width, bidirectional, soft hyphen, the
 * tag block), but for tab, line feed and the Arabic and Kaithi signs of Cf that are seen; and letters and
 * marks that show nothing: fillers, the grapheme joiner, variation selectors beyond the sixteen of emoji.
 */
const unseen =
  /(?![\t\n\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}])[\p{Cc}\p{Cf}]|\u034F|[\u115F\u1160\u17B4\u17B5\u3164\uFFA0]|[\u180B-\u180F]|[\uFFF0-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;
const lineSeparators = /\r\n?|[\u0085\u2028\u2029]/g;
const looksLikeHtml = /<[a-z!/][^<>]*>|&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,5});/i;
const mayNeedWork = /[^\n\t\u0020-\u007E\u00A1-\u00AC\u00AE-\u02FF]|[<&]/;

export type HtmlToText = (html: string) => string;

/** Takes out what cannot be seen, and says the same otherwise. */
export function visible(text: string): string {
  return text.replace(lineSeparators, '\n').replace(unseen, '').toWellFormed();
}

/** One text as it may leave: seen, without markup, not endless. */
function outgoing(text: string, htmlToText: HtmlToText | undefined): string {
  if (text.length <= longestText && !mayNeedWork.test(text)) return text;
  const seen = visible(text);
  const plain = htmlToText && looksLikeHtml.test(seen) ? visible(htmlToText(seen)) : seen;
  if (plain.length <= longestText) return plain;
  const kept = plain.slice(0, longestText).toWellFormed();
  return `${kept}… [${longestText} of ${plain.length} characters]`;
}

/** Whether any text in it has markup, for which a parser must be loaded first. */
export function hasHtml(value: unknown): boolean {
  if (typeof value === 'string') return looksLikeHtml.test(value);
  if (typeof value !== 'object' || value === null) return false;
  for (const name in value) if (hasHtml((value as Record<string, unknown>)[name])) return true;
  return false;
}

/** A copy in which every text, names of fields included, may leave. */
export function cleaned(value: unknown, htmlToText?: HtmlToText): unknown {
  if (typeof value === 'string') return outgoing(value, htmlToText);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((entry) => cleaned(entry, htmlToText));
  const copy: Record<string, unknown> = {};
  for (const name in value) {
    const inner = (value as Record<string, unknown>)[name];
    if (inner !== undefined) copy[outgoing(name, htmlToText)] = cleaned(inner, htmlToText);
  }
  return copy;
}
