/** Checks of contract items, a beta resource of the service. */

import {
  addDays,
  contractState,
  type Day,
  dayOf,
  daysBetween,
  utcDay,
} from '../../figures/days.ts';
import { type CurrencyOf, CurrencySums, currencyOfRecord, decimal } from '../../figures/money.ts';
import { compact, inDays, nonBlank } from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { overYear, termKey } from '../../figures/terms.ts';
import { companyOf } from '../../names/references.ts';
import type { ContractItem } from '../../service/records/records.ts';
import { trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import { type Check, type CheckContext, examineEach, type RawFinding } from './check.ts';

const contractCheck = {
  needs: ['contract_item'],
  about: 'contract_item',
  unit: 'contract item',
  of: 'contract items',
  defaults: { days: 90 },
} as const;

const isKept = (item: ContractItem): boolean => !isDeleted(item);

export const contractsRunningOut: Check = {
  ...contractCheck,
  define: ({ days, today }) =>
    `Contract items (beta) that end from ${today} to ${addDays(today, days)}, both included. At stake: their revenue over a year: one-time, 12 × monthly, yearly.`,
  examine: ({ contract_item }, context) =>
    examineEach(
      contract_item,
      (item) => {
        if (!dayOf(item.endDate)) return 'no end date';
        return isEnding(item, context) ? findingOn(item, context) : undefined;
      },
      isKept,
    ),
};

export const contracts: Check = {
  ...contractCheck,
  define: ({ days, today }) =>
    `All contract items (beta) on ${today}: running, ending within ${days} days, ended, starting later. At stake: revenue over a year: one-time, 12 × monthly, yearly. Recurring revenue of a month: monthly items and a twelfth of yearly ones, of any state, that run on its last day.`,
  *examine({ contract_item = [] }, context) {
    const found = yield* examineEach(
      contract_item,
      (item) => {
        const finding = findingOn(item, context);
        return { ...finding, kinds: { ...stateOf(item, context), ...finding.kinds } };
      },
      isKept,
    );
    const kept = contract_item.filter(isKept);
    return { ...found, figures: { recurringRevenue: recurringByMonth(kept, context) } };
  },
};

function findingOn(item: ContractItem, { today, currencyOf }: CheckContext): RawFinding {
  return {
    ...compact({ id: nonBlank(item.id), name: nonBlank(item.service) ?? nonBlank(item.name) }),
    company: companyOf(item),
    kinds: { term: termKey(item) },
    atStake: overYear(decimal(item.revenue), termKey(item)),
    currency: currencyOfItem(item, currencyOf),
    reason: () => describeEnd(item, today),
  };
}

/** Its company may be in fields of its own. */
const currencyOfItem = (item: ContractItem, currencyOf: CurrencyOf): string =>
  currencyOfRecord({ ...item, company: { ...item.company, ...companyOf(item) } }, currencyOf);

function describeEnd({ startDate, endDate }: ContractItem, today: Day): Wording {
  const [starts, ends] = [dayOf(startDate), dayOf(endDate)];
  if (starts && starts > today) return wording`starts ${trusted(starts)}`;
  if (!ends) return wording`no end`;
  const left = daysBetween(today, ends);
  return left < 0
    ? wording`ended ${trusted(ends)}`
    : wording`ends ${trusted(ends)}, ${inDays(left)}`;
}

function isEnding({ endDate }: ContractItem, { today, days }: CheckContext): boolean {
  const ends = dayOf(endDate);
  return ends !== undefined && ends >= today && ends <= addDays(today, days);
}

function stateOf(item: ContractItem, context: CheckContext): RawFinding['kinds'] {
  const state = contractState(item, context.today);
  if (state !== 'running') return { state };
  const later = dayOf(item.endDate) ? 'ending later' : 'no end';
  return { state, end: isEnding(item, context) ? 'ending' : later };
}

const monthsShown = 12;

/** Of this month and the next. An item of another term, or without a revenue, adds nothing. */
function recurringByMonth(items: readonly ContractItem[], { today, currencyOf }: CheckContext) {
  const [year = 0, month = 0] = today.split('-').map(Number);
  return Array.from({ length: monthsShown }, (_, ahead) => {
    const last = utcDay(new Date(Date.UTC(year, month + ahead, 0)));
    const sums = new CurrencySums();
    let running = 0;
    for (const item of items) {
      const term = termKey(item);
      if (term !== 'monthly' && term !== 'yearly') continue;
      if (contractState(item, last) !== 'running') continue;
      running += 1;
      sums.add(
        currencyOfItem(item, currencyOf),
        overYear(decimal(item.revenue), term)?.div(monthsShown),
      );
    }
    return compact({ month: last.slice(0, 7), items: running, revenue: sums.toAmounts() });
  });
}
