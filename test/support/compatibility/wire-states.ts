import type { Row } from '../hosts.ts';
import type { Rewrite } from '../upstream/behaviour.ts';
import { bodies, type Changes, rewritten } from './changes.ts';
import { as, inField, inRecords, inSearches, type SearchPage, states } from './rewrite.ts';
import type { ListPath, Named } from './stored-data.ts';

/** Prices in pricing books, states in codes, records of two origins, wrong totals of short lists, and bodies that are not JSON. */

const deal = '/opportunity';
const book = '/pricing-book';

/** @param make of an entry and the part number of its product: those of a book are of the product with its number */
const inBooks = (make: (entry: Row, partNumber: string) => Row): (() => Rewrite) =>
  inField(book, 'products', (products: Row[], { name }) => ({
    products: products.map((it) => make(it, String(name).replace(/^\D+/, 'MPN-'))),
  }));
const booksOf = (make: (id: string, at: number) => string): (() => Rewrite) =>
  inField(book, 'companyIds', (ids: string[]) => ({ companyIds: ids.map(make) }));

export const books: Changes = rewritten({
  'book products by part number': inBooks(({ productId: _, ...rest }, partNumber) => ({
    partNumber,
    ...rest,
  })),
  'book products with the part number as id': inBooks((it, productId) => ({ ...it, productId })),
  'book products nested': inBooks(({ productId: id, ...rest }) => ({ product: { id }, ...rest })),
  'book products by sku': inBooks(({ productId: _, ...rest }) => ({ sku: 'A1', ...rest })),
  'book products padded': inBooks((it) => ({ ...it, productId: ` ${it.productId}` })),
  'book products in upper case': inBooks((it) => ({
    ...it,
    productId: String(it.productId).toUpperCase(),
  })),
  'book unitPrice': inBooks(({ price: unitPrice, ...rest }) => ({ ...rest, unitPrice })),
  'book price null': inBooks((it) => ({ ...it, price: null })),
  'book price {amount}': inBooks((it) => ({ ...it, price: { amount: it.price, currency: 'EUR' } })),
  'book companies padded': booksOf((id) => ` ${id} `),
  'book companies by old ids': booksOf((_, at) => `ACC-00${at}`),
});

export const codes: Changes = rewritten({
  'deal state D': states(deal, (isGone) => (isGone ? { state: 'D' } : {})),
  'deal state A or D': states(deal, (isGone) => ({ state: isGone ? 'D' : 'A' })),
  'deal recordStatus X': states(deal, (isGone) => ({ recordStatus: isGone ? 'X' : 'OK' })),
  'deal statusId D': states(deal, (isGone, { statusId }) => ({
    statusId: isGone ? 'D' : statusId,
  })),
  'deal tombstone': states(deal, (isGone) => (isGone ? { tombstone: true } : {})),
  'deal inRecycleBin': states(deal, (inRecycleBin) => ({ inRecycleBin })),
  'quote state A or D': states('/quote', (isGone) => ({ state: isGone ? 'D' : 'A' })),
  'quote state 0 or 9': states('/quote', (isGone) => ({ state: isGone ? 9 : 0 })),
  'quote lifecycle in Spanish': states('/quote', (isGone) => ({
    lifecycle: isGone ? 'papelera' : 'activo',
  })),
  'product status A or Z': inField('/product', 'listed', (it) => ({ status: it ? 'A' : 'Z' })),
  'product lifecycle GA or EOL': inField('/product', 'listed', (it) => ({
    lifecycle: it ? 'GA' : 'EOL',
  })),
});

/** One field of a third of the records, always the same ones. */
const third = <V = unknown>(
  route: ListPath | 'item',
  field: string,
  make: (value: V) => unknown,
): (() => Rewrite) =>
  inField<V>(route, field, (value, { id, name }) => {
    const sum = [...String(id ?? name)].reduce((total, it) => total + it.charCodeAt(0), 0);
    return { [field]: sum % 3 === 0 ? make(value) : value };
  });
const old = ({ id, name }: Named): Named => ({ id: `OLD-${String(id).slice(0, 6)}`, name });

export const origins: Changes = rewritten({
  'products swapped': inRecords('/product', (row) => ({ ...row, id: row.name, name: row.id })),
  'deal companies by old ids': as(deal, 'company', old),
  'quote companies by old ids': as('/quote', 'company', old),
  'a third: deal companies by old ids': third(deal, 'company', old),
  'a third: quote companies by old ids': third('/quote', 'company', old),
  'a third: deal company null': third(deal, 'company', () => null),
  'a third: createdAt null': third(deal, 'createdAt', () => null),
  'a third: term -': third('item', 'term', () => '-'),
  'probability per mille': as(deal, 'probability', (it) => Number(it) * 1000),
  'probability of ten': as(deal, 'probability', (it) => Number(it) * 10),
});

const ofShort =
  (make: (total: number) => number) =>
  ({ rows, total, size }: SearchPage): Row => ({
    results: rows,
    total: rows.length < size ? make(total) : total,
  });

export const totals: Changes = bodies({
  'one page, total + 2': ofShort((it) => it + 2),
  'one page, total − 2': ofShort((it) => it - 2),
  'one page, total doubled': ofShort((it) => it * 2),
});

const texts = (make: (page: Pick<SearchPage, 'rows' | 'total'>) => string): (() => Rewrite) =>
  inSearches((page) => ({ text: make(page) }));

export const encodings: Changes = rewritten({
  'JSON in a text of JSON': texts(({ rows, total }) =>
    JSON.stringify(JSON.stringify({ results: rows, total })),
  ),
  'one record a line': texts(({ rows }) => rows.map((it) => JSON.stringify(it)).join('\n')),
  'cut by a proxy': texts(({ rows, total }) =>
    JSON.stringify({ results: rows, total }).slice(0, -40),
  ),
});
