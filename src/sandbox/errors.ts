import { STATUS_CODES } from 'node:http';

/** A refusal, as it goes over the wire: a status and the body that says why. */
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

/** A 400 of the validation, whose message is an array. */
export const invalid = (...reasons: string[]) => new Refusal(400, reasons);
export const notFound = (what: string) => new Refusal(404, what);
