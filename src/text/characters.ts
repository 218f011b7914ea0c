/** Characters that a person cannot see, and so cannot agree to. */

const lineSeparators = /\r\n?|[\u0085\u2028\u2029]/g;

/**
 * Control and format characters (Unicode classes Cc and Cf) and default-ignorable characters, except tab, line
 * feed, the visible Arabic and Kaithi signs of Cf, and variation selectors after a pictograph or in a key cap.
 */
const removed =
  /(?![\t\n\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]|(?<=\p{Extended_Pictographic})[\uFE0E\uFE0F]|\uFE0F\u20E3)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Spaces of every width, and signs without ink. */
const spaces = /[\u00A0\u1680\u2000-\u200A\u202F\u205F\u2800\u3000\u{13441}\u{13442}\u{1D159}]/gu;

const withLineFeeds = (text: string): string =>
  // Lone surrogates go first: two halves with only a removed character between them would form a new character.
  text.toWellFormed().replace(lineSeparators, '\n');

/** Removes invisible characters, and replaces line separators by line feeds and every other space by `U+0020`. */
export const visible = (text: string): string =>
  withLineFeeds(text).replace(removed, '').replace(spaces, ' ');

/** Number of UTF-16 code units that `visible` removes. */
export const countInvisible = (text: string): number => {
  const whole = withLineFeeds(text);
  return whole.length - whole.replace(removed, '').length;
};

/** Spaces, invisible characters, and symbols for spaces. */
export const blank =
  /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\u237D\u2420\u2422\u2423\u{13441}\u{13442}\u{1D159}]/gu;
