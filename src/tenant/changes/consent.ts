import type { Wording } from '../../text/untrusted-text.ts';
import type { FieldChange } from './fields.ts';

/** What a person should know beside the difference. */
export type Remark =
  /** The contact that is to be written belongs to another company. */
  | { about: 'contact elsewhere'; contact: string; company: string }
  /** Another company is to be written, and the contact stays. */
  | { about: 'contact stays'; contact: string }
  /** The amounts stay the same numbers, in another currency. */
  | { about: 'currency'; from: string; to: string }
  /** Another record of the kind is called the same, or looks as if it were. */
  | { about: 'look-alike'; label: string; name: string; other: string; id: string }
  /** A value that the service gives without an id, and that cannot be sent back. */
  | { about: 'cannot be sent'; label: string; value: string };

/** What a person is asked to agree to. */
export interface Proposal {
  /** `create`, `change` or `revert`. */
  what: 'create' | 'change' | 'revert';
  /** Name of the opportunity and of its company, where there are any. */
  opportunity: string;
  company?: string;
  externalId: string;
  changes: readonly FieldChange[];
  /** Of the company that the opportunity has now, and of the one that it would have. */
  currency: { from?: string | undefined; to?: string | undefined };
  remarks: readonly Remark[];
  /** The wish, the record's state that the difference was made from, and the difference. */
  digest: string;
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
