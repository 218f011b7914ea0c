import type { Resource } from '../../service/records/records.ts';
import { visible } from '../../text/characters.ts';

/** `skip`: nothing to check, or the check was not possible. */
export type CheckStatus = 'pass' | 'warn' | 'fail' | 'skip';

/** The result of one check. */
export interface DoctorCheck {
  /** Stable id for programs. */
  id: string;
  title: string;
  status: CheckStatus;
  detail: string;
  /** What the user should do. */
  remedy?: string;
}

/** A check of the service. */
export interface Finding extends DoctorCheck {
  /**
   * What it means for answers from these records. `wrong`: they may be wrong; `wrong figures`: only figures computed
   * from them; `partial`: not all of them can be read, which answers say.
   */
  effect?: { readonly of: readonly Resource[]; readonly is: 'wrong' | 'wrong figures' | 'partial' };
}

/** The detail of a check that was left out because of an earlier one, or for lack of time or requests. */
export const notTried = 'not tried';

/** Makes results of one check. */
export const checkAs =
  (id: string, title: string) =>
  (status: CheckStatus, detail: string, remedy?: string, effect?: Finding['effect']): Finding => ({
    ...{ id, title, status, detail },
    ...(remedy === undefined ? {} : { remedy }),
    ...(effect && { effect }),
  });

/** Texts of the service in a sentence. */
export const quoted = (texts: readonly string[]): string =>
  texts.map((text) => JSON.stringify(visible(text))).join(', ');
