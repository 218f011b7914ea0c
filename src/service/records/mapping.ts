/** The operator's file that says where the fields of a tenant are, where they are not as documented. */

import { InvalidValue } from '../../setting-values.ts';
import { isKeyOf, isObject, type JsonObject, keysOf } from '../../values.ts';
import { type Fields, ref, yes } from './normalise.ts';
import { fieldsOf, partOf, type Resource } from './records.ts';

/** A line of the file, such as `quote.items.term = billingPeriod` or `won = statusId in [4, 7]`. */
export interface FieldRule {
  readonly text: string;
  /** What it is about: records of a resource, or those within them, such as `quote.items`. */
  readonly of: string;
  readonly field: string;
  /** The part of a nested field, such as `id`. */
  readonly part: string | undefined;
  readonly from: readonly string[];
  /** What the field is set to where the value is one of `values`. */
  readonly word: string | undefined;
  /** In lower case. Without `word`: of a mark, which is set to whether the value is one of them. */
  readonly values: readonly string[] | undefined;
}

type Target = Omit<FieldRule, 'text' | 'from' | 'values'>;
type Words = Readonly<Record<string, readonly string[]>>;

const terms: Words = { term: ['one-time', 'monthly', 'yearly'] };
const outcomes: Words = { statusId: ['won', 'lost', 'open'] };
/** Words of fields that can be on the left, as what they are of. */
const wordsOf: Readonly<Record<string, Words>> = {
  opportunity: outcomes,
  quote: { status: ['draft', 'sent', 'approved', 'declined', 'expired'] },
  'quote.items': terms,
  product: terms,
  contract_item: terms,
};
const marks = ['deleted', 'deletedAt', 'listed'];
const membersOf: Words = { discount: ['type', 'amount'], contractDuration: ['amount', 'unit'] };

/** @throws InvalidValue that names the line, and what may be there */
export function parseFieldRules(file: string): FieldRule[] {
  const rules = new Map<string, FieldRule>();
  const lines = file.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [at, line] of lines.entries()) {
    const text = line.replace(/(?:^|\s)#.*/, '').trim();
    if (text === '') continue;
    try {
      const rule = ruleOf(text);
      const target = [rule.of, rule.field, rule.part, rule.word].join('.');
      if (rules.has(target)) throw new InvalidValue('another line says where that is');
      rules.set(target, rule);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      throw new InvalidValue(`line ${at + 1}: ${error.message}`);
    }
  }
  return [...rules.values()];
}

function ruleOf(text: string): FieldRule {
  const equals = text.indexOf('=');
  const right = text.slice(equals + 1).trim();
  const list = right.endsWith(']') ? right.indexOf(' in [') : -1;
  const from = (list < 0 ? right : right.slice(0, list)).split('.').map((name) => name.trim());
  if (equals < 0 || from.includes(''))
    throw new InvalidValue(
      'must be as "quote.items.term = billingPeriod" or "won = statusId in [4, 7]"',
    );
  const target = targetOf(text.slice(0, equals).trim());
  const isMark = marks.includes(target.field);
  const given = list < 0 ? undefined : valuesIn(right.slice(list + ' in '.length));
  if (given && target.word === undefined && !isMark)
    throw new InvalidValue(`only a word such as won, or ${marks.join(', ')}, can be "in" a list`);
  return { text, ...target, from, values: given ?? (target.word === undefined ? undefined : yes) };
}

/** Of a list such as `[4, "sent, open"]`: what is between quotes is one value. */
const valuesIn = (list: string): string[] =>
  list
    .slice(1, -1)
    .split('"')
    .flatMap((text, at) => (at % 2 === 1 ? [text] : text.split(',')))
    .map(comparable)
    .filter((value) => value !== '');

const comparable = (value: unknown): string => String(value).trim().toLowerCase();

/** @throws InvalidValue for a name that is not known */
function targetOf(left: string): Target {
  const isOutcome = outcomes.statusId?.includes(left);
  const [name = '', ...path] = isOutcome ? ['opportunity', left] : left.split('.');
  const resource = name.replaceAll('-', '_');
  if (!isKeyOf(fieldsOf, resource) || path.length === 0)
    throw new InvalidValue(
      `"${left}" is not a field of ${keysOf(fieldsOf).join(', ')}, nor won, lost, open`,
    );
  const part = partOf(resource);
  if (part === undefined || part.list !== path[0] || path.length === 1)
    return { of: resource, ...fieldIn(fieldsOf[resource], wordsOf[resource], path) };
  const of = `${resource}.${part.list}`;
  return { of, ...fieldIn(part.fields, wordsOf[of], path.slice(1)) };
}

function fieldIn(
  fields: Fields,
  words: Words = {},
  [name = '', ...inner]: readonly string[],
): Pick<Target, 'field' | 'part' | 'word'> {
  const [ofWord] = Object.entries(words).find(([, all]) => all.includes(name)) ?? [];
  const known = [...Object.keys(fields), ...Object.values(words).flat()];
  if (!known.includes(name))
    throw new InvalidValue(`"${name}" is not a known field. Known: ${known.join(', ')}`);
  if (ofWord !== undefined && inner.length === 0)
    return { field: ofWord, part: undefined, word: name };
  const parts = fields[name] === ref ? ['id', 'name'] : (membersOf[name] ?? []);
  const [part] = inner;
  if (inner.length > 1 || (part !== undefined && !parts.includes(part)))
    throw new InvalidValue(`known parts of ${name} are: ${parts.join(', ') || 'none'}`);
  return { field: name, part, word: undefined };
}

/** Applies the rules of a tenant to its rows, and counts in how many of them it finds what they name. */
export class FieldMapping {
  readonly #rules: readonly (FieldRule & { rows: number; found: number })[];

  constructor(rules: readonly FieldRule[] = []) {
    this.#rules = rules.map((rule) => ({ ...rule, rows: 0, found: 0 }));
  }

  /** Changes a row in place, before it is normalised. */
  apply<R extends JsonObject>(resource: Resource, row: R): R {
    if (this.#rules.length === 0) return row;
    this.#applyTo(resource, row);
    const list = partOf(resource)?.list;
    const parts: unknown = list && row[list];
    if (!Array.isArray(parts)) return row;
    for (const part of parts) if (isObject(part)) this.#applyTo(`${resource}.${list}`, part);
    return row;
  }

  /** The rules of which none of the rows had the right side, among at least this many rows. */
  unused = (resource: Resource, minRows = 1): FieldRule[] =>
    this.#rules.filter(
      ({ of, rows, found }) => of.split('.')[0] === resource && rows >= minRows && found === 0,
    );

  /** All values are read before the first is set, since a rule can name what another one sets. */
  #applyTo(what: string, row: JsonObject): void {
    const rules = this.#rules.filter(({ of }) => of === what);
    const read = rules.map((rule) => [rule, valueUnder(row, rule.from)] as const);
    for (const [rule, value] of read) {
      rule.rows += 1;
      if (value !== undefined) rule.found += 1;
      // Kept in both places, it would seem to change by itself where a write changes the field, and a mark would be told as
      // a field that is not known.
      if (rule.values === undefined || isUnknownMark(rule)) remove(row, rule.from);
    }
    for (const [rule, value] of read) {
      const now = mapped(row[rule.field], rule, value);
      if (now === undefined) delete row[rule.field];
      else row[rule.field] = now;
    }
  }
}

const isUnknownMark = ({ of, word, from: [name = ''] }: FieldRule): boolean =>
  word === undefined && isKeyOf(fieldsOf, of) && !isKeyOf(fieldsOf[of], name);

/** What a field is to be; `undefined` if the row does not say it. */
function mapped(before: unknown, { part, word, values }: FieldRule, value: unknown): unknown {
  if (values) {
    const names = [value, ...(isObject(value) ? Object.values(value) : [])].map(comparable);
    const isOne = names.some((name) => values.includes(name));
    if (word !== undefined) return isOne ? word : before;
    return value === undefined ? before : isOne;
  }
  if (part === undefined) return value;
  return value === undefined ? before : { ...(isObject(before) ? before : {}), [part]: value };
}

/** Numbers in a path are places in lists. */
const step = (at: unknown, name: string): unknown => {
  if (Array.isArray(at)) return at[Number(name)];
  return isObject(at) && isKeyOf(at, name) ? at[name] : undefined;
};

const valueUnder = (row: JsonObject, path: readonly string[]): unknown =>
  path.reduce<unknown>(step, row);

function remove(row: JsonObject, path: readonly string[]): void {
  const holder = valueUnder(row, path.slice(0, -1));
  if (isObject(holder)) delete holder[path.at(-1) ?? ''];
}
