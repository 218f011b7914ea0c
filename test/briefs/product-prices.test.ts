import { describe, expect, test } from 'vitest';
import { discountTargets } from '../../src/briefs/prices/discounts.ts';
import { productPrices } from '../../src/briefs/prices/product-prices.ts';
import type {
  Company,
  DiscountGroup,
  PricingBook,
  Product,
} from '../../src/service/records/records.ts';

const today = '2026-06-15';
const company: Company = { id: 'acme', name: 'Acme' };
const product: Product = {
  id: 'p',
  name: 'Switch',
  manufacturer: 'Cisco',
  price: 100,
  cost: 60,
  category: { id: 'access' },
};
const categories = [
  { id: 'access', name: 'Access switches', parentCategoryId: 'switches' },
  { id: 'switches', name: 'Switches', parentCategoryId: 'network' },
  { id: 'network', name: 'Network', parentCategoryId: 'access' },
  { id: 'laptops', name: 'Laptops' },
];
type Priced = NonNullable<PricingBook['products']>[number];
const book = (name: string, entry: Priced, more: Partial<PricingBook> = {}): PricingBook => ({
  id: name,
  name,
  products: [
    { productId: 'p', ...entry },
    { productId: 'other', price: 1 },
  ],
  ...more,
});
const pricesIn = (books: PricingBook[], of: Product = product) =>
  productPrices({ company, product: of, books }, today);

describe('prices of pricing books', () => {
  test('begin with the lowest, and mark it and those of books that name the company', () => {
    const { list, prices } = pricesIn([
      book('Framework', { price: 95 }, { companyIds: ['acme'] }),
      book('Promotion', { price: 90.5, cost: 50 }),
      book('Rebate', { price: 90.5 }),
    ]);
    expect(list).toEqual({ price: 100, cost: 60, margin: 40 });
    expect(prices?.rows).toEqual([
      {
        id: 'Promotion',
        name: 'Promotion',
        appliesTo: 'everyone',
        price: 90.5,
        cost: 50,
        margin: 44.8,
        belowList: 9.5,
        marks: ['lowest'],
      },
      expect.objectContaining({ id: 'Rebate', cost: 60, marks: ['lowest'] }),
      expect.objectContaining({ id: 'Framework', appliesTo: 'company', marks: ['own'] }),
    ]);
  });

  test('that do not count are listed with the reason', () => {
    const { prices, notCounted } = pricesIn([
      book('Deleted', { price: 1 }, { deletedAt: '2026-06-01' }),
      // As low as the lowest that counts.
      book('Over', { price: 80 }, { validTo: '2026-06-14' }),
      book('Entry over', { price: 3, validTo: '2026-06-14' }, { validTo: '2026-12-31' }),
      book('Unpriced', {}),
      book('Unclear', { price: 4 }, { classificationIds: ['gold'] }),
      book('Next', { price: 5, validFrom: '2026-07-01' }, { validFrom: '2026-06-16' }),
      book('Last day', { price: 80 }, { validFrom: today, validTo: today }),
    ]);
    expect(prices?.rows).toMatchObject([{ id: 'Last day', validFrom: today, validTo: today }]);
    expect(notCounted?.rows.map(({ id, why }) => [id, why])).toEqual([
      ['Next', 'not yet valid'],
      ['Unpriced', 'no price'],
      ['Unclear', 'unclear whether it applies'],
      ['Entry over', 'expired'],
      ['Over', 'expired'],
      ['Deleted', 'book deleted'],
    ]);
    expect(notCounted?.rows[0]).toMatchObject({ validFrom: '2026-07-01' });
    expect(notCounted?.rows[3]).toMatchObject({ validTo: '2026-06-14' });
    expect(notCounted?.rows.some(({ marks }) => marks)).toBe(false);
    expect(notCounted?.reasons).toEqual({
      'not yet valid': 1,
      'no price': 1,
      'unclear whether it applies': 1,
      expired: 2,
      'book deleted': 1,
    });
  });
});

describe('discounts of discount groups', () => {
  const discountsOf = (
    discounts: Record<string, unknown>[],
    group: Partial<DiscountGroup> = {},
    known: typeof categories | undefined = categories,
  ) => {
    const groups = [{ id: 'g', name: 'Volume', companyIds: ['acme'], discounts, ...group }];
    const found = productPrices(
      { company, product, discountGroups: groups, categories: known },
      today,
    );
    return found.discounts?.rows;
  };

  test('are those on the product, its category or one above, or everything', () => {
    const found = discountsOf([
      { productId: 'p', amount: 5, type: 'percentage' },
      { product: { id: 'other' }, amount: 5 },
      { categoryId: 'access', percent: 10 },
      { categoryId: 'network', discount: 20 },
      { category: { id: 'laptops', name: 'Laptops' }, amount: 30 },
      { manufacturer: 'CISCO ', amount: 1 },
      { amount: '2' },
      { product: { name: 'Switch' } },
    ]);
    expect(
      found?.map(({ discount, on, listPriceAfterDiscount }) => [
        discount,
        on,
        listPriceAfterDiscount,
      ]),
    ).toEqual([
      ['5 % on Switch', 'product', 95],
      ['10 % on Access switches', 'category', 90],
      ['20 % on Network', 'parent category', 80],
      ['1 % on CISCO ', 'unclear', undefined],
      ['2 % on everything', 'everything', 98],
      ['discount on Switch', 'unclear', undefined],
    ]);
  });

  test('have a price only where it is clear that they apply, and by how much', () => {
    const unclear = discountsOf([{ name: 'Spring', amount: 5 }]);
    expect(unclear).toMatchObject([{ on: 'unclear', discount: '5 % on Spring' }]);
    const fixed = discountsOf([{ amount: 5, type: 'fixed' }]);
    expect(fixed).toMatchObject([{ on: 'everything', discount: '5 (fixed) on everything' }]);
    const large = discountsOf([{ amount: 250 }]);
    expect(large).toMatchObject([{ discount: '250 (no type) on everything' }]);
    expect(large?.[0]).not.toHaveProperty('listPriceAfterDiscount');
    expect(discountTargets({ id: '7' }, [])({ productId: 7 })).toBe('product');
    const empty = discountsOf([
      { categoryId: null, productId: product.id, type: null, amount: 10 },
    ]);
    expect(empty).toMatchObject([{ discount: expect.stringMatching(/^10 % on (?!category)/) }]);
    const blank = discountsOf([{ amount: ' ' }]);
    expect(blank).toMatchObject([{ on: 'everything' }]);
    const forClass = discountsOf([{ amount: 5 }], { companyIds: [], classificationIds: ['gold'] });
    expect(forClass).toMatchObject([{ appliesTo: 'unclear' }]);
    const unread = productPrices(
      {
        company,
        product,
        discountGroups: [
          { companyIds: ['acme'], discounts: [{ categoryId: 'network', amount: 5 }] },
        ],
      },
      today,
    ).discounts?.rows;
    expect(unread).toMatchObject([{ on: 'unclear' }]);
    const all = [unclear, fixed, blank, forClass, unread].flat();
    expect(all.every((row) => row && !('listPriceAfterDiscount' in row))).toBe(true);
  });

  test('of deleted groups, and of groups of nobody, do not apply', () => {
    expect(discountsOf([{ amount: 5 }], { deletedAt: '2026-01-01' })).toEqual([]);
    expect(discountsOf([{ amount: 5 }], { companyIds: [] })).toEqual([]);
    expect(discountsOf([{ amount: 5 }], { companyIds: ['other'] })).toEqual([]);
  });
});

test('the list price is the lowest next to a single dearer book, and alone it is not marked', () => {
  expect(pricesIn([book('Premium', { price: 120 })]).list).toMatchObject({ marks: ['lowest'] });
  const { list, notCounted } = pricesIn([]);
  expect(list).not.toHaveProperty('marks');
  expect(notCounted).toBeUndefined();
});

test('prices of one book that do not count go up, unknown ones last', () => {
  const products = [7, undefined, 5].map((price) => ({
    productId: 'p',
    ...(price !== undefined && { price }),
  }));
  const { notCounted } = pricesIn([{ id: 'old', name: 'Old', validTo: '2026-06-14', products }]);
  expect(notCounted?.rows.map(({ price }) => price)).toEqual([5, 7, undefined]);
});

test('a product is told with its maker, else its vendor, and where it is no longer listed', () => {
  const { manufacturer: _maker, ...unmade } = product;
  const factsOf = (more: Product) => pricesIn([], { ...unmade, ...more }).product;
  expect(factsOf({ manufacturer: 'Cisco', vendor: 'Ingram' }).manufacturer).toBe('Cisco');
  expect(factsOf({ vendor: 'Ingram' }).manufacturer).toBe('Ingram');
  expect(factsOf({ listed: false }).listed).toBe(false);
  expect(factsOf({ listed: true })).not.toHaveProperty('listed');
});

test('a product without an id has no price in a book', () => {
  const { id: _id, ...unknown } = product;
  const nameless = { id: 'b', name: 'Book', products: [{ price: 1 }] };
  expect(pricesIn([nameless], unknown).prices?.total).toBe(0);
});

test('a price under a list price of cents is told in percent of it', () => {
  const { prices } = pricesIn([book('Cents', { price: 0.4 })], { ...product, price: 0.5 });
  expect(prices?.rows[0]?.belowList).toBe(20);
});

test('equal prices of one book stand by their first day, then by their last', () => {
  const entry = (validFrom: string, validTo: string) => ({
    productId: 'p',
    price: 90,
    validFrom,
    validTo,
  });
  const products = [
    entry('2026-03-01', '2026-12-31'),
    entry('2026-01-01', '2026-12-31'),
    entry('2026-01-01', '2026-06-30'),
  ];
  const { prices } = pricesIn([{ id: 'b', name: 'Book', products }]);
  expect(prices?.rows.map(({ validFrom, validTo }) => [validFrom, validTo])).toEqual([
    ['2026-01-01', '2026-06-30'],
    ['2026-01-01', '2026-12-31'],
    ['2026-03-01', '2026-12-31'],
  ]);
});
