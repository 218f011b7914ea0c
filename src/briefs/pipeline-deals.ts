/** Every open deal of the pipeline in a few fields, for the pipeline board. */
import type { Opportunity } from '../records/records.ts';
import { type Day, dayOf, requireDay } from './days.ts';
import { byValue, type Deal, type DealRow, dealRow, idleDays, toDeal } from './deals.ts';
import { rounded } from './money.ts';
import { compact, nonBlank } from './naming.ts';
import { type PipelineOptions, passesFilters, passesOpenFilters } from './pipeline.ts';
import { probabilityScale } from './probability.ts';

/** Amounts in `currency`; unknown ones are absent. */
export interface OpenDeal extends DealRow {
  stage?: string;
  owner?: string;
  /** Expected close date. */
  closes?: Day;
  /** Days since the last change. */
  idleDays?: number;
  oneTime?: number;
  monthly?: number;
  /** 0–1. */
  chance?: number;
}

/**
 * The deals that `pipelineBrief` counts as open under the same options, the largest value first.
 *
 * @throws RangeError if `today` is not a day.
 */
export function openDeals(
  opportunities: readonly Opportunity[],
  options: PipelineOptions,
): OpenDeal[] {
  const today = requireDay(options.today, 'today');
  const { scale } = probabilityScale(opportunities);
  return opportunities
    .map((record) => toDeal(record, options.currencyOf, scale))
    .filter((deal) => deal.outcome === 'open')
    .filter((deal) => passesFilters(deal, options) && passesOpenFilters(deal.record, options))
    .sort(byValue)
    .map((deal) => openDeal(deal, today));
}

function openDeal(deal: Deal, today: Day): OpenDeal {
  const { record, oneTime, monthly, chance } = deal;
  return {
    ...dealRow(deal),
    ...compact({
      stage: nonBlank(record.pipelineStage?.name) ?? nonBlank(record.pipelineStage?.id),
      owner: nonBlank(record.owner?.name) ?? nonBlank(record.owner?.id),
      closes: dayOf(record.expectedCloseDate),
      idleDays: idleDays(record, today),
      oneTime: oneTime && rounded(oneTime),
      monthly: monthly && rounded(monthly),
      chance: chance?.toNumber(),
    }),
  };
}
