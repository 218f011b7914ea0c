import { nonBlank } from '../../figures/fields.ts';
import {
  currencyOfRecord,
  type Decimal,
  decimal,
  formatNumber,
  hundred,
  margin,
  perUnit,
} from '../../figures/money.ts';
import { byName, named } from '../../figures/naming.ts';
import { isListed } from '../../figures/outcome.ts';
import { flatMapSteps, recordsById, type Steps } from '../../figures/steps.ts';
import { overYear, termKey } from '../../figures/terms.ts';
import { normalisePart, partKey } from '../../names/part-numbers.ts';
import type { Product } from '../../service/records/records.ts';
import { quote, type Wording, wording } from '../../text/untrusted-text.ts';
import { type BookPrice, deviates, deviationWords, validEntries } from '../prices/books.ts';
import {
  type Check,
  type CheckResult,
  examineEach,
  examineSharing,
  type Judgement,
  type RawFinding,
} from './check.ts';

/** With the term as a kind, because a price per month cannot be compared with one that is paid once. */
const productFinding = (
  product: Product,
  kinds: RawFinding['kinds'],
  reason: () => Wording,
): RawFinding => ({
  ...named(product),
  currency: currencyOfRecord(product, new Map()),
  kinds: { term: termKey(product), ...kinds },
  reason,
});

const productCheck = {
  needs: ['product'],
  unit: 'product',
  of: 'listed products',
} as const;

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

const examineMargins = (
  products: readonly Product[] | undefined,
  floor: number,
): Steps<CheckResult> => examineEach(products, (product) => judgeMargin(product, floor), isListed);

function judgeMargin(product: Product, floor: number): Judgement {
  const [price, cost] = [decimal(product.price), decimal(product.cost)];
  if (!price || !cost) return [price ? [] : 'no price', cost ? [] : 'no cost'].flat().join(' and ');
  const missing = missingMargin(price, cost, floor);
  if (!missing) return undefined;
  return {
    ...productFinding(product, { price: priceKind(price, cost) }, () =>
      describeMargin(price, cost),
    ),
    atStake: overYear(missing, termKey(product)),
  };
}

/**
 * |price| × floor / 100 − (price − cost), if above 0. Without a division, so that a price of 0 is checked too;
 * with the absolute price, because the negative price of a credit would invert the comparison.
 */
function missingMargin(price: Decimal, cost: Decimal, floor: number): Decimal | undefined {
  const hundredfold = price.abs().times(floor).minus(price.minus(cost).times(hundred));
  return hundredfold.gt(0) ? hundredfold.div(hundred) : undefined;
}

/** A price of 0 has no margin, so it is a kind of its own. */
function priceKind(price: Decimal, cost: Decimal): string {
  if (price.eq(0)) return 'price 0';
  return price.lt(cost) ? 'under cost' : 'at or above cost';
}

function describeMargin(price: Decimal, cost: Decimal): Wording {
  const percent = margin(price, cost);
  const prices = wording`price ${formatNumber(perUnit(price))}, cost ${formatNumber(perUnit(cost))}`;
  return percent === undefined ? prices : wording`${prices}, margin ${percent} %`;
}

export const pricingDrift: Check = {
  needs: ['pricing_book', 'product'],
  unit: 'book price',
  of: 'valid book prices',
  defaults: { tolerance: 5 },
  define: ({ tolerance, today }) =>
    `Prices in pricing books valid on ${today} that differ by more than ${tolerance} % from the price of the listed product in the catalogue. At stake: the difference, per unit over a year.`,
  *examine({ pricing_book = [], product = [] }, { today, tolerance }) {
    const catalogue = yield* recordsById(product);
    const entries = yield* flatMapSteps(pricing_book, (book) => validEntries(book, today));
    return yield* examineEach(entries, (entry) =>
      judgeDrift(entry, catalogue.get(entry.productId), tolerance),
    );
  },
};

function judgeDrift(
  { book, price }: BookPrice,
  product: Product | undefined,
  tolerance: number,
): Judgement {
  if (!product) return 'product not in the catalogue';
  if (!isListed(product)) return 'product unlisted';
  if (!price) return 'no price in the book';
  const listed = decimal(product.price);
  if (!listed) return 'no price in the catalogue';
  // A difference from 0 has no percentage, and 0 is rarely a real price.
  if (listed.eq(0)) return 'price 0 in the catalogue';
  if (!deviates(price, listed, tolerance)) return undefined;
  const side = price.gt(listed) ? 'above the catalogue' : 'under the catalogue';
  const reason = () =>
    wording`book ${formatNumber(perUnit(price))}, catalogue ${formatNumber(perUnit(listed))}${deviationWords(price, listed)}`;
  return {
    ...productFinding(product, { side }, reason),
    atStake: overYear(price.minus(listed).abs(), termKey(product)),
    related: [named(book)],
  };
}

export const duplicateProducts: Check = {
  ...productCheck,
  unit: 'part',
  parts: 'products',
  define: () =>
    'Listed products with the same manufacturer (or vendor) and part number, ignoring letter case, spaces and punctuation. At stake: the difference between their highest and lowest price, per unit over a year.',
  examine: ({ product }) => examineSharing(product, partKeys, duplicatesFinding, isListed),
};

function partKeys(product: Product) {
  const key = partKey(product);
  if (key) return [key];
  return { reason: normalisePart(product.mpn) ? 'no manufacturer' : 'no part number' };
}

/** The finding is about the first by name; the others are its related records. Prices of several terms are not compared. */
function duplicatesFinding(group: readonly Product[]): RawFinding {
  const [first = {}, ...others] = group.toSorted(byName);
  const hasOneTerm = new Set(group.map(termKey)).size === 1;
  const prices = group.flatMap(({ price }) => (hasOneTerm && decimal(price)) || []);
  const [lowest, ...higher] = prices.sort((a, b) => a.cmp(b));
  const highest = higher.at(-1);
  const range =
    lowest !== undefined &&
    highest?.gt(lowest) === true &&
    wording`, prices ${formatNumber(perUnit(lowest))} to ${formatNumber(perUnit(highest))}`;
  const maker = nonBlank(first.manufacturer) ?? nonBlank(first.vendor) ?? '';
  const reason = () =>
    wording`${group.length} products with manufacturer ${quote(maker)} and part number ${quote(first.mpn?.trim() ?? '')}${range}`;
  return {
    ...productFinding(first, {}, reason),
    atStake: lowest && overYear(highest?.minus(lowest), termKey(first)),
    kinds: { price: range ? 'different prices' : 'no different prices' },
    parts: group.length,
    related: others.map((product) => named(product)),
  };
}
