/** Checks of contract items, a beta resource of the service. */

import {
  addDays,
  contractState,
  type Day,
  dayOf,
  daysBetween,
  utcDay,
  within,
} from '../../figures/days.ts';
import { compact, nonBlank } from '../../figures/fields.ts';
import { groupRows } from '../../figures/group-labels.ts';
import { groupBy } from '../../figures/lists.ts';
import { currencyOfRecord, decimal, sumOf } from '../../figures/money.ts';
import { inDays } from '../../figures/naming.ts';
import { flatMapSteps } from '../../figures/steps.ts';
import { byTerm, overYear, termKey } from '../../figures/terms.ts';
import { companyOf } from '../../names/references.ts';
import type { ContractItem } from '../../service/records/records.ts';
import { trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import { type Check, type CheckContext, examineEach, isKept, type RawFinding } from './check.ts';

const contractCheck = {
  needs: ['contract_item'],
  unit: 'contract item',
  of: 'contract items',
  defaults: { days: 90 },
} as const;

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
    `All contract items (beta) on ${today}: running, ending within ${days} days, ended, starting later. At stake: revenue over a year: one-time, 12 × monthly, yearly. Running by term: revenue as given. Companies: running monthly (× 12) and yearly items. Recurring revenue of a month: monthly items and a twelfth of yearly ones that run on its last day; of the past what is still in the data.`,
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
    return { ...found, figures: yield* revenueOf(kept, context) };
  },
};

function findingOn(item: ContractItem, { today, currencyOf }: CheckContext): RawFinding {
  return {
    ...compact({ id: nonBlank(item.id), name: nonBlank(item.service) ?? nonBlank(item.name) }),
    company: companyOf(item),
    kinds: { term: termKey(item) },
    atStake: overYear(decimal(item.revenue), termKey(item)),
    currency: currencyOfRecord(item, currencyOf),
    reason: () => describeEnd(item, today),
  };
}

function describeEnd({ startDate, endDate }: ContractItem, today: Day): Wording {
  const [starts, ends] = [dayOf(startDate), dayOf(endDate)];
  if (starts && starts > today) return wording`starts ${trusted(starts)}`;
  if (!ends) return wording`no end`;
  const left = daysBetween(today, ends);
  return left < 0
    ? wording`ended ${trusted(ends)}`
    : wording`ends ${trusted(ends)}, ${inDays(left)}`;
}

const isEnding = ({ endDate }: ContractItem, { today, days }: CheckContext): boolean =>
  within(dayOf(endDate), today, addDays(today, days));

function stateOf(item: ContractItem, context: CheckContext): RawFinding['kinds'] {
  const state = contractState(item, context.today);
  if (state !== 'running') return { state };
  const later = dayOf(item.endDate) ? 'ending later' : 'no end';
  return { state, end: isEnding(item, context) ? 'ending' : later };
}

/** An item with its finding, whose `atStake` is the revenue over a year: unknown for a term of unknown length. */
type Revenue = RawFinding & { item: ContractItem };

const runOn = (items: readonly Revenue[], day: Day): readonly Revenue[] =>
  items.filter(({ item }) => contractState(item, day) === 'running');

/** Of the items that run: revenue as given by term; of monthly and yearly ones by month, and over a year by company. */
function* revenueOf(kept: readonly ContractItem[], context: CheckContext) {
  const { today } = context;
  const facts = kept.map((item) => ({ ...findingOn(item, context), item }));
  const isRecurring = ({ item }: Revenue) => ['monthly', 'yearly'].includes(termKey(item));
  const recurring = facts.filter(isRecurring);
  yield;
  const running = runOn(facts, today);
  const terms = [...groupBy(running, ({ item }) => termKey(item))].sort(([a], [b]) => byTerm(a, b));
  const perYear = (items: readonly Revenue[]) => sumOf(items, ({ atStake }) => atStake);
  const companies = yield* groupRows(running.filter(isRecurring), {
    labelsOf: ({ item }) => companyOf(item),
    ranksOf: (items) => [perYear(items).largest, items.length],
    limit: companiesShown,
    missing: 'no company',
    figuresOf: (items) => ({
      items: items.length,
      ...compact({ revenuePerYear: perYear(items).toAmounts() }),
    }),
  });
  return {
    runningByTerm: terms.map(([term, items]) =>
      compact({
        term,
        items: items.length,
        revenue: sumOf(items, ({ item }) => decimal(item.revenue)).toAmounts(),
      }),
    ),
    companies,
    ...(recurring.length > 0 && { recurringRevenue: yield* recurringByMonth(recurring, today) }),
  };
}

const companiesShown = 8;
const monthsOfYear = 12;

/** Of the twelve months before, this month and the next eleven. An item without a revenue adds nothing. */
function* recurringByMonth(items: readonly Revenue[], today: Day) {
  const [year = 0, month = 0] = today.split('-').map(Number);
  const months = Array.from({ length: 2 * monthsOfYear }, (_, at) => at - monthsOfYear);
  return yield* flatMapSteps(months, (ahead) => {
    const last = utcDay(new Date(Date.UTC(year, month + ahead, 0)));
    const running = runOn(items, last);
    const revenue = sumOf(running, ({ atStake }) => atStake?.div(monthsOfYear)).toAmounts();
    return [compact({ month: last.slice(0, 7), items: running.length, revenue })];
  });
}
