/** Every deal that a brief is about, in a few fields: for lists, and for the pipeline board. */
import { type Day, dayOf } from '../../figures/days.ts';
import { type Deal, dealRow, idleDays } from '../../figures/deals.ts';
import { rounded } from '../../figures/money.ts';
import { compact, nameOrId } from '../../figures/naming.ts';
import { outcomeWord } from '../../figures/outcome.ts';
import { type DealOutcome, daysToClose } from './won-and-lost.ts';

export type OpenDeal = ReturnType<typeof openDealRow>;
export type ClosedDeal = ReturnType<typeof closedDealRow>;

/** Amounts in `currency`; unknown ones are absent. */
export function openDealRow(deal: Deal, today: Day) {
  const { record, oneTime, monthly, chance } = deal;
  const { ask, ...row } = dealRow(deal);
  return compact({
    ...row,
    stage: nameOrId(record.pipelineStage),
    owner: nameOrId(record.owner),
    closes: dayOf(record.expectedCloseDate),
    idleDays: idleDays(record, today),
    oneTime: oneTime && rounded(oneTime),
    monthly: monthly && rounded(monthly),
    probability: chance?.toNumber(),
    ask,
  });
}

export function closedDealRow(deal: Deal, about: DealOutcome) {
  const { ask, ...row } = dealRow(deal);
  return compact({
    ...row,
    owner: nameOrId(deal.record.owner),
    // Only where deals of several outcomes are listed together.
    outcome: about === 'closed' ? outcomeWord(deal.outcome) : undefined,
    closed: dayOf(deal.record.closedAt),
    daysToClose: daysToClose(deal),
    ask,
  });
}
