import { isAscii } from '../figures/naming.ts';
import { forEachStep, type ResultOf, recordsById } from '../figures/steps.ts';
import type { Product, Quote, QuoteItem } from '../service/records/records.ts';

/** A part number or a maker's name without letter case, spacing, punctuation and width. */
export const normalisePart = (text = ''): string =>
  isAscii(text)
    ? text.toLowerCase().replace(/[^a-z0-9]+/g, '')
    : text
        .normalize('NFKC')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, '');

/** Manufacturer and part number together; `undefined` when either is missing. `vendor` is used if there is no manufacturer. */
export function partKey(part: Product | QuoteItem): string | undefined {
  const vendor = typeof part.vendor === 'string' ? part.vendor : undefined;
  const maker = normalisePart(part.manufacturer) || normalisePart(vendor);
  const number = normalisePart(part.mpn);
  return maker && number ? `${maker} ${number}` : undefined;
}

/** Finds the catalogue's product of a quote item: by its id, else by manufacturer and part number. */
export type Catalogue = ResultOf<typeof catalogueFor>;

/** The products for the items of these quotes. */
export function* catalogueFor(products: readonly Product[], quotes: readonly Quote[]) {
  const byId = yield* recordsById(products);
  const byPart = new Map<string, Product | 'several'>();
  // Nearly all items name their product by its id.
  const someAreUnnamed = quotes.some(({ items }) => items?.some(({ product }) => !product?.id));
  yield* forEachStep(someAreUnnamed ? products : [], (product) => {
    const key = partKey(product);
    if (key) byPart.set(key, byPart.has(key) ? 'several' : product);
  });
  return {
    productOf(item: QuoteItem): Product | undefined {
      const id = item.product?.id;
      if (id !== undefined) return byId.get(id);
      const found = byPart.get(partKey(item) ?? '');
      return found === 'several' ? undefined : found;
    },
  };
}
