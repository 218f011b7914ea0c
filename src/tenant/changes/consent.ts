import type { FieldChange } from './fields.ts';

/** What a person is asked to agree to. */
export interface Proposal {
  /** `create`, `change` or `revert`. */
  what: 'create' | 'change' | 'revert';
  /** Name of the opportunity and of its company, where there are any. */
  opportunity: string;
  company?: string;
  externalId: string;
  changes: readonly FieldChange[];
  currency?: string;
  /** Binds the consent to exactly this. */
  digest: string;
}

/**
 * What came of asking. `accepted` says how: the person answered the host's own question, or the same
 * call came back with the token of the preview. `unasked`: nobody could be asked, and a token may be
 * offered instead. `moved`: the person agreed to something else than what would be written now.
 */
export type Consent =
  | { answer: 'accepted'; how: 'asked' | 'token' }
  | { answer: 'declined' }
  | { answer: 'cancelled' }
  | { answer: 'unasked'; token?: string; why: string }
  | { answer: 'moved' }
  | { answer: 'invalid'; why: string };
