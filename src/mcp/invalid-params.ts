/** A request for an unknown tool, prompt or resource; code, message and data are sent to the host. */
export class InvalidParams extends Error {
  /** JSON-RPC error code. */
  readonly code = -32602;
  readonly data: unknown;

  constructor(message: string, data?: unknown) {
    super(message);
    this.data = data;
  }
}
