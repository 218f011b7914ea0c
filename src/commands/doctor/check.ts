/** `skip`: there was nothing to check, or no way to. */
export type Status = 'ok' | 'warn' | 'fail' | 'skip';

/** What one check found. */
export interface Check {
  /** For programs; it stays the same. */
  id: string;
  title: string;
  status: Status;
  detail: string;
  /** What to do about it. */
  remedy?: string;
}

export function check(
  id: string,
  title: string,
  status: Status,
  detail: string,
  remedy?: string,
): Check {
  return { id, title, status, detail, ...(remedy === undefined ? {} : { remedy }) };
}
