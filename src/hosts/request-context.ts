import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What is known of the HTTP request that is being handled, for every line of the log. */
export interface RequestFacts {
  /** Its id. */
  request: string;
  /** Who sent it, as far as it has been found out. */
  caller?: string;
  tenant?: string;
}

const current = new AsyncLocalStorage<RequestFacts>();

/** Of whatever is being done now, for as long as it is done for a request. */
export const currentRequest = (): RequestFacts | undefined => current.getStore();

/** Adds what has been found out of the request that is being handled. */
export function addRequestFacts(facts: Omit<RequestFacts, 'request'>): void {
  Object.assign(current.getStore() ?? {}, facts);
}

/** The id of a request, which is told in the answer: the sender's own, if it is fit to be one. */
export function assignRequestId({ headers }: IncomingMessage, response: ServerResponse): string {
  const given = headers['x-request-id'];
  const request = isValidRequestId(given) && given !== headers['api-key'] ? given : randomUUID();
  response.setHeader('x-request-id', request);
  return request;
}

/** Handles a request under its id. */
export const runAsRequest = <T>(request: string, handle: () => T): T =>
  current.run({ request }, handle);

/** It shows in logs: neither long nor of more than one word, and no access token in the wrong place. */
const isValidRequestId = (given: string | string[] | undefined): given is string =>
  typeof given === 'string' && /^(?!cpq_)[\w.-]{1,64}$/.test(given);
