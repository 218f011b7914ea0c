/**
 * What a company may be quoted for a product: the list price, the prices of pricing books that apply, and the
 * discount groups that apply. Which price a quote gets is not decided here, because the service does not say.
 */

import { type Day, dayOf, latestDay } from '../../figures/days.ts';
import { compact, nonBlank } from '../../figures/fields.ts';
import { compare, groupBy, limitList } from '../../figures/lists.ts';
import { type Decimal, decimal, margin, percentOf, perUnit } from '../../figures/money.ts';
import { named } from '../../figures/naming.ts';
import { deletionOf, isDeleted } from '../../figures/outcome.ts';
import { termKey } from '../../figures/terms.ts';
import { currencyCode } from '../../service/records/normalise.ts';
import type { PricingBook, RecordLists, RecordOf } from '../../service/records/records.ts';
import { applicabilityOf, byApplicability, groupApplicability } from './books.ts';
import { type Discount, discountTargets, discountWords, lessDiscount } from './discounts.ts';

/** Pricing books, discount groups and categories are absent where they may not be read. */
interface PriceData extends Pick<RecordLists, 'pricing_book' | 'discount_group' | 'category'> {
  company: RecordOf['company'];
  product: RecordOf['product'];
}

/** Why a price of a book that may be for the company does not count on the day. */
const uncountedReasons = [
  'not yet valid',
  'no price',
  'unclear whether it applies',
  'expired',
  'book deleted',
] as const;

export type ProductPrices = ReturnType<typeof productPrices>;

/** Everything that may decide the price of a product for a company on a day. */
export function productPrices(data: PriceData, on: Day) {
  const { company, product, pricing_book: books, discount_group: groups } = data;
  const discounts = groups?.flatMap((group) => discountRows(group, data)).sort(byApplicability);
  const { isListLowest, ...ofBooks } = books ? bookPrices(books, data, on) : {};
  return compact({
    on,
    company: compact({ ...named(company), deleted: deletionOf(company) }),
    product: compact({
      ...named(product),
      deleted: deletionOf(product),
      mpn: nonBlank(product.mpn),
      manufacturer: nonBlank(product.manufacturer ?? product.vendor),
      term: termKey(product),
      listed: product.listed === false ? (false as const) : undefined,
    }),
    // Of the product; the service seldom names one.
    currency: currencyCode(product.currency),
    list: {
      ...figures(decimal(product.price), decimal(product.cost)),
      ...(isListLowest && { marks: ['lowest' as const] }),
    },
    ...ofBooks,
    discounts: discounts && limitList(discounts),
  });
}

function bookPrices(books: readonly PricingBook[], data: PriceData, on: Day) {
  const entries = books
    .flatMap((book) => entriesOf(book, data))
    .map((entry) => ({ ...entry, why: whyUncounted(entry, on) }))
    .sort((a, b) => byBook(a, b) || byAmount(a, b));
  const applying = entries.filter(({ why }) => why === undefined).sort(byAmount);
  const uncounted = uncountedReasons.flatMap((reason) =>
    entries.filter(({ why }) => why === reason),
  );
  const list = decimal(data.product.price);
  const [cheapest] = applying;
  const isListLowest = cheapest?.price && list && !list.gt(cheapest.price);
  const lowest = isListLowest ? list : cheapest?.price;
  const toRow = ({ book, appliesTo, price, cost, why, ...entry }: (typeof entries)[number]) => {
    // `lowest`: no valid price, the list price included, is lower.
    const marks: ('own' | 'lowest')[] = [];
    if (why === undefined && appliesTo === 'company') marks.push('own');
    if (why === undefined && lowest && price?.eq(lowest)) marks.push('lowest');
    return compact({
      ...book,
      appliesTo,
      ...figures(price, cost),
      // Percent; negative above the list price.
      belowList: price && list?.gt(0) ? percentOf(list.minus(price), list) : undefined,
      specialBidNumber: entry.specialBidNumber,
      validFrom: entry.validFrom,
      validTo: entry.validTo,
      marks: marks.length > 0 ? marks : undefined,
      why,
    });
  };
  const reasons = [...groupBy(uncounted, ({ why = '' }) => why)].map(
    ([why, { length }]) => [why, length] as const,
  );
  return {
    isListLowest,
    prices: limitList(applying.map(toRow)),
    notCounted:
      reasons.length > 0
        ? { reasons: Object.fromEntries(reasons), ...limitList(uncounted.map(toRow)) }
        : undefined,
  };
}

/** Per unit and term. */
const figures = (price: Decimal | undefined, cost: Decimal | undefined) =>
  compact({
    price: price && perUnit(price),
    cost: cost && perUnit(cost),
    margin: margin(price, cost),
  });

type Entry = ReturnType<typeof entriesOf>[number];

/** The prices of the product in a book that applies to the company, or may. */
function entriesOf(book: PricingBook, { company, product }: PriceData) {
  const appliesTo = applicabilityOf(book, company);
  if (!appliesTo || product.id === undefined) return [];
  const entries = book.products?.filter(({ productId }) => productId === product.id) ?? [];
  return entries.map((priced) => {
    const ends = [book.validTo, priced.validTo].flatMap((time) => dayOf(time) ?? []);
    return {
      book: named(book),
      isDeleted: isDeleted(book),
      specialBidNumber: nonBlank(book.specialBidNumber),
      appliesTo,
      price: decimal(priced.price),
      cost: decimal(priced.cost) ?? decimal(product.cost),
      validFrom: latestDay(book.validFrom, priced.validFrom),
      validTo: ends.sort(compare)[0],
    };
  });
}

function whyUncounted(
  { isDeleted, appliesTo, price, validFrom, validTo }: Entry,
  on: Day,
): (typeof uncountedReasons)[number] | undefined {
  if (isDeleted) return 'book deleted';
  if (validTo && validTo < on) return 'expired';
  if (validFrom && validFrom > on) return 'not yet valid';
  if (!price) return 'no price';
  return appliesTo === 'unclear' ? 'unclear whether it applies' : undefined;
}

/** The lowest price first, unknown prices last. */
const byAmount = (a: Entry, b: Entry): number =>
  a.price && b.price ? a.price.cmp(b.price) : Number(!a.price) - Number(!b.price);

/** The most specific book first. */
const byBook = (a: Entry, b: Entry): number =>
  byApplicability({ ...a.book, ...a }, { ...b.book, ...b }) ||
  compare(a.validFrom ?? '', b.validFrom ?? '') ||
  compare(a.validTo ?? '', b.validTo ?? '');

function discountRows(
  group: RecordOf['discount_group'],
  { company, product, category }: PriceData,
) {
  const appliesTo = groupApplicability(group, company);
  if (!appliesTo) return [];
  const targetOf = discountTargets(product, category);
  const names = new Map([...(category ?? []), product].map(({ id, name }) => [id, name]));
  return (group.discounts ?? []).flatMap((discount: Discount) => {
    const on = targetOf(discount);
    if (on === undefined) return [];
    const isSure = on !== 'unclear' && appliesTo !== 'unclear';
    const list = isSure ? decimal(product.price) : undefined;
    const less = list && lessDiscount(list, discount);
    return [
      compact({
        ...named(group),
        appliesTo,
        discount: discountWords(discount, (id) => names.get(id)),
        on,
        listPriceAfterDiscount: less && perUnit(less),
      }),
    ];
  });
}
