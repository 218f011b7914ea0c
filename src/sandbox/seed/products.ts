import { type Kit, kits, lines, type ProductLine } from './catalog.ts';
import type { Dataset } from './dataset.ts';
import { type Product, ProductIndex } from './product-index.ts';
import { cents, type Random } from './random.ts';
import type { Named, Reference } from './reference.ts';
import { productNotes } from './words.ts';

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

export function makeProducts(dataset: Dataset, reference: Reference): Product[] {
  const random = dataset.random.fork('product');
  const articles = everyKindFirst(random.some(allArticles(), Number.POSITIVE_INFINITY));
  const count = dataset.count(1260);
  const kitCount = Math.max(1, Math.round(count / 42));
  const ages = dataset.ages(random, Math.max(1, count - kitCount), 30, 1300);
  const products = ages.map((age, at) => {
    const article = articles[at % articles.length];
    if (!article) throw new Error('The catalog is empty');
    const pass = Math.floor(at / articles.length);
    return makeProduct(dataset, random, reference, { article, at, pass, age });
  });
  const index = new ProductIndex(products, reference.categories);
  const bundles = makeBundles(dataset, random, reference, index, kitCount);
  return dataset.add('product', [...products, ...bundles]);
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

/** One article of every category and term comes first, so that a small catalogue has one of everything. */
function everyKindFirst(articles: Article[]): Article[] {
  const first = new Map<string, Article>();
  for (const article of articles) {
    const kind = `${article.line.category} ${article.term}`;
    if (!first.has(kind)) first.set(kind, article);
  }
  const firsts = new Set(first.values());
  return [...firsts, ...articles.filter((article) => !firsts.has(article))];
}

function costOf(line: ProductLine, model: number, variant: number, term: string): number {
  const [low, high] = line.cost;
  const share = line.models.length > 1 ? model / (line.models.length - 1) : 0;
  const cost = low * (high / low) ** share * (1 + 0.11 * variant);
  return term === 'year' ? cost * 11 : cost;
}

function makeProduct(
  dataset: Dataset,
  random: Random,
  reference: Reference,
  { article, at, pass, age }: { article: Article; at: number; pass: number; age: number },
): Product {
  const { line, model, variant, term, cost: usual } = article;
  const cost = cents(usual * (1 + random.amount(-0.03, 0.05)) * (1 + 0.06 * pass));
  const markup = markupOf(random, line);
  const price = listPrice(cost * (1 + markup / 100));
  const createdAt = dataset.moment(random, -age);
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
    msrp:
      line.maker && random.chance(0.6) ? listPrice(price * random.amount(1.03, 1.2)) : undefined,
    unit: line.unit,
    term: term || undefined,
    labels: random.chance(0.2) ? random.some(['Preferred', 'Promo', 'Stock', 'EOL'], 1) : undefined,
    externalIdentifier: random.chance(0.8) ? `ART-${30_001 + at}` : undefined,
    createdAt,
    updatedAt: dataset.momentAfter(random, -random.int(0, Math.min(age, 500)), createdAt),
  };
}

/** Rounded as in a price list: to whole amounts from 200, to tenths from 10. */
function listPrice(price: number): number {
  if (price >= 200) return Math.round(price);
  return price >= 10 ? Math.round(price * 10) / 10 : cents(price);
}

/** Usually the markup of the line; one in 40 has almost no margin, one in 100 is below cost. */
function markupOf(random: Random, line: ProductLine): number {
  const [low, high] = line.markup;
  return random.weighted<() => number>([
    [() => random.middling(low, high), 96.5],
    [() => random.amount(0.4, 4.5), 2.5],
    [() => random.amount(-12, -1), 1],
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

/** Bundles, each named after its first part; none has the name of another. */
function makeBundles(
  dataset: Dataset,
  random: Random,
  reference: Reference,
  index: ProductIndex,
  count: number,
): Product[] {
  const used = new Set<string>();
  const rows: Product[] = [];
  for (let at = 0; rows.length < count; at++) {
    const kit = kits[at % kits.length];
    if (!kit) throw new Error('There are no kits');
    const parts = partsOf(random, index, kit);
    const plain = `${kit.name} with ${parts[0]?.product.name ?? ''}`;
    const name = used.has(plain) ? `${plain}, option ${at}` : plain;
    // A few tries, then the same first part again.
    if (used.has(plain) && at < count * 4) continue;
    used.add(plain);
    rows.push(makeBundle(dataset, random, reference, { name, kit, parts, at: rows.length }));
  }
  return rows;
}

interface Part {
  product: Product;
  quantity: number;
}

const partsOf = (random: Random, index: ProductIndex, { parts, term }: Kit): Part[] =>
  parts.map(([quantity, category]) => ({
    product: random.pick(index.find(category, term)),
    quantity,
  }));

/** A bundle costs what its parts cost; its price is the sum of theirs or slightly more, of one in six it is lower. */
function makeBundle(
  dataset: Dataset,
  random: Random,
  reference: Reference,
  { name, kit, parts, at }: { name: string; kit: Kit; parts: Part[]; at: number },
): Product {
  const sum = (amount: (product: Product) => number) =>
    cents(parts.reduce((total, { product, quantity }) => total + amount(product) * quantity, 0));
  const cost = sum((product) => product.cost);
  const factor = at % 6 === 3 ? random.amount(0.93, 0.98) : random.amount(1, 1.03);
  const price = Math.ceil(sum((product) => product.price) * factor);
  const createdAt = dataset.moment(random, -random.int(120, 400));
  return {
    id: random.id(),
    name,
    shortDescription: `Together: ${parts.map(({ product }) => product.name).join(' + ')}`,
    mpn: `KIT-${String(at + 1).padStart(3, '0')}`,
    manufacturer: undefined,
    productType: 'bundle',
    categoryId: categoryOf(reference, kit.category).id,
    cost,
    price,
    markup: cents((price / cost - 1) * 100),
    unit: 'kit',
    term: kit.term || undefined,
    bundleItems: parts.map(({ product, quantity }) => ({ productId: product.id, quantity })),
    externalIdentifier: `KIT-${at + 1}`,
    createdAt,
    updatedAt: dataset.momentAfter(random, -random.int(0, 120), createdAt),
  };
}
