import { tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { makeBooks, makeDiscountGroups } from './books.ts';
import { makeCompanies, makeContacts } from './companies.ts';
import { makeContracts } from './contracts.ts';
import { Dataset } from './dataset.ts';
import { addEdgeCases } from './edge-cases.ts';
import { makeOpportunities } from './opportunities.ts';
import { ProductIndex } from './product-index.ts';
import { makeProducts } from './products.ts';
import { makeQuotes } from './quotes.ts';
import { makeReference } from './reference.ts';
import { makeTemplates } from './templates.ts';

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
  const dataset = makeDataset(options);
  store.transaction(() => {
    for (const table of Object.keys(tables)) {
      store.insert(table, options.tenant, dataset.rows.get(table) ?? []);
    }
  });
}

function makeDataset({ tenant, profile, seed, scale, now }: SeedOptions): Dataset {
  const dataset = new Dataset(tenant, profile, seed, scale, now);
  const { currency, probabilityScale } = dataset.profile;
  dataset.add('tenant', [
    { seed, profile, currency, probabilityScale, today: dataset.day(0), seeded: now.toISOString() },
  ]);
  const reference = makeReference(dataset);
  const customers = makeCompanies(dataset, reference);
  makeContacts(dataset, customers);
  const products = makeProducts(dataset, reference);
  const index = new ProductIndex(products, reference.categories);
  const priceOf = makeBooks(dataset, reference, products, customers);
  makeDiscountGroups(dataset, reference, customers);
  makeTemplates(dataset, reference);
  const market = { index, priceOf };
  const deals = makeOpportunities(dataset, reference, customers, market);
  makeQuotes(dataset, { reference, customers, deals, market });
  makeContracts(dataset, customers, index);
  addEdgeCases(dataset);
  return dataset;
}
