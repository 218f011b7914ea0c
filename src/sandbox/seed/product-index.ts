import type { Row } from '../json.ts';
import { groupBy } from './random.ts';
import type { Named } from './reference.ts';

export type Product = Row & {
  id: string;
  name: string;
  shortDescription?: string | undefined;
  mpn: string | undefined;
  manufacturer: string | undefined;
  productType: string;
  categoryId: string;
  cost: number;
  price: number;
  markup: number;
  term: string | undefined;
  unit: string;
};

export type Term = '' | 'month' | 'year';

/** The products of one category and term, cheapest first. */
export class ProductIndex {
  readonly #products: Product[];
  readonly #categories: ReadonlyMap<string, Named>;
  readonly #byKind: Map<string, Product[]>;

  constructor(products: Product[], categories: ReadonlyMap<string, Named>) {
    this.#products = [...products].sort((one, other) => one.price - other.price);
    this.#categories = categories;
    this.#byKind = groupBy(this.#products, ({ categoryId, term = '' }) => kindOf(categoryId, term));
  }

  /**
   * Products with that text in their names, if there are any; else all of the category; in a small catalogue that has
   * none of these, all products.
   */
  find(category: string, term: Term, text = ''): Product[] {
    const kind = kindOf(this.#categories.get(category)?.id ?? '', term);
    const key = `${kind} ${text}`;
    const known = this.#byKind.get(key);
    if (known) return known;
    const all = this.#byKind.get(kind) ?? this.#products;
    const named = all.filter(({ name }) => name.includes(text));
    const found = named.length > 0 ? named : all;
    this.#byKind.set(key, found);
    return found;
  }
}

const kindOf = (categoryId: string, term: string): string => `${categoryId} ${term}`;
