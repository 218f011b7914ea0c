import type { ApiError, ApiErrorKind, Facts, FactsOf } from '../api/errors.ts';
import type { StateUnavailable } from '../state/port.ts';
import type { ChangeRefused } from '../tenant/changes/refusal.ts';
import { isKnown } from './errors.ts';
import { render } from './render.ts';
import { cleaned, visible } from './text.ts';

/**
 * Every error in words for the assistant and the person behind it: what happened, why, and what to do
 * next. Nothing of an upstream body but what its `message` says is repeated, no key, no stack.
 */
export function explain(error: unknown): string {
  if (!isKnown(error)) {
    return 'Something went wrong inside this server; its log has the details. Asking again may help.';
  }
  switch (error.kind) {
    case 'bad-arguments':
      return visible(error.message);
    case 'not-granted':
      return `${error.grant} is not granted here. Whoever runs this server can grant it: in CPQ_GRANTS, and to callers who show who they are.`;
    case 'change-refused':
      return changeRefused(error);
    case 'state-unavailable':
      return stateUnavailable(error);
    default:
      return visible(explainApi(error));
  }
}

function changeRefused({ message, details }: ChangeRefused): string {
  const more = details === undefined ? '' : `\n${render(cleaned(details) as typeof details)}`;
  return `${visible(message)}${more}`;
}

const stateUnavailable = ({ code }: StateUnavailable): string =>
  `This cannot be answered now: what this server shares with its other processes is out of reach (${code}), so nothing was done. Ask again in a minute.`;

const explainApi = <K extends ApiErrorKind>({ kind, facts, message }: ApiError<K>): string =>
  apiWords[kind](facts, message);

const apiWords: { [K in ApiErrorKind]: (facts: FactsOf[K], message: string) => string } = {
  'key-refused': ({ host }) =>
    `The key was not accepted by ${host}; keys belong to one tenant's address. Check that CPQ_BASE_URL and the key are of the same tenant; keys are issued under Settings → Integrations → API Key.`,
  'not-permitted': (facts) =>
    `${facts.host} does not let this key read ${facts.path}.${itSays(facts)} An administrator can allow it under Settings → Integrations → API Key.`,
  'not-found': () =>
    'There is no such record, or it has been deleted. Ids are exact: take one from a list or from cpq_find.',
  'no-route': ({ host, path }) =>
    `${host} has no route ${path}: CPQ_BASE_URL is probably not the tenant's API address, or the tenant does not have this feature.`,
  'web-page': ({ host }) =>
    `${host} answered with a web page: this looks like the web interface, not the API. CPQ_BASE_URL must be the tenant's API address, the part before /public-api.`,
  redirect: ({ host }) =>
    `${host} answered with a redirect, which is not followed because the key would go along. Set CPQ_BASE_URL to the final address.`,
  refused: (facts) =>
    `${facts.host} refused the request.${itSays(facts)} Change the arguments; asking the same again will not help.`,
  'rate-limited': ({ host, seconds }) =>
    noneLeft(`${host} wants no more requests for now`, seconds),
  'budget-spent': ({ seconds }) =>
    noneLeft(`The tenant's request budget, which all its programs share, is used up`, seconds),
  'server-error': ({ host, status }) => isDown(`${host} answered with status ${status}`),
  'connection-lost': ({ host }) => isDown(`${host} broke off the connection`),
  unreachable: ({ host, code }) =>
    `${host} cannot be reached (${code}). Check the address in CPQ_BASE_URL, the network, a proxy or VPN, and the certificate.`,
  'circuit-open': ({ host, seconds }) =>
    `${host} failed several times in a row, so it is left alone for a moment. Ask again in ${seconds} seconds.`,
  'timed-out': ({ host }) =>
    `No complete answer from ${host} in time. Ask for less at once (a smaller size, a filter), or again in a minute.`,
  malformed: (facts, message) => notReadable(facts, message),
  unexpected: (facts, message) => notReadable(facts, message),
  'too-large': ({ host }) =>
    `The answer of ${host} is larger than this server accepts. Ask for a smaller size.`,
};

const itSays = ({ upstreamMessage }: Facts): string =>
  upstreamMessage === undefined ? '' : ` It says: "${upstreamMessage}".`;

function noneLeft(why: string, seconds: number | undefined): string {
  const when = seconds === undefined ? 'in about a minute' : `in ${seconds} seconds`;
  return `${why}. Ask again ${when}; what was read before can still be answered.`;
}

const isDown = (what: string): string =>
  `${what}, also after trying again. It may be down: ask again in a minute.`;

const notReadable = ({ host, path }: Facts, what: string): string =>
  `The answer of ${host} to ${path} cannot be read: ${what}. This is not an empty result. Ask again; if it stays so, the address or the API's version is not what this server knows.`;
