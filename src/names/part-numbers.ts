/** Comparison of part numbers and categories, and which of them were bought. */

import { isAscii, normaliseName } from '../figures/naming.ts';
import { statusCategoryOf } from '../figures/quote-state.ts';
import { forEachStep, recordsById, type Steps } from '../figures/steps.ts';
import type { Category, Product, Quote, QuoteItem, Ref } from '../service/records/records.ts';

/** A part number or a maker's name without letter case, spacing, punctuation and width. */
export const normalisePart = (text = ''): string =>
  isAscii(text)
    ? text.toLowerCase().replace(/[^a-z0-9]+/g, '')
    : text
        .normalize('NFKC')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, '');

interface Part {
  mpn?: string;
  manufacturer?: string;
  [field: string]: unknown;
}

/** Manufacturer and part number together; `undefined` when either is missing. `vendor` is used if there is no manufacturer. */
export function partKey(part: Part): string | undefined {
  const vendor = typeof part.vendor === 'string' ? part.vendor : undefined;
  const maker = normalisePart(part.manufacturer) || normalisePart(vendor);
  const number = normalisePart(part.mpn);
  return maker && number ? `${maker} ${number}` : undefined;
}

/** Finds the catalogue's product of a quote item: by its id, else by manufacturer and part number. */
export class Catalogue {
  readonly #byId: ReadonlyMap<string | undefined, Product>;
  readonly #byPart: ReadonlyMap<string, Product | 'several'>;

  private constructor(
    byId: ReadonlyMap<string | undefined, Product>,
    byPart: ReadonlyMap<string, Product | 'several'>,
  ) {
    this.#byId = byId;
    this.#byPart = byPart;
  }

  /** For the items of these quotes: nearly all name their product by its id. */
  static *of(products: readonly Product[], quotes: readonly Quote[]): Steps<Catalogue> {
    const someAreUnnamed = quotes.some(({ items }) => items?.some(({ product }) => !product?.id));
    const byPart = yield* productsByPart(someAreUnnamed ? products : []);
    return new Catalogue(yield* recordsById(products), byPart);
  }

  productOf(item: QuoteItem): Product | undefined {
    const id = item.product?.id;
    if (id !== undefined) return this.#byId.get(id);
    const found = this.#byPart.get(partKey(item) ?? '');
    return found === 'several' ? undefined : found;
  }
}

function* productsByPart(products: readonly Product[]): Steps<Map<string, Product | 'several'>> {
  const byPart = new Map<string, Product | 'several'>();
  yield* forEachStep(products, (product) => {
    const key = partKey(product);
    if (key) byPart.set(key, byPart.has(key) ? 'several' : product);
  });
  return byPart;
}

/** Categories by id; one that is only named is looked up by its name. */
export class CategoryKeys {
  readonly #byName = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(categories: readonly Category[]) {
    for (const { id, name } of categories) {
      if (id === undefined || name === undefined) continue;
      this.#names.set(id, name);
      const known = this.#byName.get(normaliseName(name));
      if (known === undefined || id < known) this.#byName.set(normaliseName(name), id);
    }
  }

  keyOf(ref: Ref | undefined): string | undefined {
    if (ref?.id) return ref.id;
    const name = normaliseName(ref?.name);
    return name ? (this.#byName.get(name) ?? `name ${name}`) : undefined;
  }

  keysOfProduct(product: Product | undefined): string[] {
    const refs = [product?.category, ...(product?.categories ?? [])];
    return refs.flatMap((ref) => this.keyOf(ref) ?? []);
  }

  nameOf(key: string, ref: Ref | undefined): string | undefined {
    return this.#names.get(key) ?? ref?.name;
  }
}

/** Items that a customer agreed to: those of approved quotes, accepted and ordered ones among them. */
export const boughtItems = (quote: Quote): readonly QuoteItem[] =>
  statusCategoryOf(quote) === 'approved' ? (quote.items ?? []) : [];
