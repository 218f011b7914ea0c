import type { Company } from './companies.ts';
import type { Product } from './products.ts';
import { cents } from './random.ts';
import type { World } from './world.ts';

/** Recurring services of customers; a beta resource, so some rows have flaws. */
export function makeContracts(world: World, companies: Company[], products: Product[]): void {
  const random = world.random.fork('contract');
  const recurring = products.filter(({ term }) => term !== undefined);
  const rows = Array.from({ length: world.count(160) }, () => {
    const product = random.pick(recurring.length > 0 ? recurring : products);
    const quantity = random.int(1, 120);
    const started = random.int(10, 900);
    const revenue = cents(product.price * quantity);
    return {
      id: random.id(),
      service: product.name,
      vendor: product.manufacturer,
      term: product.term ?? 'month',
      quantity,
      revenue: random.chance(0.08) ? revenue.toFixed(2) : revenue,
      profit: random.chance(0.95) ? cents((product.price - product.cost) * quantity) : undefined,
      companyId: random.pick(companies).id,
      startDate: world.day(-started),
      endDate: random.chance(0.6) ? world.day(365 * random.int(1, 3) - started) : undefined,
    };
  });
  world.add('contract_item', rows);
}
