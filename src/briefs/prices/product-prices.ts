/**
 * What a company may be quoted for a product: the list price, the prices of pricing books that apply, and the
 * discount groups that apply. Which price a quote gets is not decided here, because the service does not say.
 */

import { type Day, dayOf } from '../../figures/days.ts';
import {
  currencyCode,
  type Decimal,
  decimal,
  margin,
  percentOf,
  perUnit,
  roundedPercent,
} from '../../figures/money.ts';
import {
  compact,
  compare,
  type LimitedList,
  limitList,
  named,
  nonBlank,
  nonZero,
} from '../../figures/naming.ts';
import { deletionOf, isDeleted } from '../../figures/outcome.ts';
import { termKey } from '../../figures/terms.ts';
import type {
  Category,
  Company,
  DiscountGroup,
  PricingBook,
  Product,
} from '../../service/records/records.ts';
import { type Applicability, applicabilityOf, byApplicability } from './books.ts';
import { type Discount, DiscountTargets, discountWords, lessDiscount } from './discounts.ts';

export interface PriceData {
  company: Company;
  product: Product;
  /** Absent where pricing books may not be read; so are the other two. */
  books?: readonly PricingBook[] | undefined;
  discountGroups?: readonly DiscountGroup[] | undefined;
  categories?: readonly Category[] | undefined;
}

/** Why a price of a book that may be for the company does not count today. */
const uncountedReasons = [
  'not yet valid',
  'no price',
  'unclear whether it applies',
  'expired',
  'book deleted',
] as const;
type UncountedReason = (typeof uncountedReasons)[number];

export type ProductPrices = ReturnType<typeof productPrices>;
export type BookPriceRow = ReturnType<typeof bookRow>;
type ListPrice = ReturnType<typeof figures> & { marks?: 'lowest'[] };

/** Everything that may decide the price of a product for a company on a day. */
export function productPrices(data: PriceData, today: Day) {
  const { company, product, books, discountGroups } = data;
  const discounts = discountGroups
    ?.flatMap((group) => discountRows(group, data))
    .sort(byApplicability);
  const list: ListPrice = figures(decimal(product.price), decimal(product.cost));
  const { isListLowest, ...ofBooks } = books ? bookPrices(books, data, today) : {};
  return compact({
    today,
    company: compact({ ...named(company), deleted: deletionOf(company) }),
    product: productFacts(product),
    // Of the product; the service seldom names one.
    currency: currencyCode(product.currency),
    list: isListLowest ? { ...list, marks: ['lowest' as const] } : list,
    ...ofBooks,
    discounts: discounts && wholeList(discounts),
  });
}

function bookPrices(books: readonly PricingBook[], data: PriceData, today: Day) {
  const { product } = data;
  const entries = books.flatMap((book) => entriesOf(book, data, today));
  const valid = entries.filter(({ why }) => why === undefined);
  const applying = valid.filter(isFor).sort(byPrice);
  const uncounted = uncountedReasons.flatMap((reason) =>
    entries.filter((entry) => entry.why === reason && isFor(entry)).sort(byBookThenAmount),
  );
  const list = decimal(product.price);
  const lowest = lowestOf([list, ...applying.map(({ price }) => price)]);
  const toRow = (entry: Entry) => bookRow(entry, product, lowest);
  return {
    isListLowest: applying.length > 0 && isLowest(list, lowest),
    prices: wholeList(applying.map(toRow)),
    notCounted:
      uncounted.length > 0
        ? { reasons: countReasons(uncounted), ...wholeList(uncounted.map(toRow)) }
        : undefined,
    // Valid today.
    pricesForOtherCompanies: nonZero(valid.length - applying.length),
  };
}

const wholeList = <Row>(rows: Row[]): LimitedList<Row> =>
  limitList(rows, rows.length, (row) => row);

const countReasons = (entries: readonly Entry[]): Partial<Record<UncountedReason, number>> =>
  Object.fromEntries(
    uncountedReasons.flatMap((reason) => {
      const count = entries.filter(({ why }) => why === reason).length;
      return count > 0 ? [[reason, count]] : [];
    }),
  );

const productFacts = (product: Product) =>
  compact({
    ...named(product),
    deleted: deletionOf(product),
    mpn: nonBlank(product.mpn),
    manufacturer: nonBlank(product.manufacturer ?? product.vendor),
    term: termKey(product),
    listed: product.listed === false ? (false as const) : undefined,
  });

/** Per unit and term. */
function figures(price: Decimal | undefined, cost: Decimal | undefined) {
  const percent = margin(price, cost);
  return compact({
    price: price && perUnit(price),
    cost: cost && perUnit(cost),
    margin: percent && roundedPercent(percent),
  });
}

type Entry = ReturnType<typeof entriesOf>[number];

const isFor = ({ appliesTo }: Entry): boolean => appliesTo !== undefined;

/** The prices of the product in a book; `appliesTo` is absent if the book is for other companies. */
function entriesOf(book: PricingBook, { company, product }: PriceData, today: Day) {
  if (product.id === undefined) return [];
  const entries = book.products?.filter(({ productId }) => productId === product.id) ?? [];
  const appliesTo = applicabilityOf(book, company);
  return entries.map((priced) => {
    const entry = {
      book,
      appliesTo,
      price: decimal(priced.price),
      cost: decimal(priced.cost) ?? decimal(product.cost),
      validFrom: daysInOrder(book.validFrom, priced.validFrom).at(-1),
      validTo: daysInOrder(book.validTo, priced.validTo).at(0),
    };
    return { ...entry, why: whyUncounted(book, entry, today) };
  });
}

interface Priced {
  appliesTo: Applicability | undefined;
  price: Decimal | undefined;
  validFrom: Day | undefined;
  validTo: Day | undefined;
}

function whyUncounted(
  book: PricingBook,
  { appliesTo, price, validFrom, validTo }: Priced,
  today: Day,
): UncountedReason | undefined {
  if (isDeleted(book)) return 'book deleted';
  if (validTo && validTo < today) return 'expired';
  if (validFrom && validFrom > today) return 'not yet valid';
  if (!price) return 'no price';
  return appliesTo === 'unclear' ? 'unclear whether it applies' : undefined;
}

/** The days that are known, the earliest first. */
const daysInOrder = (...times: (string | undefined)[]): Day[] =>
  times
    .map(dayOf)
    .filter((day) => day !== undefined)
    .sort(compare);

function lowestOf(prices: readonly (Decimal | undefined)[]): Decimal | undefined {
  const known = prices.filter((price) => price !== undefined);
  return known.sort((a, b) => a.cmp(b))[0];
}

const isLowest = (price: Decimal | undefined, lowest: Decimal | undefined): boolean =>
  price !== undefined && lowest !== undefined && price.eq(lowest);

function bookRow(entry: Entry, product: Product, lowest: Decimal | undefined) {
  const { book, appliesTo = 'unclear', price, cost, validFrom, validTo, why } = entry;
  // `lowest`: no valid price, the list price included, is lower.
  const marks: ('own' | 'lowest')[] = [];
  if (why === undefined && appliesTo === 'company') marks.push('own');
  if (why === undefined && isLowest(price, lowest)) marks.push('lowest');
  const list = decimal(product.price);
  const below = price && list?.gt(0) ? percentOf(list.minus(price), list) : undefined;
  return compact({
    ...named(book),
    appliesTo,
    ...figures(price, cost),
    // Percent; negative above the list price.
    belowList: below && roundedPercent(below),
    specialBidNumber: nonBlank(book.specialBidNumber),
    validFrom,
    validTo,
    marks: marks.length > 0 ? marks : undefined,
    why,
  });
}

/** The lowest price first; then the most specific book. */
const byPrice = (a: Entry, b: Entry): number => byAmount(a, b) || byBook(a, b);

/** The most specific book first; then the lowest price, unknown prices last. */
const byBookThenAmount = (a: Entry, b: Entry): number => byBook(a, b) || byAmount(a, b);

const byAmount = (a: Entry, b: Entry): number =>
  a.price && b.price ? a.price.cmp(b.price) : Number(!a.price) - Number(!b.price);

const byBook = (a: Entry, b: Entry): number =>
  byApplicability(sortKeys(a), sortKeys(b)) ||
  compare(a.validFrom ?? '', b.validFrom ?? '') ||
  compare(a.validTo ?? '', b.validTo ?? '');

const sortKeys = ({ book, appliesTo = 'unclear' }: Entry) => ({ ...named(book), appliesTo });

function discountRows(group: DiscountGroup, data: PriceData) {
  const { company, product, categories } = data;
  const appliesTo = applicabilityOf(group, company);
  if (!appliesTo || appliesTo === 'everyone' || isDeleted(group)) return [];
  const targets = new DiscountTargets(product, categories);
  const names = new Map(categories?.map(({ id, name }) => [id, name]));
  return (group.discounts ?? []).flatMap((discount: Discount) => {
    const on = targets.targetOf(discount);
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
