import type { Customer } from './companies.ts';
import type { Dataset } from './dataset.ts';
import type { Product, ProductIndex } from './product-index.ts';
import { cents, type Random } from './random.ts';

/** Kinds of recurring services: for which share of the employees, and at most how many. */
const KINDS: readonly (readonly [category: string, share: number, max: number])[] = [
  ['Office suites', 1, 600],
  ['Endpoint care', 0.8, 300],
  ['Endpoint protection', 1, 300],
  ['Server care', 0.03, 12],
  ['Mail security', 1, 400],
  ['Telephony', 0.6, 200],
  ['Cloud backup', 0.3, 150],
  ['Security operations', 0.8, 250],
];

/** Recurring services of customers; a beta resource, so some rows have flaws. */
export function makeContracts(dataset: Dataset, customers: Customer[], index: ProductIndex): void {
  const random = dataset.random.fork('contract');
  const buying = customers.filter(({ row }) => row.type === 'customer');
  const rows = Array.from({ length: dataset.count(160) }, () =>
    makeContract(dataset, random, random.pick(buying.length > 0 ? buying : customers), index),
  );
  dataset.add('contract_item', rows);
}

function makeContract(dataset: Dataset, random: Random, customer: Customer, index: ProductIndex) {
  const [category, share, max] = random.pick(KINDS);
  const product: Product = random.pick(index.find(category, random.chance(0.8) ? 'month' : 'year'));
  const wanted = Math.round(customer.employees * share * random.amount(0.7, 1));
  const quantity = Math.min(max, Math.max(1, wanted));
  const started = random.int(10, 1000);
  const revenue = cents(product.price * quantity);
  const years = Math.ceil((started - random.int(0, 120)) / 365);
  const ends = random.chance(0.75);
  return {
    id: random.id(),
    service: product.name,
    vendor: product.manufacturer,
    term: product.term ?? 'month',
    quantity,
    revenue: random.chance(0.08) ? revenue.toFixed(2) : revenue,
    profit: random.chance(0.95) ? cents((product.price - product.cost) * quantity) : undefined,
    companyId: customer.row.id,
    startDate: dataset.day(-started),
    endDate: ends ? dataset.day(365 * Math.max(1, years) - started) : undefined,
  };
}
