/** The contract items of a company (beta): those that run apart from those that start later and have ended. */

import { type Day, dayOf } from '../../figures/days.ts';
import {
  type CurrencyOf,
  currencyOfRecord,
  type Decimal,
  decimal,
  rounded,
} from '../../figures/money.ts';
import {
  byName,
  compact,
  compare,
  groupBy,
  limitList,
  type Named,
  nonBlank,
  nonZero,
} from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { filterSteps } from '../../figures/steps.ts';
import { addToTerm, type TermTotals, termKey, totalsByTerm } from '../../figures/terms.ts';
import { belongsTo, companyOf } from '../../names/company-reference.ts';
import type { Company, ContractItem } from '../../service/records/records.ts';

const states = ['running', 'starts later', 'ended'] as const;
type ContractState = (typeof states)[number];

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
  const kept = yield* filterSteps(items, (item) => !isDeleted(item));
  const own = yield* filterSteps(kept, (item) => belongsTo(item, company));
  const isOfNone = (item: ContractItem) => Object.keys(companyOf(item)).length === 0;
  const withoutCompany = yield* filterSteps(kept, isOfNone);
  const contracts = own
    .map((item) => toContract({ ...item, company }, currencyOf, today))
    .sort(byStateAndService);
  return compact({
    beta: true as const,
    byState: [...groupBy(contracts, ({ state, currency }) => `${state} ${currency}`).values()]
      .map(totalsOf)
      .sort((a, b) => byState(a, b) || compare(a.currency, b.currency)),
    // Of the tenant: their owner is not known.
    withoutCompany: nonZero(withoutCompany.length),
    ...limitList(contracts, maxRows, toContractRow),
  });
}

const toContract = (item: ContractItem, currencyOf: CurrencyOf, today: Day) => ({
  item,
  state: stateOn(item, today),
  currency: currencyOfRecord(item, currencyOf),
});

/** An item runs from its first through its last day; without these it has begun, or does not end. */
function stateOn({ startDate, endDate }: ContractItem, today: Day): ContractState {
  if ((dayOf(endDate) ?? today) < today) return 'ended';
  return (dayOf(startDate) ?? today) > today ? 'starts later' : 'running';
}

const byState = (a: { state: ContractState }, b: { state: ContractState }): number =>
  states.indexOf(a.state) - states.indexOf(b.state);

const byStateAndService = (a: Contract, b: Contract): number =>
  byState(a, b) || byName(serviceOf(a.item), serviceOf(b.item));

const serviceOf = ({ id, service, name }: ContractItem): Named =>
  compact({ id: nonBlank(id), name: nonBlank(service) ?? nonBlank(name) });

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

function toContractRow({ item, state, currency }: Contract) {
  return compact({
    id: nonBlank(item.id),
    service: serviceOf(item).name,
    vendor: nonBlank(item.vendor),
    state,
    term: termKey(item),
    quantity: item.quantity,
    revenue: amountOf(item.revenue),
    profit: amountOf(item.profit),
    currency,
    starts: dayOf(item.startDate),
    ends: dayOf(item.endDate),
  });
}

function amountOf(value: number | undefined): number | undefined {
  const known = decimal(value);
  return known && rounded(known);
}

function sumByTerm(
  items: readonly ContractItem[],
  field: 'revenue' | 'profit',
): TermTotals | undefined {
  const sums = new Map<string, Decimal>();
  for (const item of items) addToTerm(sums, termKey(item), decimal(item[field]));
  return sums.size > 0 ? totalsByTerm(sums) : undefined;
}
