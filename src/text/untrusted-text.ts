/**
 * Untrusted text (records, arguments, messages of the service, names of hosts) in sentences of this server. A
 * sentence, heading, bullet or title has the type `Wording`; the compiler rejects any other text. Untrusted
 * text becomes a `Wording` through `quote`.
 */
import { countInvisible, visible } from './characters.ts';

declare const brand: unique symbol;

/** Text of this server in which all untrusted text is quoted. */
export type Wording = string & { readonly [brand]: true };

/** What a template may contain: other wordings, numbers, string literals, and `false` for what does not apply. */
export type Piece<T> = T extends Wording | number | false
  ? T
  : T extends string
    ? Literal<T>
    : never;

/** Accepts string literals only: `Record<string, 1>` has no required property, a record of literals has. */
type Literal<T extends string> =
  Record<never, never> extends Record<T, 1> ? 'Untrusted text: quote() it.' : T;

/** A template tag: wording`No ${resource} is called ${quote(name)}.` */
export function wording<const T extends readonly (string | number | false)[]>(
  strings: TemplateStringsArray,
  ...pieces: { readonly [K in keyof T]: Piece<T[K]> }
): Wording {
  let text = strings[0] ?? '';
  for (const [at, piece] of pieces.entries())
    text += (piece === false ? '' : piece) + (strings[at + 1] ?? '');
  return trusted(text);
}

/** Joins the pieces that apply. */
export const join = (
  pieces: readonly (Wording | false | undefined)[],
  separator: ' ' | ', ' | '; ' | ' and ' | '\n',
): Wording => trusted(applying(pieces).join(separator));

/** The pieces that apply: `condition && wording` is `false` or `undefined` where the condition is not met. */
export const applying = (pieces: readonly (Wording | false | undefined)[]): Wording[] =>
  pieces.filter((piece) => piece !== undefined && piece !== false);

/**
 * Converts a text without any check: for values that the operator set or this server computed, such as an
 * address, a date or an amount. Never for text of a record, a caller or the service.
 */
export const trusted = (text: string): Wording => text as Wording;

/** A number with thousands separators: 12,500. */
export const counted = (count: number): Wording => trusted(count.toLocaleString('en-US'));

/**
 * Breaks Markdown images, and links to anything but web pages and e-mail addresses, by inserting a space. Keeps
 * every visible character.
 */
export const withoutLiveMarkdown = (text: string): string =>
  text
    .replace(/!(?=\[)/g, '! ')
    .replace(/\](?=\((?!https?:\/\/|mailto:))/gi, '] ')
    .replace(/\](?=:\s{0,8}<?(?!https?:\/\/|mailto:)[^\s:&]{0,40}[:&])/gi, '] ')
    .replace(/<(?=(?!https?:|mailto:)[a-z][a-z\d+.-]{1,31}:)/gi, '< ');

/** Inserts a space after each `<` that could begin an element, a comment or a processing instruction. */
export const withoutTags = (text: string): string => text.replace(/<(?=[a-z/!?])/gi, '< ');

/** Maximum length of a quoted text in a sentence, in characters. */
export const maxQuoted = 240;

/**
 * Quotes untrusted text for a sentence: on one line, in quotation marks that the text can neither close nor
 * imitate, without invisible characters and live markup. If the text is cut, its length follows.
 */
export function quote(text: string, max = maxQuoted): Wording {
  const { shown, note } = excerptOf(text, 0, max);
  const escaped = withoutTags(shown).replace(/[\\"]/g, '\\$&');
  return trusted(`"${escaped}"${note}`);
}

/** Quotes a text of several lines: `>` marks each, so that none can pass for a line of this server. */
export const quoteLines = (text: string): Wording =>
  trusted(
    withoutTags(withoutLiveMarkdown(visible(text)))
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n'),
  );

/** Like `quote`, but without quotation marks if the identifier has ordinary characters only. */
export const identifier = (id: string): Wording =>
  /^[\w.:-]{1,80}$/.test(id) ? trusted(id) : quote(id);

/** Maximum length of names, and of the shown part of a text that is replaced, where a person is asked to agree. */
export const maxNameLength = 240;

/**
 * Quotes a text that a person is asked to agree to: markup is kept, and the text is not cut by default. `start`
 * is an offset in the one-line form of the text.
 */
export function quoteVerbatim(text: string, max = Number.POSITIVE_INFINITY, start = 0): Wording {
  const { shown, note } = excerptOf(text, start, max);
  return trusted(`${isolated(`“${shown}”`)}${note}`);
}

/** A part of a text on one line, and a note on what is not shown. */
function excerptOf(text: string, start: number, max: number): { shown: string; note: string } {
  // Bounds the work on very long texts: later characters cannot appear in the excerpt.
  const examined = text.slice(0, start + 16 * max + 1_000);
  const line = oneLine(examined);
  const end = start + max;
  const isCut = line.length > end || examined.length < text.length;
  const invisible = countInvisible(examined);
  const isPart = start > 0 || isCut;
  const notes = [
    ...(isPart ? [`${counted(text.length)} characters`] : []),
    ...(invisible > 0 ? [isPart ? `${invisible} invisible` : invisibleNote(invisible)] : []),
  ];
  const shown = line.slice(start, end).toWellFormed();
  return {
    shown: `${start > 0 ? '…' : ''}${shown}${isCut ? '…' : ''}`,
    note: notes.length === 0 ? '' : ` (${notes.join(', ')})`,
  };
}

const invisibleNote = (count: number): string =>
  `${counted(count)} invisible character${count === 1 ? '' : 's'}`;

/** Characters that look like a closing quotation mark. */
const closingMarks = /[“”„‟❝❞〝〞〟＂״ʺˮ″‶〃⹂\u{1CD3}\u{1F676}-\u{1F678}]|[‘’‚‛′‵]{2,}/gu;

/** Visible text on one line: line breaks become `⏎`, look-alikes of the closing quotation mark become `"`. */
export const oneLine = (text: string): string =>
  withoutLiveMarkdown(visible(text).replace(/\s+/g, inOneLine).replace(closingMarks, '"'));

/** One pattern for spaces before a line break would take quadratic time. */
const inOneLine = (gap: string): string => (gap.includes('\n') ? ' ⏎ ' : ' '.repeat(gap.length));

/** Right-to-left scripts: without isolates they would reorder the text next to them. */
export const rightToLeft =
  /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const isolated = (text: string): string => (rightToLeft.test(text) ? `\u2068${text}\u2069` : text);

/**
 * A value of a change in the data of an answer: shown as it is stored, never converted from HTML. Invisible
 * characters are counted; a text longer than `max` is cut and its length follows.
 */
export class Verbatim {
  readonly text: string;
  readonly max: number;

  constructor(text: string, max = 2_000) {
    this.text = text;
    this.max = max;
  }

  toString(): string {
    const { text, max } = this;
    const shown = withoutLiveMarkdown(visible(text.length > max ? text.slice(0, max) : text));
    const invisible = countInvisible(text);
    const cut =
      text.length > max ? `… [${counted(max)} of ${counted(text.length)} characters]` : '';
    return `${shown}${cut}${invisible > 0 ? ` (${invisibleNote(invisible)})` : ''}`;
  }

  cutTo(max: number): Verbatim {
    return max < this.max ? new Verbatim(this.text, max) : this;
  }
}

/** A `Wording` as a value in the data of an answer: its untrusted parts are quoted already, so it is not changed again. */
export class VerbatimWording extends Verbatim {
  constructor(words: Wording) {
    super(words, words.length);
  }

  override toString(): string {
    return this.text;
  }

  override cutTo(): VerbatimWording {
    return this;
  }
}
