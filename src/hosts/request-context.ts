import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Log context of the current HTTP request. */
export interface RequestFacts {
  /** Its id. */
  request: string;
  /** The caller, once it is authenticated. */
  caller?: string;
  tenant?: string;
}

const current = new AsyncLocalStorage<RequestFacts>();

export const currentRequest = (): RequestFacts | undefined => current.getStore();

export function addRequestFacts(facts: Omit<RequestFacts, 'request'>): void {
  Object.assign(current.getStore() ?? {}, facts);
}

/** The id of a request, sent back in the answer: the sender's own if it is valid. */
export function assignRequestId({ headers }: IncomingMessage, response: ServerResponse): string {
  const given = headers['x-request-id'];
  const request = isValidRequestId(given) && given !== headers['api-key'] ? given : randomUUID();
  response.setHeader('x-request-id', request);
  return request;
}

export const runAsRequest = <T>(request: string, handle: () => T): T =>
  current.run({ request }, handle);

/** Accepts short single words only, and no misplaced access token, because the id is logged. */
const isValidRequestId = (given: string | string[] | undefined): given is string =>
  typeof given === 'string' && /^(?!cpq_)[\w.-]{1,64}$/.test(given);
