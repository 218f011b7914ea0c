/** What is computed from quotes in their view. */
import type { QuotesBrief } from '../../../briefs/quotes/quotes.ts';
import type { QuoteRow } from '../records/entries.ts';

const daysFrom = (from: string | undefined, to: string): number | undefined =>
  from === undefined ? undefined : Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);

/** Days since it was sent, of a quote that waits for an answer. */
export const daysWaiting = ({ acceptance, sent }: QuoteRow, today: string) =>
  acceptance === 'open to acceptance' || acceptance === 'past expiry'
    ? daysFrom(sent, today)
    : undefined;

const isWaiting = (row: QuoteRow, today: string): boolean => daysWaiting(row, today) !== undefined;

/** Days until it runs out; below 0 it has. */
export const daysLeft = (row: QuoteRow, today: string): number | undefined => {
  const days = isWaiting(row, today) ? daysFrom(row.expires, today) : undefined;
  return days === undefined ? undefined : 0 - days;
};

/** Of the quotes that customers answered, how many they approved, in percent. */
export function approvalRate({ acceptance }: Pick<QuotesBrief, 'acceptance'>): number | undefined {
  const count = (state: string) => acceptance.find((row) => row.acceptance === state)?.count ?? 0;
  const answered = count('accepted') + count('declined');
  return answered === 0 ? undefined : (count('accepted') / answered) * 100;
}

/** The median of days from sending to approval. */
export function daysToApproval(rows: readonly QuoteRow[]): number | undefined {
  const days = rows
    .flatMap(({ sent, approved }) => (approved && daysFrom(sent, approved)) ?? [])
    .filter((it): it is number => typeof it === 'number')
    .sort((a, b) => a - b);
  return days[Math.floor(days.length / 2)];
}
