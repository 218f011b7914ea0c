/** Full-text search over names, numbers and identifiers of records. */

import { contactName, normaliseName, withoutAccents } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { filterSteps, flatMapSteps, type Steps } from '../figures/steps.ts';
import type {
  ApiRecord,
  Company,
  Contact,
  Opportunity,
  Product,
  Quote,
  RecordOf,
} from '../service/records/records.ts';
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

/** The searchable text of one record. */
interface IndexEntry {
  /** Position in the collection. */
  at: number;
  name: string;
  /** Further searchable words. */
  more: string;
  /** Identifiers; they match as a whole. */
  exact: readonly string[];
  /** As digits. */
  phones?: readonly string[];
}

/** How a text can equal a part of a record, most specific first. */
export const matchKinds = ['id', 'identifier', 'name'] as const;
type MatchKind = (typeof matchKinds)[number];

export interface Hit<K extends SearchKind> {
  record: RecordOf[K];
  /** Which part of the record the text equals, if any. */
  by?: MatchKind;
}

type Describe<K extends SearchKind> = (record: RecordOf[K]) => Omit<IndexEntry, 'at'>;

const describe: { [K in SearchKind]: Describe<K> } = {
  company: (company: Company) => ({
    name: words(company.name),
    more: words(company.website, company.address?.city, company.type, ...(company.labels ?? [])),
    exact: ids(company, company.telephone),
    phones: phonesOf(company.telephone),
  }),
  contact: (contact: Contact) => ({
    name: words(contactName(contact)),
    more: words(contact.companyName, contact.email),
    exact: ids(contact, contact.email, contact.phone, contact.mobilePhone),
    phones: phonesOf(contact.phone, contact.mobilePhone),
  }),
  opportunity: (opportunity: Opportunity) => ({
    name: words(opportunity.name),
    more: words(opportunity.company?.name, opportunity.pipelineStage?.name),
    exact: ids(opportunity),
  }),
  product: (product: Product) => ({
    name: words(product.name),
    more: words(
      product.mpn,
      product.manufacturer,
      product.vendor,
      product.shortDescription?.slice(0, 200),
    ),
    exact: ids(product, product.mpn, product.ean),
  }),
  quote: (quote: Quote) => ({
    name: words(quote.title ?? quote.name),
    more: words(quote.number, quote.company?.name),
    exact: ids(quote, quote.number),
  }),
};

/** Characters of a text that are indexed. */
const maxIndexedLength = 1_000;

const words = (...parts: unknown[]): string =>
  parts
    .flatMap((part) => (typeof part === 'string' ? [part.slice(0, maxIndexedLength)] : []))
    .join(' ');

const ids = ({ id, externalIdentifier }: ApiRecord, ...others: (string | undefined)[]): string[] =>
  [id, externalIdentifier, ...others].filter((part) => part !== undefined).map(normaliseIdentifier);

const phonesOf = (...numbers: (string | undefined)[]): string[] =>
  numbers.flatMap((number) => phoneDigits(number ?? '') ?? []);

/** Normalised for comparison: `+1 (555) 010` equals `1555010`, and `AB-12` equals `ab12`. */
const normaliseIdentifier = (text: string): string =>
  normalisePart(text.slice(0, maxIndexedLength));

const isCalled = (entry: IndexEntry | undefined, key: string): boolean =>
  entry !== undefined && (entry.exact.includes(key) || normaliseIdentifier(entry.name) === key);

/** A short text and its entry in a map. */
const bytesPerKey = 80;

/** Positions of the records under each key. Most keys have one, which needs no list. */
class Positions {
  readonly #at = new Map<string, number | number[]>();

  /** Estimated. */
  get bytes(): number {
    return this.#at.size * bytesPerKey;
  }

  add(key: string, at: number): void {
    if (key === '') return;
    const known = this.#at.get(key);
    if (known === undefined) this.#at.set(key, at);
    else if (typeof known === 'number') this.#at.set(key, [known, at]);
    else known.push(at);
  }

  get(key: string): readonly number[] {
    const known = this.#at.get(key) ?? [];
    return typeof known === 'number' ? [known] : known;
  }
}

/** Finds entries by an identifier or a name as a whole. */
class IdentifierIndex {
  /** Makes an entry again: all of them would take as much memory as their records. */
  readonly #entryAt: (at: number) => IndexEntry | undefined;
  readonly #whole = new Positions();
  readonly #phoneEnds = new Positions();

  constructor(entryAt: (at: number) => IndexEntry | undefined) {
    this.#entryAt = entryAt;
  }

  get bytes(): number {
    return this.#whole.bytes + this.#phoneEnds.bytes;
  }

  add(entry: IndexEntry): void {
    const { at, name, exact, phones = [] } = entry;
    const keys = [...exact, normaliseIdentifier(name)].map(withoutAccents);
    for (const key of new Set(keys)) this.#whole.add(key, at);
    for (const end of new Set(phones.map(phoneEnd))) this.#phoneEnds.add(end, at);
  }

  /** Entries with this identifier or name; without regard to accents only if none matches with them. */
  equal(text: string): number[] {
    const key = normaliseIdentifier(text);
    const found = this.#whole.get(withoutAccents(key));
    const literal = found.filter((at) => isCalled(this.#entryAt(at), key));
    return [...(literal.length > 0 ? literal : found), ...this.withPhone(text, 'same')];
  }

  /** Entries with this phone number, or with one that ends with it. */
  withPhone(text: string, likeness: ReturnType<typeof comparePhones>): number[] {
    const digits = phoneDigits(text);
    if (digits === undefined) return [];
    return this.#phoneEnds
      .get(phoneEnd(digits))
      .filter((at) =>
        this.#entryAt(at)?.phones?.some((phone) => comparePhones(phone, digits) === likeness),
      );
  }
}

/**
 * The search index of a collection, to which the records are added one by one, so that others can be served in between.
 * The search tolerates typing errors and ranks names above other words.
 */
export class SearchIndex<K extends SearchKind> {
  readonly #kind: K;
  readonly #records: RecordOf[K][] = [];
  readonly #identifiers = new IdentifierIndex((at) => this.#entryAt(at));
  readonly #words = new WordIndex([nameBoost, 1], (word) => withoutAccents(normaliseName(word)));

  constructor(kind: K) {
    this.#kind = kind;
  }

  /** Estimated, without the records. */
  get bytes(): number {
    return this.#identifiers.bytes + this.#words.bytes;
  }

  add(record: RecordOf[K]): void {
    const entry = this.#entryAt(this.#records.push(record) - 1);
    if (!entry) return;
    this.#identifiers.add(entry);
    this.#words.add([entry.name, entry.more]);
  }

  #entryAt(at: number): IndexEntry | undefined {
    const record = this.#records[at];
    return record && { at, ...describe[this.#kind](record) };
  }

  /** Best first: exact ones, then by relevance; in both, deleted records last. */
  *find(text: string): Steps<Hit<K>[]> {
    const equal = new Set(this.#identifiers.equal(text));
    yield;
    const alike = this.#identifiers.withPhone(text, 'similar');
    yield;
    const similar = [...alike, ...(yield* this.#words.search(text, tolerant))];
    const none = equal.size === 0 && similar.length === 0;
    const others = none ? yield* this.#words.search(text, moreTolerant) : similar;
    const order = new Set([
      ...(yield* this.#deletedLast([...equal])),
      ...(yield* this.#deletedLast(others)),
    ]);
    return yield* flatMapSteps([...order], (at): Hit<K>[] => {
      const record = this.#records[at];
      if (record === undefined) return [];
      const by = equal.has(at) ? namedBy(record, this.#entryAt(at), text) : undefined;
      return [{ record, ...(by && { by }) }];
    });
  }

  *#deletedLast(order: readonly number[]): Steps<number[]> {
    const deleted: number[] = [];
    const others = yield* filterSteps(order, (at) => {
      const isLast = this.#isDeletedAt(at);
      if (isLast) deleted.push(at);
      return !isLast;
    });
    return [...others, ...deleted];
  }

  #isDeletedAt(at: number): boolean {
    const record = this.#records[at];
    return record !== undefined && isDeleted(record);
  }
}

function namedBy(
  record: ApiRecord,
  entry: IndexEntry | undefined,
  text: string,
): Hit<SearchKind>['by'] {
  if (record.id === text) return 'id';
  const key = withoutAccents(normaliseIdentifier(text));
  const isIdentifier = entry?.exact.some((one) => withoutAccents(one) === key);
  const isName = withoutAccents(normaliseIdentifier(entry?.name ?? '')) === key;
  return isName && !isIdentifier ? 'name' : 'identifier';
}

const nameBoost = 3;
const tolerant = { fuzzy: 0.2 };
/** Where nothing is found otherwise: two swapped letters are two errors of a short word. */
const moreTolerant = { fuzzy: 0.4 };
