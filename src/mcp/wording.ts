import {
  ApiError,
  BadResponse,
  CircuitOpen,
  KeyRefused,
  NotFound,
  NotPermitted,
  RateLimited,
  Refused,
  TimedOut,
  TooLarge,
  Unavailable,
  Unreachable,
  WrongAddress,
} from '../api/errors.ts';
import { StateLost } from '../state/port.ts';
import { ChangeRefused } from '../tenant/changes/refusal.ts';
import { NotGranted } from '../tenant/tenant.ts';
import { BadArguments } from './arguments.ts';
import { render } from './render.ts';
import { cleaned, visible } from './text.ts';

/**
 * Every error in words for the assistant and the person behind it: what happened, why, and what to do
 * next. Nothing of an upstream body but what its `message` says is repeated, no key, no stack.
 */
export function explain(error: unknown): string {
  if (error instanceof BadArguments) return visible(error.message);
  if (error instanceof NotGranted) {
    return `${error.grant} is not granted here. Whoever runs this server can grant it: in CPQ_GRANTS, and to callers who show who they are.`;
  }
  if (error instanceof ChangeRefused) return refused(error);
  if (error instanceof StateLost) return stateLost(error);
  if (error instanceof ApiError) return visible(explainApi(error));
  return 'Something went wrong inside this server; its log has the details. Asking again may help.';
}

function refused({ message, details }: ChangeRefused): string {
  const more = details === undefined ? '' : `\n${render(cleaned(details) as typeof details)}`;
  return `${visible(message)}${more}`;
}

const stateLost = ({ code }: StateLost): string =>
  `This cannot be answered now: what this server shares with its other processes is out of reach (${code}), so nothing was done. Ask again in a minute.`;

function explainApi(error: ApiError): string {
  if (error instanceof RateLimited) return rateLimited(error);
  if (error instanceof WrongAddress) return wrongAddress(error);
  if (error instanceof Unavailable) return unavailable(error);
  const { host, path } = error.facts;
  const said = error.facts.said === undefined ? '' : ` It says: "${error.facts.said}".`;
  if (error instanceof KeyRefused) {
    return `The key was not accepted by ${host}; keys belong to one tenant's address. Check that CPQ_BASE_URL and the key are of the same tenant; keys are issued under Settings → Integrations → API Key.`;
  }
  if (error instanceof NotPermitted) {
    return `${host} does not let this key read ${path}.${said} An administrator can allow it under Settings → Integrations → API Key.`;
  }
  if (error instanceof NotFound) {
    return 'There is no such record, or it has been deleted. Ids are exact: take one from a list or from cpq_find.';
  }
  if (error instanceof Refused) {
    return `${host} refused the request.${said} Change the arguments; asking the same again will not help.`;
  }
  if (error instanceof TimedOut) {
    return `No complete answer from ${host} in time. Ask for less at once (a smaller size, a filter), or again in a minute.`;
  }
  if (error instanceof TooLarge) {
    return `The answer of ${host} is larger than this server accepts. Ask for a smaller size.`;
  }
  return badResponse(error, host, path);
}

function rateLimited({ seconds, by, facts }: RateLimited): string {
  const when = seconds === undefined ? 'in about a minute' : `in ${seconds} seconds`;
  const who =
    by === 'service'
      ? `${facts.host} wants no more requests for now`
      : `The tenant's request budget, which all its programs share, is used up`;
  return `${who}. Ask again ${when}; what was read before can still be answered.`;
}

function wrongAddress({ reason, facts }: WrongAddress): string {
  if (reason === 'web-page') {
    return `${facts.host} answered with a web page: this looks like the web interface, not the API. CPQ_BASE_URL must be the tenant's API address, the part before /public-api.`;
  }
  if (reason === 'redirect') {
    return `${facts.host} answered with a redirect, which is not followed because the key would go along. Set CPQ_BASE_URL to the final address.`;
  }
  return `${facts.host} has no route ${facts.path}: CPQ_BASE_URL is probably not the tenant's API address, or the tenant does not have this feature.`;
}

function unavailable(error: Unavailable): string {
  const { host, status } = error.facts;
  if (error instanceof CircuitOpen) {
    return `${host} failed several times in a row, so it is left alone for a moment. Ask again in ${error.seconds} seconds.`;
  }
  if (error instanceof Unreachable) {
    return `${host} cannot be reached (${error.code}). Check the address in CPQ_BASE_URL, the network, a proxy or VPN, and the certificate.`;
  }
  const how = status === undefined ? 'broke off the connection' : `answered with status ${status}`;
  return `${host} ${how}, also after trying again. It may be down: ask again in a minute.`;
}

function badResponse(error: ApiError, host: string, path: string | undefined): string {
  const what = error instanceof BadResponse ? error.message : 'something unexpected';
  return `The answer of ${host} to ${path} cannot be read: ${what}. This is not an empty result. Ask again; if it stays so, the address or the API's version is not what this server knows.`;
}
