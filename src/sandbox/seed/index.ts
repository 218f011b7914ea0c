import { tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { makeAwkward } from './awkward.ts';
import { makeBooks, makeDiscountGroups } from './books.ts';
import { makeCompanies, makeContacts } from './companies.ts';
import { makeContracts } from './contracts.ts';
import { makeOpportunities } from './opportunities.ts';
import { ProductIndex } from './product-index.ts';
import { makeProducts } from './products.ts';
import { makeQuotes } from './quotes.ts';
import { makeReference } from './reference.ts';
import { makeTemplates } from './templates.ts';
import { World } from './world.ts';

export interface SeedOptions {
  tenant: string;
  /** The trade of the tenant: 0 stores probabilities as 0–1, 1 as 0–100. */
  profile: number;
  seed: number;
  scale: number;
  now: Date;
}

/** Creates the data of a tenant, unless the database has it already. */
export function seedTenant(store: Store, options: SeedOptions): void {
  if (store.value('select 1 from tenant where tenant = ?', options.tenant)) return;
  const world = makeWorld(options);
  store.transaction(() => {
    for (const table of Object.keys(tables)) {
      store.insert(table, options.tenant, world.rows.get(table) ?? []);
    }
  });
}

function makeWorld({ tenant, profile, seed, scale, now }: SeedOptions): World {
  const world = new World(tenant, profile, seed, scale, now);
  const { currency, probabilityScale } = world.profile;
  world.add('tenant', [
    { seed, profile, currency, probabilityScale, today: world.day(0), seeded: now.toISOString() },
  ]);
  const reference = makeReference(world);
  const customers = makeCompanies(world, reference);
  makeContacts(world, customers);
  const products = makeProducts(world, reference);
  const index = new ProductIndex(products, reference.categories);
  const priceOf = makeBooks(world, reference, products, customers);
  makeDiscountGroups(world, reference, customers);
  makeTemplates(world, reference);
  const market = { index, priceOf };
  const deals = makeOpportunities(world, reference, customers, market);
  makeQuotes(world, { reference, customers, deals, market });
  makeContracts(world, customers, index);
  makeAwkward(world);
  return world;
}
