import { describe, expect, test } from 'vitest';
import { discountTargets } from '../../src/briefs/prices/discounts.ts';
import { productPrices } from '../../src/briefs/prices/product-prices.ts';
import type { Company, DiscountGroup, Product } from '../../src/service/records/records.ts';

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
describe('discounts of discount groups', () => {
  const discountsOf = (
    discounts: Record<string, unknown>[],
    group: Partial<DiscountGroup> = {},
    known: typeof categories | undefined = categories,
  ) => {
    const groups = [{ id: 'g', name: 'Volume', companyIds: ['acme'], discounts, ...group }];
    const found = productPrices(
      { company, product, discount_group: groups, category: known },
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
      { vendor: 'Cisco', amount: 3 },
      { amount: '2' },
      { amount: 100 },
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
      ['3 % on Cisco', 'unclear', undefined],
      ['2 % on everything', 'everything', 98],
      ['100 % on everything', 'everything', 0],
      ['discount on Switch', 'unclear', undefined],
    ]);
  });

  test('have a price only where it is clear that they apply, and by how much', () => {
    const unclear = discountsOf([{ name: 'Spring', amount: 5 }]);
    expect(unclear).toMatchObject([{ on: 'unclear', discount: '5 % on Spring' }]);
    const fixed = discountsOf([{ amount: 5, type: 'fixed' }]);
    expect(fixed).toMatchObject([{ on: 'everything', discount: '5 (fixed) on everything' }]);
    const large = discountsOf([{ amount: 100.01 }]);
    expect(large).toMatchObject([{ discount: '100.01 (no type) on everything' }]);
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
        discount_group: [
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

test('a price of a deleted book does not count, however low it is', () => {
  const products = [{ productId: 'p', price: 1 }];
  const pricing_book = [{ id: 'b', name: 'Deleted', deletedAt: '2026-06-01', products }];
  const { prices, notCounted } = productPrices({ company, product, pricing_book }, today);
  expect([prices?.total, notCounted?.reasons]).toEqual([0, { 'book deleted': 1 }]);
});

test('a price under a list price of cents is told in percent of it', () => {
  const pricing_book = [{ id: 'b', name: 'Cents', products: [{ productId: 'p', price: 0.4 }] }];
  const { prices } = productPrices(
    { company, product: { ...product, price: 0.5 }, pricing_book },
    today,
  );
  expect(prices?.rows[0]?.belowList).toBe(20);
});

test('prices of one book that do not count go up, unknown ones last', () => {
  const products = [7, undefined, 5].map((price) => ({
    productId: 'p',
    ...(price !== undefined && { price }),
  }));
  const pricing_book = [{ id: 'old', name: 'Old', validTo: '2026-06-14', products }];
  const { notCounted } = productPrices({ company, product, pricing_book }, today);
  expect(notCounted?.rows.map(({ price }) => price)).toEqual([5, 7, undefined]);
});
