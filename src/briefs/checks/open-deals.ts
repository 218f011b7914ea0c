import { type TenantDeals, valueAmounts } from '../../figures/deals.ts';
import { collectGroups, groupKey } from '../../figures/group-labels.ts';
import { compact, type Named } from '../../figures/naming.ts';
import { filterSteps, type Steps } from '../../figures/steps.ts';
import { companyOf } from '../../names/references.ts';

/** What a row of a check shows of the open deals of its company: their number and value by currency. */
export function* openDealsBeside({
  all,
}: TenantDeals): Steps<(company: Named) => { openDeals?: number }> {
  const open = yield* filterSteps(all, ({ outcome }) => outcome === 'open');
  const groups = collectGroups(open, ({ record }) => companyOf(record));
  const byCompany = new Map(groups.map(({ label, items }) => [groupKey(label), items]));
  return (company) => {
    if (!(company.id ?? company.name)) return {};
    const deals = byCompany.get(groupKey(company)) ?? [];
    return { openDeals: deals.length, ...compact({ openDealsValue: valueAmounts(deals).value }) };
  };
}
