/** What a company might buy next: products it never bought in the categories it buys from. */
import type { Category, Product, Quote, Ref } from '../api/records.ts';
import { decimal, perUnit } from './money.ts';
import { byName, compact, filled, type Listed, listed } from './naming.ts';
import { isOpenQuote } from './outcome.ts';
import { boughtItems, Catalogue, CategoryKeys, partKey } from './parts.ts';

export interface NeverBought extends Listed<Suggestion> {
  /** Names of the first categories, in alphabetical order, that the company bought from. */
  categories: string[];
  /** How many there are. */
  categoriesTotal: number;
}

export interface Suggestion {
  id?: string;
  name?: string;
  category?: string;
  /** Of the catalogue, per unit and term. */
  price?: number;
  /** How many other companies bought it. */
  otherCompanies?: number;
  /** It is on an open quote for this company already. */
  quoted?: true;
}

interface Sources {
  quotes: readonly Quote[];
  products: readonly Product[];
  categories: readonly Category[];
}

/** What a company bought: products, their part numbers, and their categories with names. */
interface Bought {
  ids: Set<string>;
  parts: Set<string>;
  categories: Map<string, string>;
}

const maxCategories = 8;

/** Definition: docs/definitions.md, "Never bought". `own` are the quotes of the company. */
export function neverBought(sources: Sources, own: readonly Quote[], limit: number): NeverBought {
  const catalogue = new Catalogue(sources.products);
  const keys = new CategoryKeys(sources.categories);
  const bought = boughtBy(own, catalogue, keys);
  const popularity = countBuyers(sources.quotes, catalogue);
  const quoted = new Set(own.filter(isOpenQuote).flatMap((quote) => idsOn(quote, catalogue)));
  const candidates = sources.products.filter((product) => isNew(product, bought, keys));
  const others = ({ id }: Product): number => popularity.get(id ?? '') ?? 0;
  candidates.sort(
    (a, b) => others(b) - others(a) || (b.price ?? -1) - (a.price ?? -1) || byName(a, b),
  );
  const toSuggestion = (product: Product): Suggestion =>
    compact({
      id: filled(product.id),
      name: filled(product.name),
      category: categoryIn(product, bought, keys),
      price: priceOf(product),
      otherCompanies: others(product) || undefined,
      quoted: quoted.has(product.id ?? '') ? (true as const) : undefined,
    });
  const names = [...bought.categories.values()].sort((a, b) => byName({ name: a }, { name: b }));
  return {
    categories: names.slice(0, maxCategories),
    categoriesTotal: names.length,
    ...listed(candidates, limit, toSuggestion),
  };
}

function priceOf({ price }: Product): number | undefined {
  const known = decimal(price);
  return known && perUnit(known);
}

function boughtBy(own: readonly Quote[], catalogue: Catalogue, keys: CategoryKeys): Bought {
  const bought: Bought = { ids: new Set(), parts: new Set(), categories: new Map() };
  for (const item of own.flatMap(boughtItems)) {
    const product = catalogue.of(item);
    const id = product?.id ?? item.product?.id;
    if (id !== undefined) bought.ids.add(id);
    for (const part of [partKey(item), partKey(product ?? {})]) if (part) bought.parts.add(part);
    const refs = [item.category, product?.category, ...(product?.categories ?? [])];
    for (const ref of refs) addCategory(bought.categories, keys, ref);
  }
  return bought;
}

/** One name for one category, whichever item came first: the first in the alphabet. */
function addCategory(names: Map<string, string>, keys: CategoryKeys, ref: Ref | undefined): void {
  const key = keys.of(ref);
  if (key === undefined) return;
  const name = keys.nameOf(key, ref) ?? key;
  const known = names.get(key);
  if (known === undefined || name < known) names.set(key, name);
}

function isNew(product: Product, bought: Bought, keys: CategoryKeys): boolean {
  if (product.listed === false || product.deletedAt || product.id === undefined) return false;
  if (bought.ids.has(product.id) || bought.parts.has(partKey(product) ?? '')) return false;
  return keys.ofProduct(product).some((key) => bought.categories.has(key));
}

function categoryIn(product: Product, bought: Bought, keys: CategoryKeys): string | undefined {
  const key = keys.ofProduct(product).find((candidate) => bought.categories.has(candidate));
  return key === undefined ? undefined : bought.categories.get(key);
}

const idsOn = (quote: Quote, catalogue: Catalogue): string[] =>
  (quote.items ?? []).flatMap((item) => catalogue.of(item)?.id ?? []);

/** Product id → how many companies bought it. The company's own purchases are no candidates anyway. */
function countBuyers(quotes: readonly Quote[], catalogue: Catalogue): Map<string, number> {
  const buyers = new Map<string, Set<string>>();
  for (const quote of quotes) {
    const buyer = quote.company?.id ?? quote.company?.name;
    if (buyer === undefined) continue;
    for (const item of boughtItems(quote)) {
      const id = catalogue.of(item)?.id;
      if (id !== undefined) buyers.set(id, (buyers.get(id) ?? new Set()).add(buyer));
    }
  }
  return new Map([...buyers].map(([id, companies]) => [id, companies.size]));
}
