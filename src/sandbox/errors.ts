import { STATUS_CODES } from 'node:http';

/** An error response: a status and a body with the reason. */
export class Refusal extends Error {
  readonly status: number;
  readonly reason: string | string[];

  constructor(status: number, reason: string | string[]) {
    super(String(reason));
    this.status = status;
    this.reason = reason;
  }

  get body(): string {
    return JSON.stringify({
      message: this.reason,
      error: STATUS_CODES[this.status] ?? 'Error',
      statusCode: this.status,
    });
  }
}

/** A validation error: status 400 with an array of messages. */
export const invalid = (...reasons: string[]) => new Refusal(400, reasons);
export const notFound = (what: string) => new Refusal(404, what);
