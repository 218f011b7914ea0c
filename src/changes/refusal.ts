import type { NameOf } from '../setting-names.ts';
import type { Wording } from '../text/untrusted-text.ts';

/** A change was refused. The reason is shown to the assistant unchanged. */
export class ChangeRefused extends Error {
  readonly kind = 'change-refused';
  readonly reason: Wording;
  readonly details: Record<string, unknown> | undefined;
  readonly remedy: Remedy | undefined;

  constructor(reason: Wording, details?: Record<string, unknown>, remedy?: Remedy) {
    super(reason);
    this.reason = reason;
    this.details = details;
    this.remedy = remedy;
  }
}

export type Remedy = (nameOf: NameOf) => Wording;
