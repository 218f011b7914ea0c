/** `skip`: there was nothing to check, or no way to. */
export type CheckStatus = 'ok' | 'warn' | 'fail' | 'skip';

/** What one check found. */
export interface DoctorCheck {
  /** For programs; it stays the same. */
  id: string;
  title: string;
  status: CheckStatus;
  detail: string;
  /** What to do about it. */
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
