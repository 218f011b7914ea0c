/** `skip`: nothing to check, or the check was not possible. */
export type CheckStatus = 'ok' | 'warn' | 'fail' | 'skip';

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

export function check(
  id: string,
  title: string,
  status: CheckStatus,
  detail: string,
  remedy?: string,
): DoctorCheck {
  return { id, title, status, detail, ...(remedy === undefined ? {} : { remedy }) };
}
