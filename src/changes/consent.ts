import type { ToolCall } from '../tenant/tenant.ts';
import type { Wording } from '../text/untrusted-text.ts';
import type { FieldChange } from './fields.ts';

/** Validity of an answer or a token. */
export const answerMs = 10 * 60_000;

/** The change that a person is asked to agree to. */
export interface Proposal {
  what: 'create' | 'change' | 'revert';
  /** Name of the opportunity; empty if it has none. */
  opportunity: string;
  company?: string | undefined;
  externalId: string;
  changes: readonly FieldChange[];
  /** Currency of the present company, and of the new one. */
  currency: { from?: string | undefined; to?: string | undefined };
  /** Sentences for the person, in addition to the changes. */
  remarks: readonly Wording[];
  /** Hash of tenant, tool, record, requested values and caller; with another `digest` the record has changed since. */
  subject: string;
  /** Hash of the subject and the state of the record. */
  digest: string;
}

/** How a write ended. */
export const writeOutcomes = ['written', 'not_written', 'cannot_tell'] as const;
/** What happened to a change. `refused`: the answer or token that was given does not count. */
export const changeOutcomes = [
  ...writeOutcomes,
  'no_change',
  'declined',
  'cancelled',
  'not_asked',
  'moved',
  'refused',
] as const;
export type ChangeOutcome = (typeof changeOutcomes)[number];

/**
 * Who asks the person: the host, in a form; a view of this server; or the assistant, which shows a preview and repeats the
 * call with its token.
 */
export type AskedBy = 'asked' | 'view' | 'token';

/**
 * How a person may agree: in a form of the host only (`ask`); else in a view (`view`); else by a token, which the assistant
 * sends back (`token`).
 */
export type ConsentSetting = 'ask' | 'view' | 'token';

/** Nobody agreed. `moved`: the person agreed to another difference than would be written now. */
export type NotAgreed =
  | { outcome: 'declined' | 'cancelled' }
  | { outcome: 'moved'; question?: Question | undefined }
  | { outcome: 'not_asked'; why: Wording; question?: Question }
  | { outcome: 'refused'; why: Wording };

export type Consent = { outcome: 'agreed'; how: AskedBy } | NotAgreed;

/** What a person has to be asked before the call is repeated. */
export interface Question {
  how: AskedBy;
  message: Wording;
  /** Binds the answer to the proposal: the state that the host sends back, the secret of a view, or the token. */
  seal: string;
  /** What a view needs, the secret included. Only `_meta` of the result may hold it, which no model is shown. */
  forView?: Record<string, unknown>;
}

/** A call that can ask a person. */
export interface ChangeCall extends ToolCall {
  /** The call carries a person's answer, or the token of a preview. */
  answered?: boolean;
  /** Asks about the difference as it is now at once, where a view shows the answer. */
  askAgain?(proposal: Proposal): Promise<Question>;
  /** Asks a person to agree to exactly this change; the host repeats the call with the answer. */
  consent(proposal: Proposal): Promise<Consent>;
}
