import type { PriceBook } from './books.ts';
import type { Customer } from './companies.ts';
import type { Product, ProductIndex, Term } from './product-index.ts';
import { cents, type Random } from './random.ts';
import type { Part, Solution } from './solutions.ts';

/** A product, how many of it, and at which terms. */
export interface Line {
  product: Product;
  quantity: number;
  price: number;
  cost: number;
  /** Percent. */
  discount: number;
  setupPrice: number | undefined;
  setupCost: number | undefined;
}

/** What is sold: the lines of quotes, and the source of a deal's value. */
export interface Scope {
  solution: Solution;
  units: number;
  lines: Line[];
  /** Months that the recurring lines run; 0 without such lines. */
  months: number;
}

/** What products there are, and what they cost a company. */
export interface Market {
  index: ProductIndex;
  priceOf: PriceBook;
}

/** Chooses products of the solution in quantities that fit the customer. */
export function makeScope(
  random: Random,
  market: Market,
  customer: Customer,
  solution: Solution,
): Scope {
  const units = unitsFor(random, customer, solution);
  const yearly = random.chance(0.15);
  const chosen = solution.parts.filter(({ share }) => random.chance(share));
  const parts = chosen.length > 0 ? chosen : solution.parts.slice(0, 1);
  const lines = parts.map((part) => makeLine(random, market, customer, part, units, yearly));
  const months = random.weighted([
    [12, 45],
    [24, 22],
    [36, 30],
    [60, 3],
  ]);
  const recurring = lines.some(({ product }) => product.term !== undefined);
  return { solution, units, lines, months: recurring ? months : 0 };
}

function unitsFor(
  random: Random,
  { employees }: Customer,
  { units: { perEmployee, min, max } }: Solution,
): number {
  const count = Math.round(employees * random.amount(...perEmployee));
  return Math.min(max, Math.max(min, count));
}

function makeLine(
  random: Random,
  { index, priceOf }: Market,
  customer: Customer,
  part: Part,
  units: number,
  yearly: boolean,
): Line {
  const product = chooseProduct(random, customer, productsFor(index, part, yearly));
  const { price, cost } = priceOf(product, customer.row.id) ?? product;
  const quoted = quotedPrice(random, price);
  return {
    product,
    quantity: Math.max(1, Math.round(part.perUnit * units + part.once)),
    price: quoted,
    cost,
    discount: lineDiscount(random, quoted, cost),
    ...setUp(random, product),
  };
}

function productsFor(index: ProductIndex, { category, text, recurring }: Part, yearly: boolean) {
  if (!recurring) return index.find(category, '', text);
  const term: Term = yearly ? 'year' : 'month';
  const found = index.find(category, term, text);
  return found.some((product) => product.term === term)
    ? found
    : index.find(category, 'month', text);
}

/** Larger companies buy larger models. A product that is no longer listed is rarely chosen. */
function chooseProduct(random: Random, { employees }: Customer, products: Product[]): Product {
  const rank = Math.log(employees / 4) / Math.log(640 / 4);
  const at = Math.floor(products.length * Math.min(0.999, rank * 0.7 + random.amount(0, 0.3)));
  const chosen = products[at] ?? random.pick(products);
  const other = random.pick(products);
  return chosen.listed === false && !random.chance(0.1) ? other : chosen;
}

/** One line in sixteen differs from the price of the book or the catalog. */
const quotedPrice = (random: Random, price: number): number =>
  random.chance(0.06) ? cents(price * random.amount(0.94, 1.08)) : price;

/** Usually at most half of the margin. */
function lineDiscount(random: Random, price: number, cost: number): number {
  const max = Math.floor((price / cost - 1) * 40);
  const given = random.int(2, Math.max(2, Math.min(15, max)));
  const exceptional = random.int(12, 18);
  if (random.chance(0.004)) return exceptional;
  return random.chance(0.14) && max >= 2 ? given : 0;
}

/** Some recurring services have a set-up; of these, one in fifteen has a cost and no price. */
function setUp(random: Random, { term, productType }: Product) {
  const cost = random.int(4, 40) * 10;
  const charged = random.chance(0.93);
  const share = productType === 'service' ? 0.35 : 0.12;
  if (!random.chance(share) || term === undefined)
    return { setupPrice: undefined, setupCost: undefined };
  return { setupPrice: charged ? cents(cost * 1.6) : undefined, setupCost: cost };
}

export interface Totals {
  oneTime: number;
  monthly: number;
  oneTimeCost: number;
  monthlyCost: number;
}

/** Sums of the lines; a yearly line counts a twelfth a month. */
export function totalsOf(lines: readonly Line[]): Totals {
  const totals = { oneTime: 0, monthly: 0, oneTimeCost: 0, monthlyCost: 0 };
  for (const { product, quantity, price, cost, discount, setupPrice, setupCost } of lines) {
    const net = quantity * price * (1 - discount / 100);
    const months = product.term === 'year' ? 12 : 1;
    totals.oneTime += setupPrice ?? 0;
    totals.oneTimeCost += setupCost ?? 0;
    totals[product.term === undefined ? 'oneTime' : 'monthly'] += net / months;
    totals[product.term === undefined ? 'oneTimeCost' : 'monthlyCost'] +=
      (quantity * cost) / months;
  }
  return totals;
}
