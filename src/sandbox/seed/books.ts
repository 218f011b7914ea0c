import type { Row } from '../json.ts';
import type { Customer } from './companies.ts';
import type { Dataset } from './dataset.ts';
import type { Product } from './product-index.ts';
import { cents, groupBy, type Random, uniqueNames } from './random.ts';
import type { Reference } from './reference.ts';

type Book = Row & {
  id: string;
  validFrom: string;
  validTo: string | undefined;
  companyIds: string[];
  classificationIds: string[];
};

interface BookPrice {
  price: number;
  cost: number;
}

/** Today's book prices, by product and company. */
export type PriceBook = (product: Product, company: string) => BookPrice | undefined;

type Window = readonly [from: number, to: number | undefined];
const CURRENT: Window[] = [
  [-200, 160],
  [-30, 20],
  [-400, undefined],
  [-90, 5],
];
const PAST: Window[] = [
  [-500, -140],
  [-220, -9],
];
const FUTURE: Window[] = [[14, 200]];
const WINDOWS: Window[] = [...CURRENT, ...PAST, ...FUTURE];

/** Pricing books with their overrides; every third one is for a few companies only. */
export function makeBooks(
  dataset: Dataset,
  reference: Reference,
  products: Product[],
  customers: Customer[],
): PriceBook {
  const random = dataset.random.fork('book');
  const found = new Map<string, BookPrice>();
  const ranges = groupBy(products, ({ manufacturer }) => manufacturer ?? 'Services');
  bookNames(random, [...ranges.keys()], dataset.count(14)).forEach(({ name, range }, at) => {
    const restricted =
      at % 3 === 2 ? random.some(customers, 5).map(({ row }) => row.id) : undefined;
    const book = makeBook(dataset, random, { name, at, companyIds: restricted, reference });
    const current = book.validFrom <= dataset.day(0) && (book.validTo ?? '9') >= dataset.day(0);
    const companies = current ? companiesOf(book, customers) : [];
    for (const product of random.some(ranges.get(range) ?? products, random.int(15, 60))) {
      const price = addPrice(dataset, random, book, product);
      for (const company of companies) {
        found.set(`${product.id} ${company}`, price);
      }
    }
  });
  return ({ id }, company) => found.get(`${id} ${company}`) ?? found.get(`${id} `);
}

/** The companies that a book is for; an empty text stands for all. */
function companiesOf({ companyIds, classificationIds }: Book, customers: Customer[]): string[] {
  if (companyIds.length > 0) return companyIds;
  const [classification] = classificationIds;
  if (classification === undefined) return [''];
  const members = customers.filter(({ row }) => row.classificationId === classification);
  return members.map(({ row }) => row.id);
}

const KINDS = ['special bid', 'framework', 'promotion', 'project prices'];

/** Unique names: with a number once all are used. */
function bookNames(random: Random, ranges: string[], count: number) {
  const plain = KINDS.flatMap((kind) =>
    ranges.map((range) => ({ range, name: `${range} ${kind}` })),
  );
  return uniqueNames(random, plain, count);
}

interface BookSource {
  name: string;
  at: number;
  companyIds: string[] | undefined;
  reference: Reference;
}

function makeBook(
  dataset: Dataset,
  random: Random,
  { name, at, companyIds, reference }: BookSource,
): Book {
  const [from, to] = WINDOWS[at % WINDOWS.length] ?? [0, undefined];
  const classified = companyIds === undefined && random.chance(0.3);
  const row = {
    id: random.id(),
    name,
    specialBidNumber: random.chance(0.6) ? `SB-${random.int(100_000, 999_999)}` : undefined,
    validFrom: dataset.day(from),
    validTo: to === undefined ? undefined : dataset.day(to),
    companyIds: companyIds ?? [],
    classificationIds: classified ? [random.pick(reference.classifications).id] : [],
  };
  dataset.add('pricing_book', [row]);
  return row;
}

/** Half of the entries have a lower cost too; the others only lower the margin. */
function addPrice(dataset: Dataset, random: Random, book: Book, product: Product): BookPrice {
  const factor = random.amount(0.86, 0.97);
  const part = random.amount(0.1, 0.5);
  const margin = Math.max(0, product.price - product.cost);
  const bid = random.chance(0.5);
  const cost = bid ? cents(product.cost * factor) : undefined;
  const price = cents(bid ? product.price * factor : product.price - margin * part);
  const narrower = random.chance(0.15);
  dataset.add('pricing_book_product', [
    {
      pricingBookId: book.id,
      productId: product.id,
      price,
      cost,
      validFrom: narrower ? book.validFrom : undefined,
      validTo: narrower ? book.validTo : undefined,
    },
  ]);
  return { price, cost: cost ?? product.cost };
}

/** Named discount policies for some companies or for a whole classification. */
export function makeDiscountGroups(
  dataset: Dataset,
  reference: Reference,
  customers: Customer[],
): void {
  const random = dataset.random.fork('discount');
  const names = ['Volume', 'Nonprofit', 'Education', 'Framework', 'Loyalty', 'Launch', 'Staff'];
  const categories = [...reference.categories.values()];
  const rows = names.map((name, at) => ({
    id: random.id(),
    name: `${name} discount`,
    discounts: random.some(categories, random.int(1, 3)).map((category) => ({
      categoryId: category.id,
      type: 'percentage',
      amount: random.int(2, 15),
    })),
    companyIds:
      at % 2 === 0 ? random.some(customers, random.int(1, 6)).map(({ row }) => row.id) : [],
    classificationIds: at % 2 === 1 ? [random.pick(reference.classifications).id] : [],
  }));
  dataset.add('discount_group', rows);
}
