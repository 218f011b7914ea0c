import type { ToolCall } from '../tenant/call.ts';
import type { Wording } from '../text/untrusted-text.ts';
import type { FieldChange } from './fields.ts';

/** Validity of an answer or a token. */
export const answerMs = 10 * 60_000;

/** The change that a person is asked to agree to. */
export interface Proposal {
  what: 'create' | 'change' | 'revert';
  /** Name of the opportunity; empty if it has none. */
  opportunity: string;
  company?: string;
  externalId: string;
  changes: readonly FieldChange[];
  /** Currency of the present company, and of the new one. */
  currency: { from?: string | undefined; to?: string | undefined };
  /** Sentences for the person, in addition to the changes. */
  remarks: readonly Wording[];
  /** Hash of the requested values, the state of the record, and the changes. */
  digest: string;
  /**
   * Identifies tenant, tool, record, requested values and caller. The same subject with another `digest` means that
   * the record has changed since.
   */
  subject: string;
}

/** What happened to a change. `refused`: the answer or token that was given does not count. */
export const changeOutcomes = [
  'written',
  'not_written',
  'cannot_tell',
  'no_change',
  'declined',
  'cancelled',
  'not_asked',
  'moved',
  'refused',
] as const;
export type ChangeOutcome = (typeof changeOutcomes)[number];

/** A person agreed: by the host's dialog, or by repeating the call with the token of the preview. */
interface Agreed {
  outcome: 'agreed';
  how: 'asked' | 'token';
}

/**
 * Nobody agreed. `not_asked`: the host asks `question` and repeats the call with the answer, or nobody can be asked;
 * `offer` has a token if tokens are allowed. `moved`: the person agreed to another difference than would be written now.
 */
export type NotAgreed =
  | { outcome: 'declined' | 'cancelled' | 'moved' }
  | { outcome: 'not_asked'; question: Question }
  | { outcome: 'not_asked'; question?: never; offer?: Offer; why: Wording }
  | { outcome: 'refused'; why: Wording };

export type Consent = Agreed | NotAgreed;

/** What the host asks the person. */
export interface Question {
  message: Wording;
  /** Binds the answer to the proposal; the host sends it back. */
  state: string;
}

/** A token that replaces the host's dialog. */
export interface Offer {
  token: string;
  question: Wording;
}

/** A call that can ask a person. */
export interface ChangeCall extends ToolCall {
  /** The call carries a person's answer, or the token of a preview. */
  answered?: boolean;
  /** Asks a person to agree to exactly this change; the host repeats the call with the answer. */
  consent(proposal: Proposal): Promise<Consent>;
}
