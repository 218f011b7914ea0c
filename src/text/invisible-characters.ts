/** Where a text has a character that a person cannot see: only writes ask for it. */

/** Without the visible characters of the class Cf, such as the Arabic number sign. */
const invisible =
  /(?![\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}])[\p{Zl}\p{Zp}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{13441}\u{13442}\u{1D159}]/u;

/** Tab and line breaks. */
const lineBreaks = /[\t\n]|\r(?=\n)/g;

/** Letters of joined scripts. */
const joined = String.raw`[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Mandaic}\p{Script=Adlam}]`;
/** Of South and Southeast Asian scripts. */
const virama = String.raw`[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA\u1039\u103A\u1714\u1734\u17D2\u1A60\u1B44\u1BAA\uA806\uA8C4\uA953\uA9C0\uABED]`;
/** Joiners and variation selectors between characters that they change: emoji, keycaps, joined letters and viramas. */
const joiners = new RegExp(
  [
    String.raw`(?<=\p{Extended_Pictographic})[\uFE0E\uFE0F]|(?<=[#*\d])[\uFE0E\uFE0F](?=\u20E3)`,
    String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})`,
    String.raw`(?<=${joined})\u200D|(?<=${joined})\u200C(?=${joined})`,
    String.raw`(?<=${virama})[\u200C\u200D]|(?<=\p{L})[\u200C\u200D](?=${virama})`,
  ].join('|'),
  'gu',
);

export interface AllowedInvisible {
  /** Tab and line breaks. */
  lines?: boolean;
  /** Joiners and selectors where they change what is seen. */
  joiners?: boolean;
}

/** The first invisible character of a text that is not allowed: its position, counted in characters from 1, and `U+200B`. */
export function firstInvisible(
  text: string,
  allowed: AllowedInvisible = {},
): { at: number; name: string } | undefined {
  const unjoined = allowed.joiners ? text.replace(joiners, '_') : text;
  const searched = allowed.lines ? unjoined.replace(lineBreaks, '_') : unjoined;
  const found = invisible.exec(searched);
  if (!found) return undefined;
  const point = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return { at: [...searched.slice(0, found.index)].length + 1, name: `U+${point}` };
}
