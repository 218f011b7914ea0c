import type { Wording } from '../../text/untrusted-text.ts';
import type { FieldChange } from './fields.ts';
import type { ChangePlan } from './plan.ts';

/** What a person is asked to agree to. */
export interface Proposal extends Pick<ChangePlan, 'currency' | 'remarks' | 'digest'> {
  /** `create`, `change` or `revert`. */
  what: 'create' | 'change' | 'revert';
  /** Name of the opportunity and of its company, where there are any. */
  opportunity: string;
  company?: string;
  externalId: string;
  changes: readonly FieldChange[];
  /**
   * The tenant, tool, record, wish and caller. With the same subject and another `digest` the record has moved;
   * with another subject it is about something else.
   */
  subject: string;
}

/**
 * What came of asking. `accepted` says how: the person answered the host's own question, or the same
 * call came back with the token of the preview. `unasked`: nobody could be asked; where a token may be
 * offered instead, it comes with the question's words. `moved`: the person agreed to another difference
 * than would be written now.
 */
export type Consent =
  | { answer: 'accepted'; how: 'asked' | 'token' }
  | { answer: 'declined' }
  | { answer: 'cancelled' }
  | { answer: 'unasked'; offer?: Offer; why: Wording }
  | { answer: 'moved' }
  | { answer: 'invalid'; why: Wording };

/** Stands in for the host's own question. */
export interface Offer {
  token: string;
  /** What the person is to be shown. */
  question: Wording;
}
