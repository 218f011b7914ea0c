/** Digits that two phone numbers must share at the end; a subscriber number has seven. */
const minPhoneDigits = 7;
/** Digits of the longest country code, with the digits that some countries put in front of it. */
const maxCountryCode = 3;
const phoneCharacters = /^[+\d\s().,/‐-―-]+$/;
const phoneLabel = /^\s*(?:tel|phone|mobile)[.:]*\s*/;
const extension = /(?:\bext\.?|\bextension|x|#)\s*\d{1,6}\s*$/;

/**
 * The digits of a phone number without extension, trunk prefix "(0)" and leading zeros; `undefined` for a text
 * that is no phone number.
 */
export function phoneDigits(text: string): string | undefined {
  const plain = text.normalize('NFKC').toLowerCase().replace(phoneLabel, '');
  const number = plain.replace(extension, '').replace('(0)', '');
  if (!phoneCharacters.test(number)) return undefined;
  const digits = number.replace(/\D/g, '').replace(/^0+/, '');
  return digits.length >= minPhoneDigits ? digits : undefined;
}

/** `same`: equal except for the country code. `similar`: one ends with the other, as without an area code. */
export function comparePhones(one: string, other: string): 'same' | 'similar' | undefined {
  if (!one.endsWith(other) && !other.endsWith(one)) return undefined;
  return Math.abs(one.length - other.length) <= maxCountryCode ? 'same' : 'similar';
}

/** The end that two numbers share if either ends with the other. */
export const phoneEnd = (digits: string): string => digits.slice(-minPhoneDigits);
