/** Checks of open opportunities. */

import { type Day, dayOf } from '../../figures/days.ts';
import { dealValue, idleDays, lastChange } from '../../figures/deals.ts';
import { currencyOfRecord } from '../../figures/money.ts';
import { compact, named, nonBlank, plural } from '../../figures/naming.ts';
import { isDeleted, isOpen } from '../../figures/outcome.ts';
import { filterSteps, type Steps } from '../../figures/steps.ts';
import type { Opportunity } from '../../service/records/records.ts';
import { quote, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import {
  type Check,
  type CheckContext,
  type CheckResult,
  examineEach,
  type ReasonCounts,
} from './check.ts';

/** The reason why an opportunity is a finding; counts those that cannot be checked. */
type ReasonOf = (opportunity: Opportunity, notChecked: ReasonCounts) => (() => Wording) | undefined;

function* examineOpen(
  opportunities: readonly Opportunity[] = [],
  { currencyOf, today }: CheckContext,
  reasonOf: ReasonOf,
): Steps<CheckResult> {
  const open = yield* filterSteps(opportunities, isOpen);
  return yield* examineEach(open, 'open opportunities', (opportunity, notChecked) => {
    const reason = reasonOf(opportunity, notChecked);
    if (reason === undefined) return undefined;
    return {
      ...named(opportunity),
      ...compact({
        company: nonBlank(opportunity.company?.name),
        status: nonBlank(opportunity.pipelineStage?.name),
      }),
      resource: 'opportunity',
      owner: opportunity.owner,
      kinds: { closing: closingOf(opportunity, today) },
      atStake: dealValue(opportunity),
      currency: currencyOfRecord(opportunity, currencyOf),
      reason,
    };
  });
}

function closingOf({ expectedCloseDate }: Opportunity, today: Day): string {
  const closes = dayOf(expectedCloseDate);
  if (!closes) return 'no close date';
  return closes < today ? 'overdue' : 'not overdue';
}

const opportunityCheck = {
  needs: ['opportunity'],
  about: ['opportunity'],
  unit: 'opportunity',
  isAdditive: true,
} as const;

const stakeDefinition = 'At stake: one-time + monthly × value months (12 where none are given).';
export const stalledOpportunities: Check = {
  ...opportunityCheck,
  defaults: { days: 30 },
  define: ({ days, today }) =>
    `Open opportunities whose stage and other fields last changed ${days} or more days before ${today}. ${stakeDefinition}`,
  examine: ({ opportunity }, context) =>
    examineOpen(opportunity, context, (each, notChecked) => {
      const idle = idleDays(each, context.today);
      if (idle === undefined) notChecked.add('no date of any change');
      if (idle === undefined || idle < context.days) return undefined;
      return () =>
        wording`unchanged for ${plural(idle, 'day')}, since ${trusted(lastChange(each) ?? '')}`;
    }),
};

export const missingCloseDates: Check = {
  ...opportunityCheck,
  define: () =>
    `Open opportunities without an expected close date that can be read. ${stakeDefinition}`,
  examine: ({ opportunity }, context) =>
    examineOpen(opportunity, context, (each) => {
      if (dayOf(each.expectedCloseDate)) return undefined;
      const written = nonBlank(each.expectedCloseDate);
      return () =>
        written ? wording`close date ${quote(written)} is no date` : wording`no close date`;
    }),
};

export const opportunitiesWithoutQuote: Check = {
  ...opportunityCheck,
  needs: ['opportunity', 'quote'],
  defaults: {},
  define: () =>
    `Open opportunities without a quote; deleted quotes do not count, answered and expired ones do. ${stakeDefinition}`,
  *examine({ opportunity, quote: quotes = [] }, context) {
    const current = yield* filterSteps(quotes, (each) => !isDeleted(each));
    const quoted = new Set(current.flatMap(({ opportunity: deal }) => deal?.id ?? []));
    return yield* examineOpen(opportunity, context, ({ id, expectedCloseDate }) => {
      if (id !== undefined && quoted.has(id)) return undefined;
      const closes = dayOf(expectedCloseDate);
      return () => (closes ? wording`no quote; closes ${trusted(closes)}` : wording`no quote`);
    });
  },
};
