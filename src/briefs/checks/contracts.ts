/** The check of contract items that end soon (beta). */

import { addDays, type Day, dayOf, daysBetween } from '../../figures/days.ts';
import { currencyOfRecord, type Decimal, decimal, rounded } from '../../figures/money.ts';
import { compact, inDays, nonBlank } from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { filterSteps } from '../../figures/steps.ts';
import { describeTerm, overYear, termKey } from '../../figures/terms.ts';
import { companyOf } from '../../names/company-reference.ts';
import type { ContractItem } from '../../service/records/records.ts';
import { trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import { type Check, type CheckContext, examineEach, type RawFinding } from './check.ts';

export const contractsRunningOut: Check = {
  needs: ['contract_item'],
  wants: ['company'],
  about: ['contract_item'],
  unit: 'contract item',
  isAdditive: true,
  defaults: { days: 90 },
  define: ({ days, today }) =>
    `Contract items (beta) that end from ${today} to ${addDays(today, days)}, both included. At stake: their revenue over a year: one-time, 12 × monthly, yearly.`,
  *examine({ contract_item = [] }, context) {
    const items = yield* filterSteps(contract_item, (item) => !isDeleted(item));
    return yield* examineEach(items, 'contract items', (item, notChecked) => {
      const ends = dayOf(item.endDate);
      if (!ends) notChecked.add('no end date');
      const isSoon = ends && daysBetween(context.today, ends) <= context.days;
      return isSoon && ends >= context.today ? contractFinding(item, ends, context) : undefined;
    });
  },
};

function contractFinding(
  item: ContractItem,
  ends: Day,
  { today, currencyOf }: CheckContext,
): RawFinding {
  const company = companyOf(item);
  const revenue = decimal(item.revenue);
  return {
    ...compact({
      id: nonBlank(item.id),
      name: nonBlank(item.service) ?? nonBlank(item.name),
      company: company.name,
    }),
    resource: 'contract_item',
    kinds: { term: termKey(item) },
    atStake: overYear(revenue, termKey(item)),
    currency: currencyOfRecord({ ...item, company: { ...item.company, ...company } }, currencyOf),
    reason: () =>
      wording`ends ${trusted(ends)}, ${inDays(daysBetween(today, ends))}${describeRevenue(item, revenue)}${describeQuantity(item)}`,
  };
}

const describeRevenue = ({ term }: ContractItem, revenue: Decimal | undefined): Wording =>
  revenue ? wording`; ${rounded(revenue)} ${describeTerm(term)}` : wording``;

const describeQuantity = ({ quantity }: ContractItem): Wording =>
  quantity === undefined ? wording`` : wording`; quantity ${quantity}`;
