/**
 * The state of a quote: what its status means, whether the customer can still accept it, and the outcome of its
 * opportunity. Definitions: docs/definitions.md, "Status of a quote".
 */
import type { Opportunity, Quote } from '../service/records/records.ts';
import { type Day, dayOf } from './days.ts';
import { nameOrId } from './naming.ts';
import { hasAny, isDeleted, outcomeOf, outcomeWord, plainWords } from './outcome.ts';
import { recordsById, type Steps } from './steps.ts';

const categoryWords = [
  ['draft', ['draft']],
  ['sent', ['sent']],
  ['approved', ['approved', 'accepted', 'signed', 'ordered', 'won']],
  ['declined', ['declined', 'rejected', 'lost']],
  ['expired', ['expired']],
] as const;

/** `other`: the tenant's own status, or none at all. */
export type StatusCategory = (typeof categoryWords)[number][0] | 'other' | 'deleted';

/**
 * The status category of a quote, from the words of its `status`; without a status, from its timestamps: approved,
 * declined, expired or sent.
 */
export function statusCategoryOf(quote: Quote): StatusCategory {
  if (isDeleted(quote)) return 'deleted';
  if (quote.status?.trim()) {
    const words = plainWords(quote.status);
    const [match, ...others] = categoryWords.filter(([, wanted]) => hasAny(words, wanted));
    return match && others.length === 0 ? match[0] : 'other';
  }
  if (quote.approvedAt) return 'approved';
  if (quote.declinedAt) return 'declined';
  if (quote.expiredAt) return 'expired';
  return quote.sentAt ? 'sent' : 'other';
}

/** The status category in a word: the tenant's own status, in lower case, if it is not a known one. */
export function statusOfQuote(quote: Quote): string {
  const statusCategory = statusCategoryOf(quote);
  return statusCategory === 'other'
    ? quote.status?.trim().toLowerCase() || 'no status'
    : statusCategory;
}

/** Whether the customer has not answered a quote, by its status: draft or sent. */
export const isUnanswered = (quote: Quote): boolean =>
  ['draft', 'sent'].includes(statusCategoryOf(quote));

/** Whether a quote no longer goes out: approved, declined or deleted. */
export const isAnsweredOrDeleted = (quote: Quote): boolean =>
  ['approved', 'declined', 'deleted'].includes(statusCategoryOf(quote));

export const acceptances = [
  'draft',
  'open to acceptance',
  'past expiry',
  'accepted',
  'declined',
  'other',
] as const;

export type Acceptance = (typeof acceptances)[number];

/** Whether a quote can be accepted on a day. A deleted quote is `other`. */
export function acceptanceOf(quote: Quote, today: Day): Acceptance {
  const statusCategory = statusCategoryOf(quote);
  if (statusCategory === 'approved') return 'accepted';
  if (statusCategory === 'expired') return 'past expiry';
  if (statusCategory === 'sent')
    return isPastExpiry(quote, today) ? 'past expiry' : 'open to acceptance';
  return statusCategory === 'deleted' ? 'other' : statusCategory;
}

/** Whether the last day of a quote has passed, whatever its status. */
export const isPastExpiry = ({ expiresAt }: Quote, today: Day): boolean =>
  (dayOf(expiresAt) ?? today) < today;

/** Whether a quote is open: it can be accepted, now or once it is sent. */
export const isOpenQuote = (quote: Quote, today: Day): boolean =>
  ['draft', 'open to acceptance'].includes(acceptanceOf(quote, today));

/** The state of a quote in a row: the acceptance only where the status does not say it. */
export function stateFields(quote: Quote, today: Day) {
  const [status, acceptance] = [statusOfQuote(quote), acceptanceOf(quote, today)];
  return { status, ...(acceptance !== status && { acceptance }) };
}

export const dealStates = [
  'open',
  'won',
  'lost',
  'closed',
  'deleted',
  'none',
  'not_found',
] as const;

/** Of the opportunity that a quote names; `closed`: with unknown outcome. */
export type DealState = (typeof dealStates)[number];

/** Tells the state of the deal of a quote, from all opportunities. */
export function* dealStateReader(
  opportunities: readonly Opportunity[],
): Steps<(quote: Quote) => DealState> {
  const byId = yield* recordsById(opportunities);
  return ({ opportunity }) => {
    if (!nameOrId(opportunity)) return 'none';
    const deal = opportunity?.id === undefined ? undefined : byId.get(opportunity.id);
    return deal ? outcomeWord(outcomeOf(deal)) : 'not_found';
  };
}
