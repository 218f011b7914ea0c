import { addTo } from '../figures/lists.ts';
import { contactName, withoutAccents } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { filterSteps, flatMapSteps, type Steps } from '../figures/steps.ts';
import type { ApiRecord, RecordOf } from '../service/records/records.ts';
import { isOneOf } from '../values.ts';
import { normalisePart } from './part-numbers.ts';
import { comparePhones, phoneDigits, phoneEnd } from './phones.ts';
import { WordIndex } from './word-index.ts';

export const searchKinds = ['company', 'contact', 'opportunity', 'product', 'quote'] as const;
export type SearchKind = (typeof searchKinds)[number];

export const isSearchKind = (resource: string): resource is SearchKind =>
  isOneOf(searchKinds, resource);

/** The display name of a record; for a quote, its number. */
export const displayName: { [K in SearchKind]: (record: RecordOf[K]) => string | undefined } = {
  company: ({ name }) => name,
  contact: contactName,
  opportunity: ({ name }) => name,
  product: ({ name }) => name,
  quote: ({ number }) => number,
};

/** What of a record is indexed. */
interface IndexedParts {
  name: string | undefined;
  more: readonly unknown[];
  /** Besides its id and its external identifier; they match as a whole. */
  identifiers?: readonly (string | undefined)[];
  phones?: readonly (string | undefined)[];
}

/** How a text can equal a part of a record, most specific first. */
export const matchKinds = ['id', 'identifier', 'name'] as const;
type MatchKind = (typeof matchKinds)[number];

export interface Hit<K extends SearchKind> {
  record: RecordOf[K];
  /** Which part of the record the text equals, if any. */
  by?: MatchKind;
}

const indexed: { [K in SearchKind]: (record: RecordOf[K]) => IndexedParts } = {
  company: ({ name, website, address, type, labels = [], telephone }) => ({
    name,
    more: [website, address?.city, type, ...labels],
    phones: [telephone],
  }),
  contact: (contact) => ({
    name: contactName(contact),
    more: [contact.companyName, contact.email],
    identifiers: [contact.email],
    phones: [contact.phone, contact.mobilePhone],
  }),
  opportunity: ({ name, company, pipelineStage }) => ({
    name,
    more: [company?.name, pipelineStage?.name],
  }),
  product: ({ name, mpn, ean, manufacturer, vendor, shortDescription }) => ({
    name,
    more: [mpn, manufacturer, vendor, shortDescription?.slice(0, 200)],
    identifiers: [mpn, ean],
  }),
  quote: ({ title, name, number, company }) => ({
    name: title ?? name,
    more: [number, company?.name],
    identifiers: [number],
  }),
};

/** Characters of a text that are indexed. */
const maxIndexedLength = 1_000;

const words = (parts: readonly unknown[]): string =>
  parts
    .flatMap((part) => (typeof part === 'string' ? [part.slice(0, maxIndexedLength)] : []))
    .join(' ');

/** Normalised for comparison: `+1 (555) 010` equals `1555010`, `AB-12` equals `ab12`, and `é` equals `e`. */
const normaliseIdentifier = (text = ''): string =>
  withoutAccents(normalisePart(text.slice(0, maxIndexedLength)));

/** A short text and the list of where it occurs. */
const bytesPerKey = 130;
const tolerance = 0.2;
/** Two swapped letters are two errors of a short word. */
const moreTolerance = 0.4;

/**
 * The search index of a collection, to which the records are added one by one, so that others can be served in between.
 * The search tolerates typing errors and ranks names above other words.
 */
export class SearchIndex<K extends SearchKind> {
  readonly #kind: K;
  readonly #records: RecordOf[K][] = [];
  /** The positions of the records with each identifier and name. */
  readonly #identifiers = new Map<string, number[]>();
  readonly #names = new Map<string, number[]>();
  /** Phone numbers by their ends. */
  readonly #phones = new Map<string, { digits: string; at: number }[]>();
  readonly #words = new WordIndex();

  constructor(kind: K) {
    this.#kind = kind;
  }

  /** Estimated, without the records. */
  get bytes(): number {
    const keys = this.#identifiers.size + this.#names.size + this.#phones.size;
    return keys * bytesPerKey + this.#words.bytes;
  }

  add(record: RecordOf[K]): void {
    const at = this.#records.push(record) - 1;
    const { name, more, identifiers = [], phones = [] } = indexed[this.#kind](record);
    const { id, externalIdentifier }: ApiRecord = record;
    const whole = [id, externalIdentifier, ...identifiers, ...phones].map(normaliseIdentifier);
    for (const key of new Set(whole)) if (key !== '') addTo(this.#identifiers, key, at);
    addTo(this.#names, normaliseIdentifier(words([name])), at);
    for (const digits of phones.flatMap((phone) => phoneDigits(phone ?? '') ?? []))
      addTo(this.#phones, phoneEnd(digits), { digits, at });
    this.#words.add([words([name]), words(more)]);
  }

  /**
   * Best first: exact ones, then by relevance; in both, deleted records last. Where the text is an identifier of a record,
   * those like it are others, and left out.
   * @param isLoose whether words may have twice as many errors
   */
  *find(text: string, isLoose = false): Steps<Hit<K>[]> {
    const whole = this.#equal(text);
    const equal = whole.size > 0 ? whole : this.#equalToEach(text);
    yield;
    const isIdentifier = [...equal.values()].some((by) => by !== 'name');
    const others = isIdentifier
      ? []
      : yield* this.#similar(text, isLoose ? moreTolerance : tolerance);
    const order = new Set([
      ...(yield* this.#deletedLast([...equal.keys()])),
      ...(yield* this.#deletedLast(others)),
    ]);
    return yield* flatMapSteps([...order], (at): Hit<K>[] => {
      const record = this.#records[at];
      const by = equal.get(at);
      return record ? [{ record, ...(by && { by }) }] : [];
    });
  }

  /** Whether a record has all words of the text without errors, alone or within longer words. */
  *has(text: string): Steps<boolean> {
    return (yield* this.#words.search(text, 0, true)).length > 0;
  }

  *#similar(text: string, fuzzy: number): Steps<readonly number[]> {
    const alike = this.#withPhone(text, 'similar');
    yield;
    const asIs = yield* this.#words.search(text, 0);
    // A number with another digit is another number.
    if (asIs.length > 0 && /\d{4}/.test(text)) return [...alike, ...asIs];
    // A longer word that contains the text's is more likely to be meant than a similar one.
    const within = asIs.length > 0 ? [] : yield* this.#words.search(text, 0, true);
    const similar = [...alike, ...within, ...(yield* this.#words.search(text, fuzzy))];
    return similar.length > 0 ? similar : yield* this.#words.search(text, fuzzy, true);
  }

  /** The records with this identifier, telephone number or name, and which of them it is. */
  #equal(text: string): ReadonlyMap<number, MatchKind> {
    const key = normaliseIdentifier(text);
    const equal = new Map<number, MatchKind>();
    if (key === '') return equal;
    for (const at of this.#names.get(key) ?? []) equal.set(at, 'name');
    for (const at of this.#withPhone(text, 'same')) equal.set(at, 'identifier');
    for (const at of this.#identifiers.get(key) ?? [])
      equal.set(at, this.#records[at]?.id === text ? 'id' : 'identifier');
    return equal;
  }

  /** The records of several identifiers, such as the numbers of two quotes, where each word is one. */
  #equalToEach(text: string): ReadonlyMap<number, MatchKind> {
    const found = new Map<number, MatchKind>();
    for (const word of text.split(/[\s,;]+/).filter(Boolean)) {
      const records = [...this.#equal(word)].filter(([, by]) => by !== 'name');
      if (records.length === 0) return new Map();
      for (const [at, by] of records) found.set(at, by);
    }
    return found;
  }

  /** Those with this phone number, or with one that ends with it. */
  #withPhone(text: string, likeness: ReturnType<typeof comparePhones>): readonly number[] {
    const digits = phoneDigits(text);
    if (digits === undefined) return [];
    const found = this.#phones.get(phoneEnd(digits)) ?? [];
    return found.flatMap((it) => (comparePhones(it.digits, digits) === likeness ? it.at : []));
  }

  *#deletedLast(order: readonly number[]): Steps<number[]> {
    const isDeletedAt = (at: number) => isDeleted(this.#records[at] ?? {});
    const deleted = new Set(yield* filterSteps(order, isDeletedAt));
    return [...order.filter((at) => !deleted.has(at)), ...deleted];
  }
}

/** The hits of each index; one without any is searched again with more errors, unless an index has the text as it is. */
export function* findIn<K extends SearchKind>(
  indexes: readonly SearchIndex<K>[],
  text: string,
): Steps<Hit<K>[][]> {
  const hits: Hit<K>[][] = [];
  for (const index of indexes) hits.push(yield* index.find(text));
  if (hits.every((found) => found.length > 0)) return hits;
  for (const index of indexes) if (yield* index.has(text)) return hits;
  for (const [at, index] of indexes.entries())
    if (hits[at]?.length === 0) hits[at] = yield* index.find(text, true);
  return hits;
}
