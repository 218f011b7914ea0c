import { parseJson } from '../values.ts';

/** Shorter secrets are not replaced: they would match ordinary text. */
const minLength = 8;
const replacement = '[key]';

interface Secret {
  /** How often it is registered. */
  count: number;
  /** Finds it, also as answers escape it and with invisible characters in it. */
  pattern: RegExp;
  /** Finds it, also as answers escape it, in a text without invisible characters: several times as fast. */
  mark: RegExp;
}

/** Every secret of this process. */
const registered = new Map<string, Secret>();

/**
 * Registers keys, passwords and other secrets that `withoutSecrets` removes. Access tokens of this server and tokens
 * of identity providers are known by their form.
 * @returns a function that unregisters them
 */
export function registerSecrets(secrets: readonly (string | undefined)[]): () => void {
  const held = secrets.flatMap((text) => (text && text.length >= minLength ? text : []));
  for (const text of held) {
    const secret = registered.get(text) ?? toSecret(text);
    secret.count += 1;
    registered.set(text, secret);
  }
  onRegistered();
  return () => {
    for (const text of held.splice(0)) {
      const secret = registered.get(text);
      if (secret && --secret.count === 0) registered.delete(text);
    }
    onRegistered();
  };
}

/** Access tokens of this server, and tokens of identity providers (RFC 7519), whoever they were issued to. */
const tokens = /cpq_[a-z\d]{12}_[\w-]{43}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{16,}/g;
const minToken = 40;

/** Length of the shortest secret or token: most texts of records are shorter. */
let shortest = minToken;

/** Finds what may be a secret or a token in one pass; made when it is first needed. */
let marks: RegExp | undefined;
const maxMarks = 100;

function onRegistered(): void {
  shortest = Math.min(minToken, ...[...registered.keys()].map(({ length }) => length));
  marks = undefined;
}

function makeMarks(): RegExp {
  const secrets = Array.from(registered.values(), ({ mark }) => mark.source);
  // A pattern of more secrets would be slower than to search for each; this one is in every text.
  return secrets.length > maxMarks ? /^/ : new RegExp(['cpq_', 'eyJ', ...secrets].join('|'), 'u');
}

/** Characters that a person does not see, except tab and line feed. */
const invisible = String.raw`[\0-\x08\x0B-\x1F\x7F-\x9F\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]`;
/** Of texts of these characters alone, as most are, this is known ten times as fast as by the class of the others. */
const visible = /^[\t\n\x20-\x7E\xA0-\xAC\xAE-\u02FF\u2010-\u2027\u2030-\u205E\u20A0-\u2BFF]*$/;

/** How answers write a character; any other is written as it is. */
const spellings: Readonly<Record<string, string>> = {
  '<': '(?:<|&lt;) ?',
  '!': '! ?',
  ']': '\\] ?',
  '|': '\\\\?\\|',
  '"': '\\\\?"',
};

function toSecret(text: string): Secret {
  // Either all backslashes are doubled or none: a choice for each would take exponential time.
  const forms = [...new Set([text.replaceAll('\\', '\\\\'), text])];
  const sourceWith = (between: string) => forms.map((form) => spelled(form, between)).join('|');
  const patternWith = (between: string) => new RegExp(sourceWith(between), 'gu');
  return { count: 0, pattern: patternWith(`${invisible}*`), mark: patternWith('') };
}

const escaped = (character: string): string => character.replace(/[$^.*+?()[{}/\\]/, '\\$&');

const spelled = (form: string, between: string): string =>
  [...form].map((character) => spellings[character] ?? escaped(character)).join(between);

/** Records and arguments that are nested more deeply are refused before they are stored or shown. */
const maxLevels = 100;

/**
 * A value without secrets and tokens in its texts and names; the same value if it has none. To be called for whatever
 * is stored, or sent to anyone but the service.
 */
export function withoutSecrets<T>(value: T): T;
export function withoutSecrets(value: unknown): unknown {
  return cleaned(value, maxLevels);
}

function cleaned(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return inText(value);
  if (typeof value === 'number')
    return value >= 1e7 && registered.has(String(value)) ? replacement : value;
  if (typeof value !== 'object' || value === null || levels === 0) return value;
  return Array.isArray(value) ? inList(value, levels - 1) : inFields(value, levels - 1);
}

function inText(text: string, isHidden?: boolean): string {
  if (text.length < shortest) return text;
  const mayBeHidden = isHidden ?? !visible.test(text);
  marks ??= makeMarks();
  if (!mayBeHidden && !marks.test(text)) return text;
  let clean = text;
  for (const { pattern, mark } of registered.values())
    clean = clean.replace(mayBeHidden ? pattern : mark, replacement);
  return clean.replace(tokens, replacement);
}

function inList(list: readonly unknown[], levels: number): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at++) {
    const clean = cleaned(list[at], levels);
    if (clean === list[at]) continue;
    copy ??= [...list];
    copy[at] = clean;
  }
  return copy ?? list;
}

function inFields(fields: object, levels: number): object {
  const entries: [string, unknown][] = Object.entries(fields);
  const clean = entries.map(([name, value]) => [inText(name), cleaned(value, levels)] as const);
  const isSame = clean.every(
    ([name, value], at) => name === entries[at]?.[0] && value === entries[at]?.[1],
  );
  return isSame ? fields : Object.fromEntries(clean);
}

/** Whether a text without invisible characters has a secret or a token: the test for these is by far the slowest. */
export function hasSecret(text: string): boolean {
  marks ??= makeMarks();
  return marks.test(text) && inText(text, false) !== text;
}

/** What can spell a character of a secret in JSON (RFC 8259, 7). */
const escapes = ['\\u', '\\/', '\\b', '\\f', '\\r'];

/** With which the invisible characters of a JSON text begin in UTF-8: letters of most languages begin with others. */
const invisibleBytes = [127, 194, 205, 216, 219, 220, 224, 225, 226, 227, 239, 240, 243];

/**
 * The value of a JSON text without secrets, however they are escaped, also with invisible characters in them; `undefined`
 * if it is not JSON.
 * @param bytes the text in UTF-8, which is searched faster
 */
export function parseWithoutSecrets(text: string, bytes?: Buffer): unknown {
  const value = parseJson(text);
  let mayHide = bytes === undefined;
  for (const byte of invisibleBytes) mayHide ||= bytes?.includes(byte) === true;
  const isSpelled = escapes.some((it) => text.includes(it)) || (mayHide && !visible.test(text));
  return isSpelled || hasSecret(text) ? withoutSecrets(value) : value;
}
