/** The check of bundles against the parts that they consist of. */

import { type Decimal, decimal, perUnit, zero } from '../../figures/money.ts';
import { plural } from '../../figures/naming.ts';
import { flatMapSteps, recordsById } from '../../figures/steps.ts';
import { overYear, termKey } from '../../figures/terms.ts';
import type { Product } from '../../service/records/records.ts';
import { wording } from '../../text/untrusted-text.ts';
import { fieldOf } from '../../values.ts';
import { type Check, examineEach, type RawFinding } from './check.ts';
import { isListed, productFinding } from './products.ts';

/** A part of a bundle: how many of which product. */
interface BundlePart {
  productId: string | undefined;
  quantity: Decimal;
}

/** Not documented by the API; `undefined` for a product that is not a bundle. */
function partsOf({ bundleItems, productType }: Product): BundlePart[] | undefined {
  const items = Array.isArray(bundleItems) ? bundleItems : [];
  if (items.length === 0 && productType?.toLowerCase() !== 'bundle') return undefined;
  return items.map((item) => ({
    productId:
      textOf(fieldOf(item, 'productId')) ?? textOf(fieldOf(fieldOf(item, 'product'), 'id')),
    quantity: decimal(numberOf(fieldOf(item, 'quantity'))) ?? one,
  }));
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;
const one = zero.plus(1);

/** What the parts of the bundle's own term cost when bought one by one. */
interface PartSums {
  price: Decimal;
  /** Unknown if the cost of any of them is. */
  cost: Decimal | undefined;
  parts: number;
  /** Parts that are billed by another term: their prices cannot be added to the others. */
  otherTerms: number;
}

export const bundlesBelowParts: Check = {
  needs: ['product'],
  about: ['product'],
  unit: 'bundle',
  define: () =>
    'Listed bundles whose price is lower than the sum of their parts (quantity × catalogue price; without parts that have another billing term). At stake: the difference, per bundle over a year.',
  *examine({ product = [] }) {
    const catalogue = yield* recordsById(product);
    const bundles = yield* flatMapSteps(product, (entry) => {
      const parts = isListed(entry) ? partsOf(entry) : undefined;
      return parts ? [{ bundle: entry, parts }] : [];
    });
    return yield* examineEach(bundles, 'listed bundles', ({ bundle, parts }, notChecked) => {
      const result = checkBundle(bundle, parts, catalogue);
      if (typeof result === 'string') notChecked.add(result);
      return typeof result === 'object' ? bundleFinding(bundle, result) : undefined;
    });
  },
};

type CheapBundle = PartSums & { bundlePrice: Decimal };

/** The sums of a bundle that is a finding, the reason why it cannot be checked, or nothing. */
function checkBundle(
  bundle: Product,
  parts: readonly BundlePart[],
  catalogue: ReadonlyMap<string | undefined, Product>,
): CheapBundle | string | undefined {
  const bundlePrice = decimal(bundle.price);
  if (parts.length === 0) return 'no parts given';
  if (!bundlePrice) return 'no price';
  const sums = addParts(bundle, parts, catalogue);
  if (typeof sums === 'string') return sums;
  if (bundlePrice.lt(sums.price)) return { ...sums, bundlePrice };
  return sums.otherTerms > 0 ? 'a part of another term' : undefined;
}

function addParts(
  bundle: Product,
  parts: readonly BundlePart[],
  catalogue: ReadonlyMap<string | undefined, Product>,
): PartSums | string {
  const sums: PartSums = { price: zero, cost: zero, parts: 0, otherTerms: 0 };
  for (const { productId, quantity } of parts) {
    const part = productId === undefined ? undefined : catalogue.get(productId);
    if (!part) return 'a part not in the catalogue';
    if (termKey(part) !== termKey(bundle)) {
      sums.otherTerms += 1;
      continue;
    }
    const [price, cost] = [decimal(part.price), decimal(part.cost)];
    if (!price) return 'a part without a price';
    sums.price = sums.price.plus(quantity.times(price));
    sums.cost = cost && sums.cost?.plus(quantity.times(cost));
    sums.parts += 1;
  }
  return sums;
}

function bundleFinding(
  bundle: Product,
  { bundlePrice, price, cost, parts, otherTerms }: CheapBundle,
): RawFinding {
  const { kinds, ...finding } = productFinding(bundle);
  const others =
    otherTerms === 0
      ? ''
      : wording`; without ${plural(otherTerms, 'part')} of another billing term`;
  return {
    ...finding,
    kinds: { ...kinds, cost: costKind(bundlePrice, cost) },
    atStake: overYear(price.minus(bundlePrice), termKey(bundle)),
    reason: () =>
      wording`price ${perUnit(bundlePrice)}, ${plural(parts, 'part')} together ${perUnit(price)}${others}`,
  };
}

function costKind(price: Decimal, cost: Decimal | undefined): string {
  if (!cost) return 'cost of the parts unknown';
  return price.lt(cost) ? 'under the cost of the parts' : 'not under the cost of the parts';
}
