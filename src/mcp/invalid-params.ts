/** A request that names what is not there; the host is told the code, the message and the data. */
export class InvalidParams extends Error {
  /** Of JSON-RPC. */
  readonly code = -32602;
  readonly data: unknown;

  constructor(message: string, data?: unknown) {
    super(message);
    this.data = data;
  }
}
