/** Products that a company never bought, in the categories that it buys from. */

import type { Day } from '../../figures/days.ts';
import { decimal, perUnit } from '../../figures/money.ts';
import {
  addTo,
  byName,
  compact,
  limitSorted,
  nonBlank,
  sortedNames,
} from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { isOpenQuote } from '../../figures/quote-state.ts';
import { forEachStep, type ResultOf } from '../../figures/steps.ts';
import { overYear, termKey } from '../../figures/terms.ts';
import { boughtItems, Catalogue, CategoryKeys, partKey } from '../../names/part-numbers.ts';
import type { Category, Product, Quote, Ref } from '../../service/records/records.ts';

interface MarketSources {
  quotes: readonly Quote[];
  products: readonly Product[];
  categories: readonly Category[];
}

/** The catalogue and what all companies bought of it: the same whichever company is asked about. */
export type Market = ResultOf<typeof marketOf>;
type Purchases = ReturnType<typeof purchasesOf>;

/** A product that can be sold, with the number of companies that bought it. */
interface ListedProduct {
  product: Product;
  part: string | undefined;
  buyers: number;
  /** The price over a year; lowest if unknown. */
  rank: number;
}

const maxCategories = 8;

/** Definition: docs/definitions.md, "Never bought". `own` are the quotes of the company. */
export function* neverBought(
  market: Market,
  own: readonly Quote[],
  { today, limit }: { today: Day; limit: number },
) {
  const { catalogue, keys, listed } = market;
  const purchases = purchasesOf(own, catalogue, keys);
  const open = own.filter((quote) => isOpenQuote(quote, today));
  const quoted = new Set(open.flatMap((quote) => productIdsOn(quote, catalogue)));
  yield;
  const candidates = new Set<ListedProduct>();
  for (const key of purchases.categories.keys())
    yield* forEachStep(listed.get(key) ?? [], (each) => {
      if (isNew(each, purchases)) candidates.add(each);
    });
  const toSuggestion = ({ product, buyers }: ListedProduct) =>
    compact({
      id: nonBlank(product.id),
      name: nonBlank(product.name),
      category: keys
        .keysOfProduct(product)
        .flatMap((key) => purchases.categories.get(key) ?? [])[0],
      ...priceFields(product),
      otherCompanies: buyers || undefined,
      // Already on an open quote for this company.
      quoted: quoted.has(product.id ?? '') ? (true as const) : undefined,
    });
  const names = sortedNames(purchases.categories.values());
  return {
    categories: names.slice(0, maxCategories),
    categoriesTotal: names.length,
    ...(yield* limitSorted([...candidates], byDemand, limit, toSuggestion)),
  };
}

/** What most companies bought first, then by price over a year. */
const byDemand = (a: ListedProduct, b: ListedProduct): number =>
  b.buyers - a.buyers || b.rank - a.rank || byName(a.product, b.product);

export function* marketOf({ products, quotes, categories }: MarketSources) {
  const catalogue = yield* Catalogue.of(products, quotes);
  const keys = new CategoryKeys(categories);
  const buyers = yield* countBuyers(quotes, catalogue);
  const listed = new Map<string, ListedProduct[]>();
  yield* forEachStep(products, (product) => {
    if (product.listed === false || isDeleted(product) || product.id === undefined) return;
    const price = overYear(decimal(product.price), termKey(product));
    const rank = price?.toNumber() ?? -Number.MAX_VALUE;
    const bought = buyers.get(product.id)?.size ?? 0;
    const entry = { product, part: partKey(product), buyers: bought, rank };
    for (const key of keys.keysOfProduct(product)) addTo(listed, key, entry);
  });
  return { catalogue, keys, listed };
}

/** By product id the companies that bought it. Products that this company bought are no candidates. */
function* countBuyers(quotes: readonly Quote[], catalogue: Catalogue) {
  const buyers = new Map<string, Set<string>>();
  yield* forEachStep(quotes, (quote) => {
    const buyer = quote.company?.id ?? quote.company?.name;
    if (buyer === undefined) return;
    for (const item of boughtItems(quote)) {
      const id = catalogue.productOf(item)?.id;
      if (id !== undefined) buyers.set(id, (buyers.get(id) ?? new Set()).add(buyer));
    }
  });
  return buyers;
}

/** The catalogue price, per unit and term; the term is absent for a price that is paid once. */
function priceFields(product: Product): { price?: number; term?: string } {
  const [price, term] = [decimal(product.price), termKey(product)];
  return price ? { price: perUnit(price), ...(term !== 'one-time' && { term }) } : {};
}

/** The products, part numbers and named categories that a company bought. */
function purchasesOf(own: readonly Quote[], catalogue: Catalogue, keys: CategoryKeys) {
  const [ids, parts] = [new Set<string>(), new Set<string>()];
  const purchases = { ids, parts, categories: new Map<string, string>() };
  for (const item of own.flatMap(boughtItems)) {
    const product = catalogue.productOf(item);
    if (product?.id !== undefined) purchases.ids.add(product.id);
    for (const part of [partKey(item), partKey(product ?? {})]) if (part) purchases.parts.add(part);
    const refs = [item.category, product?.category, ...(product?.categories ?? [])];
    for (const ref of refs) addCategory(purchases.categories, keys, ref);
  }
  return purchases;
}

/** One name per category: the first in alphabetical order, independent of item order. */
function addCategory(names: Map<string, string>, keys: CategoryKeys, ref: Ref | undefined): void {
  const key = keys.keyOf(ref);
  if (key === undefined) return;
  const name = keys.nameOf(key, ref) ?? key;
  const known = names.get(key);
  if (known === undefined || name < known) names.set(key, name);
}

const isNew = ({ product, part }: ListedProduct, purchases: Purchases): boolean =>
  !purchases.ids.has(product.id ?? '') && !purchases.parts.has(part ?? '');

const productIdsOn = (quote: Quote, catalogue: Catalogue): string[] =>
  (quote.items ?? []).flatMap((item) => catalogue.productOf(item)?.id ?? []);
