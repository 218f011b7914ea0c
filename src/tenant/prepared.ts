/** What briefs need of whole collections, computed in slices once for each reading. */
import { type Market, marketOf } from '../briefs/company/never-bought.ts';
import { type TenantDeals, tenantDeals } from '../figures/deals.ts';
import { type CurrencyOf, currenciesOf } from '../figures/money.ts';
import type { Category, Company, Opportunity, Product, Quote } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import type { Tenant } from './tenant.ts';

/** Bytes of each record of the results that are prepared here; measured, and rounded up. */
const bytesEach = { deal: 320, product: 160 };

/** The currency of every company; none where companies may not be read. */
export const currenciesFor = (
  tenant: Tenant,
  companies: readonly Company[] | undefined,
): CurrencyOf => tenant.derived.get([companies], 'currencies', () => currenciesOf(companies ?? []));

/** Every opportunity as a deal, in the currency of its company. */
export const dealsFor = (
  tenant: Tenant,
  opportunities: readonly Opportunity[],
  companies: readonly Company[] | undefined,
): Promise<TenantDeals> =>
  tenant.derived.get(
    [opportunities, companies],
    'deals',
    () => runInSlices(tenantDeals(opportunities, currenciesFor(tenant, companies))),
    ({ all }) => all.length * bytesEach.deal,
  );

interface MarketRecords {
  product?: readonly Product[];
  quote?: readonly Quote[];
  category?: readonly Category[];
}

/** `undefined` where products or quotes were not read. */
export async function marketFor(
  tenant: Tenant,
  { product, quote, category }: MarketRecords,
): Promise<Market | undefined> {
  if (!product || !quote) return undefined;
  return tenant.derived.get(
    [product, quote, category],
    'market',
    () => runInSlices(marketOf({ products: product, quotes: quote, categories: category ?? [] })),
    () => product.length * bytesEach.product,
  );
}

/**
 * The names of persons by id, as the first record that each owns tells it: the service has no list of persons.
 */
export const ownerNamesFor = (
  tenant: Tenant,
  opportunities: readonly Opportunity[] | undefined,
  quotes: readonly Quote[] | undefined,
): ReadonlyMap<string, string> =>
  tenant.derived.get([opportunities, quotes], 'owner names', () => {
    const names = new Map<string, string>();
    for (const records of [opportunities ?? [], quotes ?? []])
      for (const { owner } of records)
        if (owner?.id && owner.name && !names.has(owner.id)) names.set(owner.id, owner.name);
    return names;
  });
