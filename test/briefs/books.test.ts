import { expect, test } from 'vitest';
import { applicabilityOf } from '../../src/briefs/prices/books.ts';
import { preflight } from '../../src/briefs/quote/preflight.ts';
import type { Company, PricingBook, Quote, QuoteItem } from '../../src/service/records/records.ts';

const today = '2026-06-15';
const acme: Company = { id: 'acme', name: 'Acme', currency: 'EUR' };
const currencyOf = new Map([['acme', 'EUR']]);
const good: QuoteItem = { name: 'Switch', quantity: 1, price: 100, cost: 50 };
const withItem = (item: QuoteItem): Quote => ({
  status: 'draft',
  expiresAt: '2026-12-31',
  company: { id: 'acme' },
  contact: { id: 'c1' },
  paymentTerm: { name: 'Net 30' },
  items: [item],
});
const codes = (records: Parameters<typeof preflight>[0], more: object = {}) =>
  preflight(records, { today, currencyOf, discountLimit: 20, ...more }).map(
    ({ code, severity, line }) => `${severity} ${code} ${line}`,
  );

const book = (fields: Partial<PricingBook>): PricingBook => ({
  id: 'b',
  name: 'Book',
  products: [{ productId: 'p', price: 90 }],
  ...fields,
});
const quote = withItem({ ...good, product: { id: 'p' } });
const against = (books: PricingBook[], of: Quote = quote) =>
  codes({ quote: of, company: { ...acme, classificationId: 'gold' }, books });

test('pricing books: says that it cannot tell where it cannot be read to whom one applies', () => {
  for (const field of ['companyIds', 'classificationIds'])
    expect(applicabilityOf(book({ unreadable: { [field]: [{ id: 'x' }] } }), acme)).toBe('unclear');
  const named = book({ companyIds: [String(acme.id)], unreadable: { classificationIds: [{}] } });
  expect(applicabilityOf(named, acme)).toBe('company');
});

test('pricing books: says that it cannot tell when a classification is unknown', () => {
  expect(applicabilityOf(book({ classificationIds: ['gold'] }), acme)).toBe('unclear');
  expect(applicabilityOf(book({ classificationIds: ['gold'] }), undefined)).toBeUndefined();
  const several = { ...acme, classificationIds: ['silver', 'gold'] } as Company;
  expect(applicabilityOf(book({ classificationIds: ['gold'] }), several)).toBe('classification');
  expect(applicabilityOf(book({ classificationIds: ['lead'] }), several)).toBeUndefined();
  for (const of of [{ classificationId: 7 }, { classification: { id: 7 } }] as unknown[])
    expect(applicabilityOf(book({ classificationIds: ['7'] }), of as Company)).toBe(
      'classification',
    );
  expect(against([book({ classificationIds: ['gold'] })])).toEqual(['check over_book 1']);
  const unknown = { quote, company: acme, books: [book({ classificationIds: ['gold'] })] };
  expect(codes(unknown)).toEqual([]);
});

test('pricing books: finds a price that discounts reduce below all books', () => {
  const books = [book({}), book({ id: 'low', products: [{ productId: 'p', price: 80 }] })];
  const discounted = (discount: number, percent = 0): Quote => ({
    ...withItem({ ...good, price: 90, discount, product: { id: 'p' } }),
    discount: { type: 'percent', amount: percent },
  });
  expect(against(books, discounted(11))).toEqual([]);
  expect(against(books, discounted(13))).toEqual(['check under_book 1']);
  expect(against(books, discounted(5, 9))).toEqual(['check under_book 1']);
  // Between the lowest and the highest price of the books it is neither.
  const between = withItem({ ...good, price: 85, product: { id: 'p' } });
  expect(against(books, between)).toEqual([]);
  expect(against(books)).toEqual(['check over_book 1']);
  const own = book({ id: 'own', companyIds: ['acme'] });
  expect(against([...books, own], discounted(2))).toEqual(['check under_book 1']);
});

test('pricing books: uses the books that were valid when the quote was sent', () => {
  const may = book({ validFrom: '2026-05-01', validTo: '2026-05-31' });
  expect(against([may])).toEqual([]);
  const sent = { ...quote, status: 'sent', sentAt: '2026-05-20T09:00:00Z' };
  expect(against([may], sent)).toEqual(['check over_book 1']);
  expect(against([may], { ...sent, status: 'draft' })).toEqual([]);
  // An entry has a window of its own.
  const until = (validTo: string) => book({ products: [{ productId: 'p', price: 90, validTo }] });
  expect(against([until(today)])).toEqual(['check over_book 1']);
  expect(against([until('2026-06-14')])).toEqual([]);
});
