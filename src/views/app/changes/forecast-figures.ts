/** A forecast against a target. */
import type { OpenDeal } from '../../../briefs/pipeline/pipeline.ts';
import { amountIn, sumOf } from '../pipeline/deals.ts';

/** Deals that are at least as likely as this are committed. */
const commitFrom = 0.75;

/** The first and the last day of the calendar month or quarter of a day. */
export function periodOf(today: string, span: 'month' | 'quarter'): { from: string; to: string } {
  const [year = 0, month = 1] = today.split('-').map(Number);
  const months = span === 'month' ? 1 : 3;
  const first = month - 1 - ((month - 1) % months);
  const dayOf = (at: number, day: number) =>
    new Date(Date.UTC(year, at, day)).toISOString().slice(0, 'YYYY-MM-DD'.length);
  return { from: dayOf(first, 1), to: dayOf(first + months, 0) };
}

/** What of a target is won, committed and to be expected, and what is missing; all in one currency. */
export function forecastOf(
  deals: readonly OpenDeal[],
  { won, target, currency }: { won: number; target: number | undefined; currency: string },
) {
  const sum = (some: readonly OpenDeal[], weighted: boolean) =>
    amountIn(sumOf(some, { revenue: 'value', weighted }), currency);
  const isCommitted = ({ probability = 0 }: OpenDeal) => probability >= commitFrom;
  const committed = deals.filter(isCommitted);
  const rest = deals.filter((deal) => !isCommitted(deal));
  const [commit, weightedRest, all] = [sum(committed, false), sum(rest, true), sum(deals, false)];
  const missing = target === undefined ? undefined : target - won;
  return {
    committed,
    rest,
    commit,
    weightedRest,
    gap: missing === undefined ? undefined : missing - commit - weightedRest,
    /** How often the open deals of the period would cover what is missing. */
    coverage: missing === undefined || missing <= 0 ? undefined : all / missing,
  };
}
