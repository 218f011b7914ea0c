/**
 * What can go wrong between us and the service, as a tree of types. An error carries facts (host,
 * status, seconds to wait), never a key, never an upstream body; it is worded for the assistant in one
 * place, `mcp/wording.ts`.
 */
export interface Facts {
  /** Host and port of the service. */
  host: string;
  /** Path below `/public-api`, without the query. */
  path?: string;
  status?: number;
  /** What the service said was wrong, in its own words, where it said so in a `message`. */
  said?: string;
}

export abstract class ApiError extends Error {
  readonly facts: Facts;
  /** Whether asking again, unchanged, can help. */
  readonly passing: boolean = false;

  constructor(message: string, facts: Facts, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.facts = facts;
  }
}

/** 401, or 403 about the key itself. */
export class KeyRefused extends ApiError {}

/** 403: the key is good, but not for this. */
export class NotPermitted extends ApiError {}

/** 404 of one record. */
export class NotFound extends ApiError {}

/** 404 of a route, or a web page where JSON should be: the address is not the API's. */
export class WrongAddress extends ApiError {
  readonly reason: 'web-page' | 'no-route' | 'redirect';

  constructor(reason: WrongAddress['reason'], facts: Facts) {
    super(`not the API: ${reason}`, facts);
    this.reason = reason;
  }
}

/** 400 and other refusals of what was asked. */
export class Refused extends ApiError {}

/** 429, or our own count says that it would be one. */
export class RateLimited extends ApiError {
  override readonly passing = true;
  /** Seconds until a request can go through again, if known. */
  readonly seconds: number | undefined;
  /** Whether the service said so (429) or our own count of the shared budget. */
  readonly by: 'service' | 'budget';

  constructor(seconds: number | undefined, by: RateLimited['by'], facts: Facts) {
    super('rate limited', facts);
    this.seconds = seconds;
    this.by = by;
  }
}

/** 5xx, resets and connections that break off. */
export class Unavailable extends ApiError {
  override readonly passing = true;
}

/** The code of an address that may not be connected to, because it is not public. */
export const privateAddress = 'EPRIVATE';

/** No connection could be made: nothing has been sent. */
export class Unreachable extends Unavailable {
  /** The operating system's code, such as `ECONNREFUSED` or `ENOTFOUND`. */
  readonly code: string;

  constructor(code: string, facts: Facts, options?: ErrorOptions) {
    super(`unreachable: ${code}`, facts, options);
    this.code = code;
  }
}

/** The circuit is open: the last requests all failed, and nothing was sent. */
export class CircuitOpen extends Unavailable {
  /** Seconds until the next attempt is let through. */
  readonly seconds: number;

  constructor(seconds: number, facts: Facts) {
    super('circuit open', facts);
    this.seconds = seconds;
  }
}

/** No complete answer in time. */
export class TimedOut extends ApiError {
  override readonly passing = true;
}

/** An answer that cannot be read: truncated, not JSON, an unknown envelope, nested without end. */
export class BadResponse extends ApiError {
  override readonly passing: boolean;

  constructor(message: string, facts: Facts, passing = false) {
    super(message, facts);
    this.passing = passing;
  }
}

/** An answer over the cap on a response's size. */
export class TooLarge extends ApiError {}
