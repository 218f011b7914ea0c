/** The contract items of a company (beta). */

import { type Day, dayOf } from '../../figures/days.ts';
import { type Decimal, decimal, rounded } from '../../figures/money.ts';
import {
  byName,
  compact,
  type LimitedList,
  limitList,
  type Named,
  nonBlank,
  nonZero,
} from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { addToTerm, type TermTotals, termKey, totalsByTerm } from '../../figures/quote-totals.ts';
import { filterSteps, type Steps } from '../../figures/steps.ts';
import { belongsTo, companyOf } from '../../names/company-reference.ts';
import type { Company, ContractItem } from '../../service/records/records.ts';

/** Beta. Revenue and profit as the items give them: not multiplied by the quantity. */
export interface ContractItems extends LimitedList<ContractRow> {
  beta: true;
  revenue?: TermTotals;
  profit?: TermTotals;
  /** Items of this company without a revenue. */
  unknownRevenue?: number;
  /** Items of the tenant that name no company, so that their owner is unknown. */
  withoutCompany?: number;
}

interface ContractRow {
  id?: string;
  service?: string;
  vendor?: string;
  term: string;
  quantity?: number;
  revenue?: number;
  profit?: number;
  starts?: Day;
  ends?: Day;
}

/** Items of the company by service, then by id; sums over all of them, shown or not. */
export function* contractsOf(
  company: Company,
  items: readonly ContractItem[],
  limit: number,
): Steps<ContractItems> {
  const kept = yield* filterSteps(items, (item) => !isDeleted(item));
  const own = yield* filterSteps(kept, (item) => belongsTo(item, company));
  const isOfNone = (item: ContractItem) => Object.keys(companyOf(item)).length === 0;
  const withoutCompany = yield* filterSteps(kept, isOfNone);
  return compact({
    beta: true as const,
    revenue: sumByTerm(own, 'revenue'),
    profit: sumByTerm(own, 'profit'),
    unknownRevenue: nonZero(own.filter(({ revenue }) => revenue === undefined).length),
    withoutCompany: nonZero(withoutCompany.length),
    ...limitList(own.toSorted(byService), limit, toContractRow),
  });
}

const byService = (a: ContractItem, b: ContractItem): number => byName(serviceOf(a), serviceOf(b));

const serviceOf = ({ id, service, name }: ContractItem): Named =>
  compact({ id: nonBlank(id), name: nonBlank(service) ?? nonBlank(name) });

function toContractRow(item: ContractItem): ContractRow {
  return compact({
    id: nonBlank(item.id),
    service: serviceOf(item).name,
    vendor: nonBlank(item.vendor),
    term: termKey(item),
    quantity: item.quantity,
    revenue: amountOf(item.revenue),
    profit: amountOf(item.profit),
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
