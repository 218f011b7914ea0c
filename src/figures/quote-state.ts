/** The state of a quote: whether the customer can still accept it, and the outcome of its opportunity. */
import type { Opportunity, Quote } from '../service/records/records.ts';
import { type Day, dayOf } from './days.ts';
import { type Outcome, outcomeOf, statusCategoryOf } from './outcome.ts';
import { recordsById, type Steps } from './steps.ts';

export const acceptances = [
  'draft',
  'open to acceptance',
  'past expiry',
  'accepted',
  'declined',
  'other',
] as const;

export type Acceptance = (typeof acceptances)[number];

/** Definition: docs/definitions.md, "Status of a quote". A deleted quote is `other`. */
export function acceptanceOf(quote: Quote, today: Day): Acceptance {
  const statusCategory = statusCategoryOf(quote);
  if (statusCategory === 'approved') return 'accepted';
  if (statusCategory === 'expired') return 'past expiry';
  if (statusCategory === 'sent') return isPast(quote, today) ? 'past expiry' : 'open to acceptance';
  return statusCategory === 'deleted' ? 'other' : statusCategory;
}

/** Valid through its last day. */
const isPast = ({ expiresAt }: Quote, today: Day): boolean => (dayOf(expiresAt) ?? today) < today;

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

const stateOfOutcome: Readonly<Record<Outcome, DealState>> = {
  open: 'open',
  won: 'won',
  lost: 'lost',
  closed_unknown: 'closed',
  deleted: 'deleted',
};

/** Looks opportunities up by id. */
export class Deals {
  readonly #byId: ReadonlyMap<string | undefined, Opportunity>;

  private constructor(byId: ReadonlyMap<string | undefined, Opportunity>) {
    this.#byId = byId;
  }

  static *of(opportunities: readonly Opportunity[]): Steps<Deals> {
    return new Deals(yield* recordsById(opportunities));
  }

  stateOf({ opportunity }: Quote): DealState {
    if (opportunity === undefined) return 'none';
    const deal = opportunity.id === undefined ? undefined : this.#byId.get(opportunity.id);
    return deal ? stateOfOutcome[outcomeOf(deal)] : 'not_found';
  }
}
