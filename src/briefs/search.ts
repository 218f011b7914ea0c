/** Full-text search over names, numbers and identifiers of records. */

import MiniSearch from 'minisearch';
import type {
  ApiRecord,
  Company,
  Contact,
  Opportunity,
  Product,
  Quote,
  RecordOf,
} from '../api/records.ts';
import { isOneOf } from '../values.ts';
import { contactName, normaliseName } from './naming.ts';
import { isDeleted } from './outcome.ts';
import { normalisePart } from './part-numbers.ts';

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
interface Entry {
  /** Position in the collection. */
  at: number;
  /** Further searchable words. */
  name: string;
  more: string;
  /** Identifiers; they match as a whole. */
  exact: readonly string[];
}

export interface Hit<K extends SearchKind> {
  record: RecordOf[K];
  /** Which part of the record the text equals, if any: its id, an identifier, or its name. */
  by?: 'id' | 'identifier' | 'name';
}

/** The search index of one collection. */
export interface SearchIndex<K extends SearchKind> {
  /** Best first: exact ones, then by relevance; deleted records last. */
  find(text: string): Hit<K>[];
}

type Describe<K extends SearchKind> = (record: RecordOf[K]) => Omit<Entry, 'at'>;

const describe: { [K in SearchKind]: Describe<K> } = {
  company: (company: Company) => ({
    name: words(company.name),
    more: words(company.website, company.address?.city, company.type, ...(company.labels ?? [])),
    exact: ids(company, company.telephone),
  }),
  contact: (contact: Contact) => ({
    name: words(contactName(contact)),
    more: words(contact.companyName, contact.email),
    exact: ids(contact, contact.email, contact.phone, contact.mobilePhone),
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

/** Normalised for comparison: `+1 (555) 010` equals `1555010`, and `AB-12` equals `ab12`. */
const normaliseIdentifier = (text: string): string =>
  normalisePart(text.slice(0, maxIndexedLength));

/** Indexes a collection. The search tolerates typing errors and ranks names above other words. */
export function createSearchIndex<K extends SearchKind>(
  kind: K,
  records: readonly RecordOf[K][],
): SearchIndex<K> {
  const entries = records.map((record, at) => ({ at, ...describe[kind](record) }));
  const exact = new Map<string, number[]>();
  for (const { at, name, exact: keys } of entries) {
    for (const key of new Set([...keys, normaliseIdentifier(name)])) {
      if (key === '') continue;
      const known = exact.get(key);
      if (known) known.push(at);
      else exact.set(key, [at]);
    }
  }
  const search = createMiniSearch(entries);
  const isDeletedAt = (at: number) => {
    const record = records[at];
    return record !== undefined && isDeleted(record);
  };
  return {
    find(text) {
      const whole = exact.get(normaliseIdentifier(text)) ?? [];
      const others = search.search(text).map(({ id }) => Number(id));
      const order = [...new Set([...whole, ...others])];
      const ordered = [...order.filter((at) => !isDeletedAt(at)), ...order.filter(isDeletedAt)];
      return ordered.flatMap((at) => {
        const record = records[at];
        if (record === undefined) return [];
        const by = whole.includes(at) ? namedBy(record, entries[at], text) : undefined;
        return { record, ...(by && { by }) };
      });
    },
  };
}

function namedBy(record: ApiRecord, entry: Entry | undefined, text: string): Hit<SearchKind>['by'] {
  if (record.id === text) return 'id';
  return entry?.exact.includes(normaliseIdentifier(text)) ? 'identifier' : 'name';
}

/** Short words must match exactly, because one different letter makes another word. */
function createMiniSearch(entries: readonly Entry[]): MiniSearch<Entry> {
  const search = new MiniSearch<Entry>({
    idField: 'at',
    fields: ['name', 'more'],
    storeFields: [],
    processTerm: (term) => normaliseName(term.normalize('NFKD').replace(/\p{M}/gu, '')) || null,
    searchOptions: {
      boost: { name: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 3 ? 0.2 : false),
      combineWith: 'AND',
    },
  });
  search.addAll(entries);
  return search;
}
