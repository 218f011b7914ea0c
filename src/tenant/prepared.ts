/** What briefs need of whole collections, computed in slices once for each reading. */
import { restsOn } from '../briefs/rests-on.ts';
import { type TenantDeals, tenantDeals } from '../figures/deals.ts';
import {
  type CurrencyOf,
  currenciesOf,
  currencyOfRecord,
  unknownCurrency,
} from '../figures/money.ts';
import { lacksName } from '../names/references.ts';
import type { PartOf } from '../reading/parts.ts';
import type { Company, Opportunity, Quote } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import { readCollections } from './read-collections.ts';
import type { Tenant, ToolCall } from './tenant.ts';

/** Bytes of each deal, measured and rounded up. */
const bytesOfDeal = 1_000;

/**
 * The opportunities, `others` that the question rests on, and if possible the companies for names and currencies.
 * @throws as `readCollections`
 */
export const readDeals = (
  tenant: Tenant,
  call: ToolCall,
  others: readonly ('company' | 'quote')[] = [],
) =>
  readCollections(tenant, ['opportunity', ...others], ['company'], call, {
    ...restsOn.pipeline,
    quote: restsOn.quotes.quote,
  });

/** The currency of every company; none where companies may not be read. */
export const currenciesFor = (
  tenant: Tenant,
  companies: readonly Company[] | undefined,
): CurrencyOf => tenant.derived.get([companies], 'currencies', () => currenciesOf(companies ?? []));

/** Companies whose currency is looked up rather than all companies read. */
const maxCompanies = 100;

/**
 * The companies that tell the currencies of quotes, where these do not; `undefined` for all, which a filter by company
 * and references without names need.
 */
export async function companiesOfQuotes(
  tenant: Tenant,
  quotes: readonly Quote[],
  isFilter: boolean,
  call: ToolCall,
): Promise<PartOf | undefined> {
  const lacking = quotes.filter((each) => currencyOfRecord(each, noCurrencies) === unknownCurrency);
  const ids = [...new Set(lacking.flatMap((each) => each.company?.id ?? []))];
  const isWanted = isFilter || tenant.cached('company') !== undefined || ids.length > maxCompanies;
  if (isWanted || quotes.some((each) => lacksName('quote', each))) return undefined;
  const { found } = await tenant.referenced('company', ids, call);
  if (found.size < ids.length) return undefined;
  const companies = [...found.values()];
  // The same list as before, where it is equal: answers are kept by the records that they are computed from.
  return { only: tenant.derived.get([quotes], JSON.stringify(companies), () => companies) };
}

const noCurrencies: CurrencyOf = new Map();

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
    ({ all }) => all.length * bytesOfDeal,
  );

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
