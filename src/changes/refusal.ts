import type { Coverage } from '../reading/coverage.ts';
import type { ReportedSetting } from '../setting-names.ts';
import { type Piece, trusted, type Wording, wording } from '../text/untrusted-text.ts';

/** The settings that a refusal may be due to. */
export type LimitingSetting = Extract<
  ReportedSetting,
  'allowedStages' | 'stateDir' | 'writeFields' | 'writesPerHour'
>;

/** A change was refused. The reason is shown to the assistant unchanged. */
export class ChangeRefused extends Error {
  readonly kind = 'change-refused';
  readonly reason: Wording;
  /** Alternatives or differences, shown with the reason. */
  readonly details: Record<string, unknown> | undefined;
  /** The setting with which the operator can allow it. */
  readonly setting: LimitingSetting | undefined;

  constructor(reason: Wording, details?: Record<string, unknown>, setting?: LimitingSetting) {
    super(reason);
    this.reason = reason;
    this.details = details;
    this.setting = setting;
  }
}

/** The refusal of a change for a reason that is written as with `wording`: refused`There is no change ${quote(id)}.` */
export const refused = <const T extends readonly (string | number | false)[]>(
  strings: TemplateStringsArray,
  ...pieces: { readonly [K in keyof T]: Piece<T[K]> }
): ChangeRefused => new ChangeRefused(wording<T>(strings, ...pieces));

/** The beginning of a reason, where not all records could be read. */
export const partlyRead = (
  { read, total, reason = 'for an unknown reason' }: Coverage,
  what: string,
): Wording => wording`Only ${read} of ${total} ${trusted(what)} could be read (${trusted(reason)})`;
