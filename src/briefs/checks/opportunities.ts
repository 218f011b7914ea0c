/** Checks of open opportunities. */
import type { Opportunity } from '../../records/records.ts';
import { quote, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import { dayOf } from '../days.ts';
import { dealValue, idleDays, lastChange } from '../deals.ts';
import { currencyOfRecord } from '../money.ts';
import { compact, named, nonBlank, plural } from '../naming.ts';
import { isOpen } from '../outcome.ts';
import {
  type Check,
  type CheckContext,
  type CheckResult,
  type RawFinding,
  ReasonCounts,
} from './check.ts';

type Judge = (opportunity: Opportunity, unjudged: ReasonCounts) => Wording | undefined;

function examineOpen(
  opportunities: readonly Opportunity[] = [],
  { currencyOf }: CheckContext,
  judge: Judge,
): CheckResult {
  const unjudged = new ReasonCounts();
  const open = opportunities.filter(isOpen);
  const findings = open.flatMap((opportunity): RawFinding[] => {
    const reason = judge(opportunity, unjudged);
    if (reason === undefined) return [];
    return [
      {
        ...named(opportunity),
        ...compact({ company: nonBlank(opportunity.company?.name) }),
        resource: 'opportunity',
        atStake: dealValue(opportunity),
        currency: currencyOfRecord(opportunity, currencyOf),
        reason: () => reason,
      },
    ];
  });
  return { findings, examined: open.length, of: 'open opportunities', unjudged: unjudged.counts };
}

const stakeDefinition = 'At stake: one-time + monthly × value months (12 where none are given).';
const stageOf = ({ pipelineStage }: Opportunity): Wording => {
  const name = nonBlank(pipelineStage?.name);
  return name === undefined ? wording`no stage` : wording`stage ${quote(name)}`;
};

export const stalledOpportunities: Check = {
  name: 'stalled_opportunities',
  needs: ['opportunity'],
  defaults: { days: 30 },
  define: ({ days, today }) =>
    `Open opportunities whose stage and other fields last changed ${days} or more days before ${today}. ${stakeDefinition}`,
  examine: ({ opportunity }, context) =>
    examineOpen(opportunity, context, (each, unjudged) => {
      const idle = idleDays(each, context.today);
      if (idle === undefined) unjudged.add('no date of any change');
      if (idle === undefined || idle < context.days) return undefined;
      return wording`${stageOf(each)}, unchanged for ${plural(idle, 'day')}, since ${trusted(lastChange(each) ?? '')}`;
    }),
};

export const missingCloseDates: Check = {
  name: 'missing_close_dates',
  needs: ['opportunity'],
  defaults: {},
  define: () =>
    `Open opportunities without an expected close date that can be read. ${stakeDefinition}`,
  examine: ({ opportunity }, context) =>
    examineOpen(opportunity, context, (each) => {
      if (dayOf(each.expectedCloseDate)) return undefined;
      const written = nonBlank(each.expectedCloseDate);
      return wording`${stageOf(each)}, ${written ? wording`close date ${quote(written)} is no date` : 'no close date'}`;
    }),
};
