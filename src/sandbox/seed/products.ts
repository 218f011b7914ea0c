import type { Row } from '../json.ts';
import { bundles, lines, type ProductLine } from './catalog.ts';
import { cents, type Random } from './random.ts';
import type { Named, Reference } from './reference.ts';
import { productNotes } from './words.ts';
import type { World } from './world.ts';

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

interface Article {
  line: ProductLine;
  model: string;
  variant: string;
  term: '' | 'month' | 'year';
  cost: number;
}

/** Suffixes of product names, for scales that need more products than the catalog has. */
const EDITIONS: Record<ProductLine['type'] | 'subscription', readonly string[]> = {
  product: ['', ', 3 years on-site', ', refurbished', ', 5 years on-site', ', project price'],
  subscription: ['', ', renewal', ', promotion', ', add-on seats', ', step-up'],
  service: ['', ', contract rate', ', remote only', ', weekend', ', premium customers'],
  labor: ['', ', contract rate', ', prepaid hours', ', emergency', ', project rate'],
};

export function makeProducts(world: World, reference: Reference): Product[] {
  const random = world.random.fork('product');
  const articles = random.some(allArticles(), Number.POSITIVE_INFINITY);
  const count = world.count(1260);
  const bundleCount = Math.max(1, Math.round(count / 21));
  const products = Array.from({ length: Math.max(1, count - bundleCount) }, (_, at) => {
    const article = articles[at % articles.length];
    if (!article) throw new Error('The catalog is empty');
    return makeProduct(world, random, reference, article, at, Math.floor(at / articles.length));
  });
  const kits = Array.from({ length: bundleCount }, (_, at) =>
    makeBundle(world, random, reference, products, at),
  );
  return world.add('product', [...products, ...kits]);
}

function allArticles(): Article[] {
  return lines.flatMap((line) =>
    line.models.flatMap((model, at) =>
      line.variants.flatMap((variant, step) =>
        line.terms.map((term) => ({
          line,
          model,
          variant,
          term,
          cost: costOf(line, at, step, term),
        })),
      ),
    ),
  );
}

function costOf(line: ProductLine, model: number, variant: number, term: string): number {
  const [low, high] = line.cost;
  const share = line.models.length > 1 ? model / (line.models.length - 1) : 0;
  const cost = low * (high / low) ** share * (1 + 0.11 * variant);
  return term === 'year' ? cost * 11 : cost;
}

function makeProduct(
  world: World,
  random: Random,
  reference: Reference,
  { line, model, variant, term, cost: usual }: Article,
  at: number,
  pass: number,
): Product {
  const cost = cents(usual * (1 + random.amount(-0.03, 0.05)) * (1 + 0.06 * pass));
  const markup = markupOf(random, line);
  const price = cents(cost * (1 + markup / 100));
  const created = random.int(30, 1300);
  const kind = term && line.type === 'product' ? 'subscription' : line.type;
  const edition = EDITIONS[kind][pass] ?? `, series ${pass}`;
  return {
    id: random.id(),
    name: line.name.replace('{m}', model).replace('{v}', variant) + edition + billing(term),
    shortDescription: random.chance(0.6) ? describe(random, line, model, variant) : undefined,
    mpn: line.maker ? `${line.mpn}-${random.id().slice(0, 5).toUpperCase()}${at % 97}` : undefined,
    ean: line.type === 'product' && !term && random.chance(0.7) ? ean(random) : undefined,
    manufacturer: line.maker || undefined,
    productType: line.type,
    listed: random.chance(0.55) ? !random.chance(0.1) : undefined,
    categoryId: categoryOf(reference, line.category).id,
    cost,
    price,
    markup: cents((price / cost - 1) * 100),
    msrp: line.maker && random.chance(0.6) ? cents(price * random.amount(1.02, 1.2)) : undefined,
    unit: line.unit,
    term: term || undefined,
    labels: random.chance(0.2) ? random.some(['Preferred', 'Promo', 'Stock', 'EOL'], 1) : undefined,
    externalIdentifier: random.chance(0.8) ? `ART-${30_001 + at}` : undefined,
    createdAt: world.moment(random, -created),
    updatedAt: world.moment(random, -random.int(0, created)),
  };
}

/** Usually the markup of the line; one in 25 has almost no margin, one in 100 is below cost. */
function markupOf(random: Random, line: ProductLine): number {
  const [low, high] = line.markup;
  return random.weighted<() => number>([
    [() => random.amount(low, high), 95],
    [() => random.amount(0.4, 4.5), 4],
    [() => random.amount(-18, -1), 1],
  ])();
}

function billing(term: string): string {
  return term ? ` (${term === 'month' ? 'monthly' : 'yearly'})` : '';
}

function describe(random: Random, line: ProductLine, model: string, variant: string): string {
  return `${line.category}: ${model}, ${variant}. Priced per ${line.unit}. ${random.pick(productNotes)}`;
}

function ean(random: Random): string {
  return `40${String(random.int(0, 99_999_999_999)).padStart(11, '0')}`;
}

function categoryOf(reference: Reference, name: string): Named {
  const category = reference.categories.get(name);
  if (!category) throw new Error(`No category ${name}`);
  return category;
}

/** A bundle has the cost of its parts, and a price slightly below the sum of theirs. */
function makeBundle(
  world: World,
  random: Random,
  reference: Reference,
  products: Product[],
  at: number,
): Product {
  const [name, category, kinds] = random.pick(bundles);
  const parts = kinds.map((kind) => {
    const wanted = categoryOf(reference, kind).id;
    const candidates = products.filter(({ categoryId }) => categoryId === wanted);
    return random.pick(candidates.length > 0 ? candidates : products);
  });
  const cost = cents(parts.reduce((sum, part) => sum + part.cost, 0));
  const price = cents(parts.reduce((sum, part) => sum + part.price, 0) * 0.96);
  return {
    id: random.id(),
    name: `${name} ${at + 1}`,
    shortDescription: `Together: ${parts.map((part) => part.name).join(' + ')}`,
    mpn: `KIT-${String(at + 1).padStart(3, '0')}`,
    manufacturer: undefined,
    productType: 'bundle',
    categoryId: categoryOf(reference, category).id,
    cost,
    price,
    markup: cents((price / cost - 1) * 100),
    unit: 'kit',
    term: undefined,
    bundleItems: parts.map((part) => ({ productId: part.id, quantity: random.int(1, 3) })),
    externalIdentifier: `KIT-${at + 1}`,
    createdAt: world.moment(random, -400),
    updatedAt: world.moment(random, -random.int(0, 300)),
  };
}
