/** The contract items of a company (beta): those that run apart from those that start later and have ended. */

import { type Day, dayOf } from '../../figures/days.ts';
import { type CurrencyOf, currencyOfRecord, decimal, rounded } from '../../figures/money.ts';
import {
  byName,
  compact,
  compare,
  groupBy,
  limitList,
  nonBlank,
  nonZero,
} from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { forEachStep } from '../../figures/steps.ts';
import { addToTerm, termKey, totalsByTerm } from '../../figures/terms.ts';
import { belongsTo, companyOf } from '../../names/references.ts';
import type { Company, ContractItem } from '../../service/records/records.ts';

const states = ['running', 'starts later', 'ended'] as const;

type Contract = ReturnType<typeof toContract>;

/**
 * Items of the company: those that run first, then by service and id; sums over all of them, shown or not. Revenue and
 * profit as the items give them: not multiplied by the quantity.
 */
export function* contractsOf(
  company: Company,
  items: readonly ContractItem[],
  { today, currencyOf, maxRows }: { today: Day; currencyOf: CurrencyOf; maxRows: number },
) {
  const contracts: Contract[] = [];
  let withoutCompany = 0;
  yield* forEachStep(items, (item) => {
    if (isDeleted(item)) return;
    if (belongsTo(item, company))
      contracts.push(toContract({ ...item, company }, currencyOf, today));
    else if (Object.keys(companyOf(item)).length === 0) withoutCompany += 1;
  });
  contracts.sort((a, b) => byState(a, b) || byName(a, b));
  return compact({
    beta: true as const,
    byState: [...groupBy(contracts, ({ state, currency }) => `${state} ${currency}`).values()]
      .map(totalsOf)
      .sort((a, b) => byState(a, b) || compare(a.currency, b.currency)),
    // Of the tenant: their owner is not known.
    withoutCompany: nonZero(withoutCompany),
    ...limitList(contracts, maxRows, toContractRow),
  });
}

const toContract = (item: ContractItem, currencyOf: CurrencyOf, today: Day) => ({
  item,
  ...compact({ id: nonBlank(item.id), name: nonBlank(item.service) ?? nonBlank(item.name) }),
  state: stateOn(item, today),
  currency: currencyOfRecord(item, currencyOf),
});

/** An item runs from its first through its last day; without these it has begun, or does not end. */
function stateOn({ startDate, endDate }: ContractItem, today: Day): (typeof states)[number] {
  if ((dayOf(endDate) ?? today) < today) return 'ended';
  return (dayOf(startDate) ?? today) > today ? 'starts later' : 'running';
}

const byState = (a: Pick<Contract, 'state'>, b: Pick<Contract, 'state'>): number =>
  states.indexOf(a.state) - states.indexOf(b.state);

function totalsOf(contracts: readonly [Contract, ...Contract[]]) {
  const [{ state, currency }] = contracts;
  const items = contracts.map(({ item }) => item);
  return compact({
    state,
    currency,
    count: items.length,
    revenue: sumByTerm(items, 'revenue'),
    profit: sumByTerm(items, 'profit'),
    unknownRevenue: nonZero(items.filter(({ revenue }) => revenue === undefined).length),
    withoutEnd: nonZero(items.filter(({ endDate }) => !dayOf(endDate)).length),
  });
}

function sumByTerm(items: readonly ContractItem[], field: 'revenue' | 'profit') {
  const sums: Parameters<typeof addToTerm>[0] = new Map();
  for (const item of items) addToTerm(sums, termKey(item), decimal(item[field]));
  return sums.size > 0 ? totalsByTerm(sums) : undefined;
}

function toContractRow({ item, id, name, state, currency }: Contract) {
  const [revenue, profit] = [decimal(item.revenue), decimal(item.profit)];
  return compact({
    id,
    service: name,
    vendor: nonBlank(item.vendor),
    state,
    term: termKey(item),
    quantity: item.quantity,
    revenue: revenue && rounded(revenue),
    profit: profit && rounded(profit),
    currency,
    starts: dayOf(item.startDate),
    ends: dayOf(item.endDate),
  });
}
