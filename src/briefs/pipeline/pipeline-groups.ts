/** Deals in ranked groups; groups beyond a limit are merged into one, so that the sums still add up. */

import { type Day, dayOf, daysSince } from '../../figures/days.ts';
import { type Deal, dealAmounts, totalValue } from '../../figures/deals.ts';
import { type GroupRow, groupRows, type Label, monthLabel } from '../../figures/group-labels.ts';
import { compact, type LimitedList, named } from '../../figures/naming.ts';
import { meanDays } from '../../figures/spread.ts';
import type { Steps } from '../../figures/steps.ts';
import type { Opportunity } from '../../service/records/records.ts';
import { closedFigures, type DealOutcome } from './won-and-lost.ts';

export const pipelineBy = [
  'stage',
  'owner',
  'company',
  'category',
  'source',
  'close_month',
] as const;

export type PipelineBy = (typeof pipelineBy)[number];

interface GroupOptions {
  by: PipelineBy;
  today: Day;
  /** Groups beyond it become a last row, "N others". */
  maxGroups: number;
}

export const missingLabel = (by: PipelineBy): string =>
  by === 'close_month' ? 'no close date' : `no ${by}`;

export const dealLabel = (deal: Opportunity, by: PipelineBy): Label =>
  by === 'close_month'
    ? monthLabel(dayOf(deal.expectedCloseDate))
    : named(by === 'stage' ? deal.pipelineStage : deal[by]);

export type PipelineGroup = GroupRow<ReturnType<typeof openFigures>>;

/** Groups of open deals; a month that has begun is without its overdue deals. */
export const groupOpen = (deals: readonly Deal[], options: GroupOptions) =>
  groupDeals(deals, options, {
    monthOf({ record }) {
      const closes = dayOf(record.expectedCloseDate);
      return closes && closes < options.today ? { name: 'overdue', key: '' } : monthLabel(closes);
    },
    rankedBy: () => true,
    figuresOf: (group) => openFigures(group, options.today),
  });

export type ClosedGroup = GroupRow<ReturnType<typeof closedFigures>>;

/** Groups of closed deals, ranked by what was won; if the brief is about lost deals, by what was lost. */
export const groupClosed = (deals: readonly Deal[], about: DealOutcome, options: GroupOptions) =>
  groupDeals(deals, options, {
    monthOf: ({ record }) => monthLabel(dayOf(record.closedAt)),
    rankedBy: ({ outcome }) => outcome === (about === 'lost' ? 'lost' : 'won'),
    figuresOf: closedFigures,
  });

interface Grouping<Figures extends object> {
  /** The deal's month, if the deals are grouped by `close_month`. */
  monthOf(deal: Deal): Label;
  /** Which deals of a group it is ranked by. */
  rankedBy(deal: Deal): boolean;
  figuresOf(deals: readonly Deal[]): Figures;
}

/**
 * Groups deals by the id of what `by` names, or by its name if it has no id. Ranked by the largest value in one
 * currency, then by count, name and id. Months are in time order.
 */
function groupDeals<Figures extends object>(
  deals: readonly Deal[],
  { by, maxGroups: limit }: GroupOptions,
  { monthOf, rankedBy, figuresOf }: Grouping<Figures>,
): Steps<LimitedList<GroupRow<Figures>>> {
  return groupRows(deals, {
    labelsOf: (deal) => (by === 'close_month' ? monthOf(deal) : dealLabel(deal.record, by)),
    ranksOf(group) {
      const ranked = group.filter(rankedBy);
      return [totalValue(ranked).largest, ranked.length];
    },
    limit,
    missing: missingLabel(by),
    figuresOf,
  });
}

/** Amounts by currency; days since the last stage change, over the deals for which it is known. */
function openFigures(deals: readonly Deal[], today: Day) {
  const inStage = deals.flatMap(({ record }) => {
    const day = dayOf(record.stageUpdatedAt);
    return day === undefined ? [] : daysSince(day, today);
  });
  return {
    count: deals.length,
    ...dealAmounts(deals),
    ...compact({ daysInStage: meanDays(inStage) }),
  };
}
