import type { Row } from '../json.ts';
import type { Company } from './companies.ts';
import type { Product } from './products.ts';
import { cents, type Random } from './random.ts';
import type { Reference } from './reference.ts';
import type { World } from './world.ts';

type Book = Row & { id: string; validFrom: string; validTo: string | undefined };

/** Today's book prices, by product and company. */
export type PriceBook = (product: Product, company: string | undefined) => number | undefined;

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
  world: World,
  reference: Reference,
  products: Product[],
  companies: Company[],
): PriceBook {
  const random = world.random.fork('book');
  const found = new Map<string, number>();
  for (let at = 0; at < world.count(14); at++) {
    const restricted = at % 3 === 2 ? random.some(companies, 5).map(({ id }) => id) : undefined;
    const book = makeBook(world, random, at, restricted, reference);
    const current = book.validFrom <= world.day(0) && (book.validTo ?? '9') >= world.day(0);
    for (const product of random.some(products, random.int(15, 60))) {
      const price = addPrice(world, random, book, product);
      for (const company of current ? (restricted ?? ['']) : []) {
        found.set(`${product.id} ${company}`, price);
      }
    }
  }
  return ({ id }, company) => found.get(`${id} ${company}`) ?? found.get(`${id} `);
}

function makeBook(
  world: World,
  random: Random,
  at: number,
  companyIds: string[] | undefined,
  reference: Reference,
): Book {
  const [from, to] = WINDOWS[at % WINDOWS.length] ?? [0, undefined];
  const classified = companyIds === undefined && random.chance(0.3);
  const row = {
    id: random.id(),
    name: `${random.pick(['Special bid', 'Framework', 'Promotion', 'Project price'])} ${at + 1}`,
    specialBidNumber: random.chance(0.6) ? `SB-${random.int(100_000, 999_999)}` : undefined,
    validFrom: world.day(from),
    validTo: to === undefined ? undefined : world.day(to),
    companyIds: companyIds ?? [],
    classificationIds: classified ? [random.pick(reference.classifications).id] : [],
  };
  world.add('pricing_book', [row]);
  return row;
}

function addPrice(world: World, random: Random, book: Book, product: Product): number {
  const cost = random.chance(0.5) ? cents(product.cost * random.amount(0.82, 0.97)) : undefined;
  const price = cents(product.price * random.amount(0.84, 0.98));
  const narrower = random.chance(0.15);
  world.add('pricing_book_product', [
    {
      pricingBookId: book.id,
      productId: product.id,
      price,
      cost,
      validFrom: narrower ? book.validFrom : undefined,
      validTo: narrower ? book.validTo : undefined,
    },
  ]);
  return price;
}

/** Named discount policies for some companies or for a whole classification. */
export function makeDiscountGroups(world: World, reference: Reference, companies: Company[]): void {
  const random = world.random.fork('discount');
  const names = ['Volume', 'Nonprofit', 'Education', 'Framework', 'Loyalty', 'Launch', 'Staff'];
  const categories = [...reference.categories.values()];
  const rows = names.map((name, at) => ({
    id: random.id(),
    name: `${name} discount`,
    discounts: random.some(categories, random.int(1, 3)).map((category) => ({
      categoryId: category.id,
      type: 'percentage',
      amount: random.int(2, 20),
    })),
    companyIds: at % 2 === 0 ? random.some(companies, random.int(1, 6)).map(({ id }) => id) : [],
    classificationIds: at % 2 === 1 ? [random.pick(reference.classifications).id] : [],
  }));
  world.add('discount_group', rows);
}
