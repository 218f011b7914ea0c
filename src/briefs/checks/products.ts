/** Checks of the catalogue and its pricing books. */

import {
  type CurrencyOf,
  currencyOfRecord,
  type Decimal,
  decimal,
  hundred,
  margin,
  percentOf,
  perUnit,
  roundedPercent,
} from '../../figures/money.ts';
import { byName, compact, type Named, named, nonBlank } from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import {
  filterSteps,
  flatMapSteps,
  forEachStep,
  recordsById,
  type Steps,
} from '../../figures/steps.ts';
import { overYear, termKey } from '../../figures/terms.ts';
import { normalisePart, partKey } from '../../names/part-numbers.ts';
import type { Product } from '../../service/records/records.ts';
import { quote, type Wording, wording } from '../../text/untrusted-text.ts';
import { type BookPrice, deviates, validEntries } from '../prices/books.ts';
import {
  type Check,
  type CheckResult,
  examineEach,
  type RawFinding,
  ReasonCounts,
} from './check.ts';

const listedProductsLabel = 'listed products';

/** Unlisted products are no longer sold; the service has no other deletion of products. */
export const isListed = (product: Product): boolean =>
  product.listed !== false && !isDeleted(product);

function* examineMargins(products: readonly Product[] = [], floor: number): Steps<CheckResult> {
  const listed = yield* filterSteps(products, isListed);
  return yield* examineEach(listed, listedProductsLabel, (product, notChecked) => {
    const [price, cost] = [decimal(product.price), decimal(product.cost)];
    if (price && cost) return thinMarginFinding(product, price, cost, floor);
    const missing = price ? 'no cost' : 'no price';
    notChecked.add(price || cost ? missing : 'no price and no cost');
    return undefined;
  });
}

/** A finding if the product misses the required margin. */
function thinMarginFinding(
  product: Product,
  price: Decimal,
  cost: Decimal,
  floor: number,
): RawFinding | undefined {
  const missing = missingMargin(price, cost, floor);
  if (!missing) return undefined;
  const { kinds, ...finding } = productFinding(product);
  return {
    ...finding,
    kinds: { ...kinds, price: priceKind(price, cost) },
    atStake: overYear(missing, termKey(product)),
    reason: () => describeMargin(price, cost),
  };
}

/** A price of 0 has no margin, so it is a kind of its own. */
function priceKind(price: Decimal, cost: Decimal): string {
  if (price.eq(0)) return 'price 0';
  return price.lt(cost) ? 'under cost' : 'at or above cost';
}

function describeMargin(price: Decimal, cost: Decimal): Wording {
  const percent = margin(price, cost);
  const prices = wording`price ${perUnit(price)}, cost ${perUnit(cost)}`;
  return percent ? wording`${prices}, margin ${roundedPercent(percent)} %` : prices;
}

/** With the term, because a price per month cannot be compared with one that is paid once. */
export const productFinding = (product: Product): Omit<RawFinding, 'reason'> => ({
  ...named(product),
  resource: 'product',
  currency: currencyOfRecord(product, noCurrencies),
  kinds: { term: termKey(product) },
});

const productCheck = {
  needs: ['product'],
  about: ['product'],
  unit: 'product',
} as const;

const noCurrencies: CurrencyOf = new Map();

export const belowCost: Check = {
  ...productCheck,
  define: () =>
    'Listed products whose price is lower than their cost. At stake: cost − price, per unit over a year.',
  examine: ({ product }) => examineMargins(product, 0),
};

export const thinMargins: Check = {
  ...productCheck,
  defaults: { floor: 10 },
  define: ({ floor }) =>
    `Listed products whose margin, (price − cost) / price, is under ${floor} %, those below cost included. At stake: the amount missing to a margin of ${floor} %, per unit over a year.`,
  examine: ({ product }, context) => examineMargins(product, context.floor),
};

/**
 * |price| × floor / 100 − (price − cost), if above 0. Without a division, so that a price of 0 is checked too;
 * with the absolute price, because the negative price of a credit would invert the comparison.
 */
function missingMargin(price: Decimal, cost: Decimal, floor: number): Decimal | undefined {
  const hundredfold = price.abs().times(floor).minus(price.minus(cost).times(hundred));
  return hundredfold.gt(0) ? hundredfold.div(hundred) : undefined;
}

export const pricingDrift: Check = {
  needs: ['pricing_book', 'product'],
  about: ['pricing_book'],
  unit: 'book price',
  defaults: { tolerance: 5 },
  define: ({ tolerance, today }) =>
    `Prices in pricing books valid on ${today} that differ by more than ${tolerance} % from the price of the listed product in the catalogue. At stake: the difference, per unit over a year.`,
  *examine({ pricing_book = [], product = [] }, context) {
    const catalogue = yield* recordsById(product);
    const entries = yield* flatMapSteps(pricing_book, (book) => validEntries(book, context.today));
    return yield* examineEach(entries, 'valid book prices', (entry, notChecked) => {
      const inCatalogue = catalogue.get(entry.productId);
      const drift = driftOf(entry, inCatalogue, context.tolerance);
      if (typeof drift === 'string') notChecked.add(drift);
      return typeof drift === 'object' && inCatalogue
        ? driftFinding(entry, inCatalogue, drift)
        : undefined;
    });
  },
};

interface Drift {
  bookPrice: Decimal;
  cataloguePrice: Decimal;
}

/** The two prices if they differ, or the reason why they cannot be compared. */
function driftOf(
  { price: bookPrice }: BookPrice,
  product: Product | undefined,
  tolerance: number,
): Drift | string | undefined {
  if (!product) return 'product not in the catalogue';
  if (!isListed(product)) return 'product unlisted';
  const listed = decimal(product.price);
  if (!bookPrice) return 'no price in the book';
  if (!listed) return 'no price in the catalogue';
  // A difference from 0 has no percentage, and 0 is rarely a real price.
  if (listed.eq(0)) return 'price 0 in the catalogue';
  return deviates(bookPrice, listed, tolerance) ? { bookPrice, cataloguePrice: listed } : undefined;
}

function driftFinding(
  { book }: BookPrice,
  product: Product,
  { bookPrice, cataloguePrice: listed }: Drift,
): RawFinding {
  const { kinds, ...finding } = productFinding(product);
  const side = bookPrice.gt(listed) ? 'above the catalogue' : 'under the catalogue';
  return {
    ...finding,
    kinds: { ...kinds, side },
    atStake: overYear(bookPrice.minus(listed).abs(), termKey(product)),
    reason: () => describeDrift({ bookPrice, cataloguePrice: listed }),
    related: [named(book)],
  };
}

function describeDrift({ bookPrice, cataloguePrice: listed }: Drift): Wording {
  const percent = percentOf(bookPrice.minus(listed), listed);
  const by = percent ? wording` (${percent.gt(0) ? '+' : ''}${roundedPercent(percent)} %)` : '';
  return wording`book ${perUnit(bookPrice)}, catalogue ${perUnit(listed)}${by}`;
}

export const duplicateProducts: Check = {
  ...productCheck,
  unit: 'part',
  parts: 'products',
  define: () =>
    'Listed products with the same manufacturer (or vendor) and part number, ignoring letter case, spaces and punctuation. At stake: the difference between their highest and lowest price, per unit over a year.',
  *examine({ product = [] }) {
    const notChecked = new ReasonCounts();
    const listedProducts = yield* filterSteps(product, isListed);
    const groups = new Map<string, Product[]>();
    yield* forEachStep(listedProducts, (entry) => {
      const key = partKey(entry);
      const group = groups.get(key ?? '');
      if (!key) notChecked.add(normalisePart(entry.mpn) ? 'no manufacturer' : 'no part number');
      else if (group) group.push(entry);
      else groups.set(key, [entry]);
    });
    const findings = yield* flatMapSteps([...groups.values()], (group) =>
      group.length > 1 ? [duplicatesFinding(group.toSorted(byName))] : [],
    );
    return {
      findings,
      examined: listedProducts.length,
      of: listedProductsLabel,
      notChecked: notChecked.counts,
    };
  },
};

/** The finding is about the first by name; the others are its related records. */
function duplicatesFinding(group: readonly Product[]): RawFinding {
  const [first = {}, ...others] = group;
  const term = sharedTerm(group);
  const prices = group.flatMap((product) => comparablePrice(product, term) ?? []);
  const [lowest, ...higher] = prices.sort((a, b) => a.cmp(b));
  const highest = higher.at(-1);
  const spread = lowest && highest?.minus(lowest);
  const range =
    lowest && highest?.gt(lowest)
      ? wording`, prices ${perUnit(lowest)} to ${perUnit(highest)}${term === undefined ? ' over a year' : ''}`
      : undefined;
  const maker = nonBlank(first.manufacturer) ?? nonBlank(first.vendor) ?? '';
  const part = nonBlank(first.mpn) ?? '';
  const { kinds: _terms, ...finding } = productFinding(first);
  return {
    ...compact({ ...finding, atStake: term === undefined ? spread : overYear(spread, term) }),
    kinds: { price: range ? 'different prices' : 'no different prices' },
    parts: group.length,
    reason: () =>
      wording`${group.length} products with manufacturer ${quote(maker)} and part number ${quote(part)}${range ?? ''}`,
    related: others.map((product): Named => named(product)),
  };
}

/** The term of all of them, if they have the same. */
function sharedTerm(group: readonly Product[]): string | undefined {
  const [term, ...others] = new Set(group.map(termKey));
  return others.length === 0 ? term : undefined;
}

/** Prices of different terms can be compared over a year only. */
function comparablePrice(product: Product, term: string | undefined): Decimal | undefined {
  const price = decimal(product.price);
  return term === undefined ? overYear(price, termKey(product)) : price;
}
