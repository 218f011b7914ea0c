/** Why a change was not made: told to the assistant as it is. */
export class ChangeRefused extends Error {
  readonly kind = 'change-refused';
  /** What could be meant instead, or what differs; shown with the reason. */
  readonly details: Record<string, unknown> | undefined;

  constructor(reason: string, details?: Record<string, unknown>) {
    super(reason);
    this.details = details;
  }
}
