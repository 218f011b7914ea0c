/**
 * Text from outside (records, arguments, messages of the service, names of hosts) on its way into our own
 * words. A sentence, heading, bullet or title is a `Wording`, and the compiler takes no other text for one:
 * what comes from outside has to go through `quote` first.
 */

declare const ours: unique symbol;

/** Words of this server, in which every text from outside stands between quotation marks. */
export type Wording = string & { readonly [ours]: true };

/** What may stand in a wording: other wordings, numbers, and texts that are written in the source. */
export type Piece<T> = T extends Wording | number ? T : T extends string ? Literal<T> : never;

/** A type of text that is not a list of texts, such as `string` itself, has no required name. */
type Literal<T extends string> =
  Record<never, never> extends Record<T, 1> ? 'Text from outside: quote() it.' : T;

/** A tag for templates: wording`No ${resource} is callEnded ${quote(name)}.` */
export function wording<const T extends readonly (string | number)[]>(
  strings: TemplateStringsArray,
  ...pieces: { readonly [K in keyof T]: Piece<T[K]> }
): Wording {
  return trusted(String.raw({ raw: strings }, ...pieces));
}

export const join = (pieces: readonly Wording[], separator: ' ' | ', ' | '; ' | '\n'): Wording =>
  trusted(pieces.join(separator));

/**
 * Takes a text for one of our own without looking at it: for what the operator set or this server counted,
 * such as an address, a date or an amount. Never for what a record, a caller or the service says.
 */
export const trusted = (text: string): Wording => text as Wording;

/** A number as people read it: 12,500. */
export const counted = (count: number): Wording => trusted(count.toLocaleString('en-US'));

const lineSeparators = /\r\n?|[\u0085\u2028\u2029]/g;

/**
 * Control and format characters (Unicode classes Cc and Cf: zero-width, bidirectional, soft hyphen, the
 * tag block) and all that shows nothing by default (fillers, joiners, variation selectors, places kept for
 * more of the kind), but for tab, line feed, the Arabic and Kaithi signs of Cf that are seen, and the
 * selectors that choose between the two forms of a pictograph or make a key cap of a digit.
 */
const unseen =
  /(?![\t\n\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]|(?<=\p{Extended_Pictographic})[\uFE0E\uFE0F]|\uFE0F\u20E3)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Characters that leave an empty place: blanks of every width, and signs without ink. */
const blanks = /[\u00A0\u1680\u2000-\u200A\u202F\u205F\u2800\u3000\u{13441}\u{13442}\u{1D159}]/gu;

/**
 * Takes out what cannot be seen, makes every blank the same, and says the same otherwise. Halves of
 * characters first: with what stood between two of them gone, they would make one that cannot be seen.
 */
export function visible(text: string): string {
  return text.toWellFormed().replace(lineSeparators, '\n').replace(unseen, '').replace(blanks, ' ');
}

/** How many characters of a text are there without being seen. */
const countUnseen = (text: string): number => {
  const whole = text.toWellFormed().replace(lineSeparators, '\n');
  return whole.length - whole.replace(unseen, '').length;
};

/**
 * Puts a blank where a host that shows Markdown would fetch an image, or make a link that leads anywhere but
 * to a web page or a mailbox. Every visible character stays.
 */
export const withoutLiveMarkdown = (text: string): string =>
  text
    .replace(/!(?=\[)/g, '! ')
    .replace(/\](?=\((?!https?:\/\/|mailto:))/gi, '] ')
    .replace(/\](?=:\s{0,8}<?(?!https?:\/\/|mailto:)[^\s:&]{0,40}[:&])/gi, '] ')
    .replace(/<(?=(?!https?:|mailto:)[a-z][a-z\d+.-]{1,31}:)/gi, '< ');

/** Puts a blank behind each `<` that could begin an element, a comment or an instruction. */
const withoutTags = (text: string): string => text.replace(/<(?=[a-z/!?])/gi, '< ');

/** Longest stretch of a text that stands in a sentence. */
export const maxQuoted = 240;

/**
 * A text from outside as it may stand in a sentence: "in one line", between marks that it can neither close
 * nor imitate, without what cannot be seen and without live markup; where it is cut its length is told.
 */
export function quote(text: string, max = maxQuoted): Wording {
  const { shown, note } = excerptOf(text, 0, max);
  const escaped = withoutTags(shown).replace(/[\\"]/g, '\\$&');
  return trusted(`"${escaped}"${note}`);
}

/** The same of an identifier, which needs no marks where it has none but the usual characters. */
export const identifier = (id: string): Wording =>
  /^[\w.:-]{1,80}$/.test(id) ? trusted(id) : quote(id);

/**
 * A text for a person who agrees to it: with its markup as it stands, and whole unless told otherwise. `start`
 * is a place in its line.
 */
export function quoteVerbatim(text: string, max = Number.POSITIVE_INFINITY, start = 0): Wording {
  const { shown, note } = excerptOf(text, start, max);
  return trusted(`${isolated(`“${shown}”`)}${note}`);
}

/** A stretch of a text in one line, with what is to be told of the rest. */
function excerptOf(text: string, start: number, max: number): { shown: string; note: string } {
  // Texts can be endless: of each no more is looked at than a stretch can come from.
  const looked = text.slice(0, start + 16 * max + 1_000);
  const line = oneLine(looked);
  const end = start + max;
  const isCut = line.length > end || looked.length < text.length;
  const unseen = countUnseen(looked);
  const notes = [
    ...(start > 0 || isCut ? [`${counted(text.length)} characters`] : []),
    ...(unseen > 0 ? [`${unseen} that cannot be seen`] : []),
  ];
  const shown = line.slice(start, end).toWellFormed();
  return {
    shown: `${start > 0 ? '…' : ''}${shown}${isCut ? '…' : ''}`,
    note: notes.length === 0 ? '' : ` (${notes.join(', ')})`,
  };
}

/** Marks that look like the one that closes a quotation. */
const closingMarks = /[“”„‟❝❞〝〞〟＂״ʺˮ″‶〃⹂\u{1CD3}\u{1F676}-\u{1F678}]|[‘’‚‛′‵]{2,}/gu;

/** Visible text in one line: line breaks show as a mark, quotation marks that could pass for ours as plain ones. */
export const oneLine = (text: string): string =>
  withoutLiveMarkdown(visible(text).replace(/\s+/g, inOneLine).replace(closingMarks, '"'));

/** A pattern for blanks before a line break would start anew at each of them, and take the square of their number. */
const inOneLine = (gap: string): string => (gap.includes('\n') ? ' ⏎ ' : ' '.repeat(gap.length));

/** Scripts that run from right to left: without the isolates they would turn what stands beside them. */
const rightToLeft =
  /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const isolated = (text: string): string => (rightToLeft.test(text) ? `\u2068${text}\u2069` : text);

/**
 * A value of a change in the data of an answer: shown as it is stored, with nothing of it taken for markup.
 * What cannot be seen is counted, and of a longer one than `max` the length is told.
 */
export class Verbatim {
  readonly text: string;
  readonly max: number;

  constructor(text: string, max = 2_000) {
    this.text = text;
    this.max = max;
  }

  /** As it may leave. */
  toString(): string {
    const { text, max } = this;
    const shown = withoutLiveMarkdown(visible(text.length > max ? text.slice(0, max) : text));
    const unseen = countUnseen(text);
    const cut =
      text.length > max ? `… [${counted(max)} of ${counted(text.length)} characters]` : '';
    return `${shown}${cut}${unseen > 0 ? ` (${unseen} that cannot be seen)` : ''}`;
  }

  cutTo(max: number): Verbatim {
    return max < this.max ? new Verbatim(this.text, max) : this;
  }
}
