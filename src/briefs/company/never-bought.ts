/** Products that a company never bought, in the categories that it buys from. */

import type { Day } from '../../figures/days.ts';
import { decimal, perUnit } from '../../figures/money.ts';
import {
  byName,
  compact,
  compare,
  limitSorted,
  nonBlank,
  sortedNames,
} from '../../figures/naming.ts';
import { isListed } from '../../figures/outcome.ts';
import { isOpenQuote, statusCategoryOf } from '../../figures/quote-state.ts';
import { flatMapSteps, forEachStep, type ResultOf } from '../../figures/steps.ts';
import { overYear, termKey } from '../../figures/terms.ts';
import { catalogueFor } from '../../names/part-numbers.ts';
import type { Category, Product, Quote, QuoteItem, Ref } from '../../service/records/records.ts';

interface MarketSources {
  quotes: readonly Quote[];
  products: readonly Product[];
  categories: readonly Category[];
}

/** The catalogue and what all companies bought of it: the same whichever company is asked about. */
export type Market = ResultOf<typeof marketOf>;

const maxCategories = 8;

export function* marketOf({ products, quotes, categories }: MarketSources) {
  const catalogue = yield* catalogueFor(products, quotes);
  /** By product id the companies that bought it. */
  const buyers = new Map<string | undefined, Set<string>>();
  yield* forEachStep(quotes, (quote) => {
    const buyer = quote.company?.id ?? quote.company?.name;
    if (buyer === undefined) return;
    for (const item of boughtItems(quote)) {
      const id = catalogue.productOf(item)?.id;
      buyers.set(id, (buyers.get(id) ?? new Set()).add(buyer));
    }
  });
  const names = new Map(categories.map(({ id, name }) => [id, name]));
  return { products, catalogue, buyers, names };
}

/** Items that a customer agreed to: those of approved quotes, accepted and ordered ones among them. */
const boughtItems = (quote: Quote): readonly QuoteItem[] =>
  statusCategoryOf(quote) === 'approved' ? (quote.items ?? []) : [];

/** Definition: docs/definitions.md, "Never bought". `own` are the quotes of the company. */
export function* neverBought(
  market: Market,
  own: readonly Quote[],
  { today, limit }: { today: Day; limit: number },
) {
  const { catalogue, buyers } = market;
  const productsOf = (items: readonly QuoteItem[]) =>
    new Set(items.map((item) => catalogue.productOf(item)?.id));
  const items = own.flatMap(boughtItems);
  const bought = productsOf(items);
  const open = own.filter((quote) => isOpenQuote(quote, today));
  const quoted = productsOf(open.flatMap((quote) => quote.items ?? []));
  const categories = categoriesOf(items, market);
  yield;
  const candidates = yield* flatMapSteps(market.products, (product) => {
    if (!isListed(product) || product.id === undefined || bought.has(product.id)) return [];
    const category = categoryRefs(product).find(({ id }) => categories.has(id));
    if (!category) return [];
    const price = overYear(decimal(product.price), termKey(product));
    return [
      {
        product,
        category: categories.get(category.id),
        otherCompanies: buyers.get(product.id)?.size,
        rank: price?.toNumber() ?? -Number.MAX_VALUE,
      },
    ];
  });
  type Candidate = (typeof candidates)[number];
  // What most companies bought first, then by price over a year.
  const byDemand = (a: Candidate, b: Candidate): number =>
    (b.otherCompanies ?? 0) - (a.otherCompanies ?? 0) ||
    b.rank - a.rank ||
    byName(a.product, b.product);
  const toRow = ({ product, category, otherCompanies }: Candidate) =>
    compact({
      id: nonBlank(product.id),
      name: nonBlank(product.name),
      category,
      ...priceFields(product),
      otherCompanies,
      // Already on an open quote for this company.
      quoted: quoted.has(product.id) ? (true as const) : undefined,
    });
  const names = sortedNames(categories.values());
  return {
    categories: names.slice(0, maxCategories),
    categoriesTotal: names.length,
    ...(yield* limitSorted(candidates, byDemand, limit, toRow)),
  };
}

const categoryRefs = ({ category, categories = [] }: Product): readonly Ref[] =>
  category ? [category, ...categories] : categories;

/** The categories of bought items and their products: names by id. */
function categoriesOf(items: readonly QuoteItem[], { catalogue, names }: Market) {
  const categories = new Map<string | undefined, string>();
  for (const item of items) {
    const { category } = item;
    const refs = [
      ...(category ? [category] : []),
      ...categoryRefs(catalogue.productOf(item) ?? {}),
    ];
    for (const { id, name } of refs) {
      if (id === undefined) continue;
      const other = categories.get(id);
      const known = names.get(id) ?? name ?? id;
      // A name rather than the id, and of several names the first, whatever the order of the items.
      const isFirst =
        other === undefined || other === id || (known !== id && compare(known, other) < 0);
      if (isFirst) categories.set(id, known);
    }
  }
  return categories;
}

/** The catalogue price, per unit and term; the term is absent for a price that is paid once. */
function priceFields(product: Product): { price?: number; term?: string } {
  const [price, term] = [decimal(product.price), termKey(product)];
  return price ? { price: perUnit(price), ...(term !== 'one-time' && { term }) } : {};
}
