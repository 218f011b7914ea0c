import type { ToolCall } from '../tenant/call.ts';
import type { Wording } from '../text/untrusted-text.ts';
import type { FieldChange } from './fields.ts';
import type { ServiceRule } from './service-rules.ts';

/** A note for the person, in addition to the changes. */
export type Remark =
  /** The new contact belongs to another company. */
  | { about: 'contact elsewhere'; contact: string; company: string }
  /** The company changes, and the contact stays. */
  | { about: 'contact stays'; contact: string }
  /** The company's currency changes, and the amounts stay the same numbers. */
  | { about: 'currency'; from: string; to: string }
  /** Another record has the same name, or one that looks the same. */
  | { about: 'look-alike'; label: string; name: string; other: string; id: string }
  /** The service may have a rule against it. */
  | { about: 'rule'; rule: ServiceRule };

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
  remarks: readonly Remark[];
  /** Hash of the requested values, the state of the record, and the changes. */
  digest: string;
  /**
   * Identifies tenant, tool, record, requested values and caller. The same subject with another `digest` means that
   * the record has changed since.
   */
  subject: string;
}

/**
 * The result of asking. `asked`: the host asks the person, and repeats the call with the answer. `accepted` by `asked`: a person answered the host's dialog; by `token`: the call was
 * repeated with the token of the preview. `unasked`: no person could be asked; `offer` has a token if tokens are
 * allowed. `moved`: the person agreed to another difference than would be written now.
 */
export type Consent =
  | { answer: 'asked'; question: Question }
  | { answer: 'accepted'; how: 'asked' | 'token' }
  | { answer: 'declined' }
  | { answer: 'cancelled' }
  | { answer: 'unasked'; offer?: Offer; why: Wording }
  | { answer: 'moved' }
  | { answer: 'invalid'; why: Wording };

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
