/** Where a text has a character that a person cannot see, and what it is called: only writes ask for it. */

/** Visible characters of the class Cf, such as the Arabic number sign. */
const visibleFormat = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]/u;
const invisible =
  /[\p{Zl}\p{Zp}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{13441}\u{13442}\u{1D159}]/u;

/**
 * Characters next to which a joiner or a variation selector changes what is seen: emoji, letters of joined
 * scripts, and viramas of South and Southeast Asian scripts.
 */
const pictograph = /\p{Extended_Pictographic}/u;
const afterPictograph = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F/u;
const joinedLetter =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Mandaic}\p{Script=Adlam}]/u;
const virama =
  /[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA\u1039\u103A\u1714\u1734\u17D2\u1A60\u1B44\u1BAA\uA806\uA8C4\uA953\uA9C0\uABED]/u;

export interface InvisibleCharacter {
  /** Its position, counted in characters from 1. */
  at: number;
  /** As `U+200B ZERO WIDTH SPACE`. */
  name: string;
}

export interface AllowedInvisible {
  /** Tab and line breaks. */
  lines?: boolean;
  /** Joiners and selectors where they change what is seen. */
  joiners?: boolean;
}

/** The first invisible character of a text that is not allowed. */
export function firstInvisible(
  text: string,
  allowed: AllowedInvisible = {},
): InvisibleCharacter | undefined {
  const characters = [...text];
  const at = characters.findIndex(
    (character, index) =>
      invisible.test(character) &&
      !visibleFormat.test(character) &&
      !(allowed.lines && isLineBreak(characters, index)) &&
      !(allowed.joiners && joins(characters, index)),
  );
  return at < 0 ? undefined : { at: at + 1, name: nameOf(characters[at] ?? '') };
}

function isLineBreak(characters: readonly string[], at: number): boolean {
  const [character = '', next] = characters.slice(at, at + 2);
  return character === '\t' || character === '\n' || (character === '\r' && next === '\n');
}

/** True for a joiner or a variation selector that changes how its neighbours look. */
function joins(characters: readonly string[], at: number): boolean {
  const [before = '', next = ''] = [characters[at - 1], characters[at + 1]];
  switch (characters[at]) {
    case '\uFE0E':
    case '\uFE0F':
      return pictograph.test(before) || (/[#*\d]/.test(before) && next === '\u20E3');
    case '\u200D':
      if (afterPictograph.test(before)) return pictograph.test(next);
      return joinedLetter.test(before) || besideVirama(before, next);
    case '\u200C':
      return (joinedLetter.test(before) && joinedLetter.test(next)) || besideVirama(before, next);
    default:
      return false;
  }
}

const besideVirama = (before: string, next: string): boolean =>
  virama.test(before) || (/\p{L}/u.test(before) && virama.test(next));

/** Names of single characters and of classes, the first that fits. */
const names: readonly (readonly [RegExp, string])[] = [
  [/\t/, 'TAB'],
  [/[\n\r\u0085]/, 'LINE FEED'],
  [/[\u200B\uFEFF]/, 'ZERO WIDTH SPACE'],
  [/\u00AD/, 'SOFT HYPHEN'],
  [/\p{Cs}/u, 'HALF OF A CHARACTER (lone surrogate)'],
  [/\p{Variation_Selector}/u, 'VARIATION SELECTOR'],
  [/[\u{E0000}-\u{E007F}]/u, 'TAG CHARACTER'],
  [/\p{Cc}/u, 'CONTROL CHARACTER'],
  [/\p{Noncharacter_Code_Point}/u, 'NONCHARACTER'],
  [/\p{Cf}/u, 'FORMAT CHARACTER'],
];

/** As `U+200B ZERO WIDTH SPACE`. */
function nameOf(character: string): string {
  const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const name = names.find(([pattern]) => pattern.test(character))?.[1];
  return `U+${point} ${name ?? 'CHARACTER THAT SHOWS NOTHING'}`;
}
