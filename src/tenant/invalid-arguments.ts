import type { Wording } from '../text/untrusted-text.ts';

/** Invalid arguments of a tool; the reason says what is valid. */
export class InvalidArguments extends Error {
  readonly kind = 'bad-arguments';
  readonly reason: Wording;

  constructor(reason: Wording) {
    super(reason);
    this.reason = reason;
  }
}
