import type { ChangeRefused, LimitingSetting } from '../changes/refusal.ts';
import { plural } from '../figures/naming.ts';
import {
  type ApiError,
  type ApiErrorKind,
  type ErrorFacts,
  type FactsOf,
  isApiError,
} from '../service/errors.ts';
import type { NameOf } from '../setting-names.ts';
import {
  join,
  quote,
  trusted,
  type Wording,
  withoutTags,
  wording,
} from '../text/untrusted-text.ts';
import { isKnown } from './observer.ts';
import { render } from './render.ts';
import { cleanedRow } from './results.ts';

/**
 * Words an error for the assistant and the user: what happened, why, and what to do next. Of an upstream body
 * only `message` is repeated; never a key or a stack.
 * @param heldSince the collections that can be answered without a request, and when they were read
 */
export function describeError(
  error: unknown,
  nameOf: NameOf,
  heldSince: ReadonlyMap<string, number> = new Map(),
): Wording {
  if (!isKnown(error)) {
    return wording`Something went wrong inside this server; its log has the details. Asking again may help.`;
  }
  switch (error.kind) {
    case 'bad-arguments':
      return error.reason;
    case 'not-granted':
      return wording`${trusted(error.grant)} is not granted here. The operator of this server can grant it: with the setting ${trusted(nameOf('grants'))}, and in the token or scopes of an authenticated caller.`;
    case 'change-refused':
      return changeRefused(error, nameOf);
    case 'state-unavailable':
      return wording`This cannot be answered now: the state shared with other server processes cannot be reached (${trusted(error.code)}), so nothing was done. Ask again in a minute.`;
    default:
      return isApiError(error, 'rate-limited', 'budget-spent')
        ? wording`${describeApiError(error, nameOf)}${heldNow(heldSince)}`
        : describeApiError(error, nameOf);
  }
}

/** What can be answered although no request can be sent. */
function heldNow(heldSince: ReadonlyMap<string, number>): Wording {
  if (heldSince.size === 0) return wording``;
  const held = [...heldSince].map(([collection, since]) => {
    const minutes = Math.max(0, Math.floor((Date.now() - since) / 60_000));
    return wording`${trusted(collection.replaceAll('_', ' '))} (${minutes} min old)`;
  });
  return wording` Questions about these records can be answered now: ${join(held, ', ')}.`;
}

/** What the operator can do about a refusal that is due to a setting. */
const remedyBy = (setting: LimitingSetting, name: Wording): Wording =>
  setting === 'stateDir'
    ? wording`The operator of this server can set ${name} to a folder that it can write to.`
    : wording`The limit is ${name}.`;

function changeRefused({ reason, details, setting }: ChangeRefused, nameOf: NameOf): Wording {
  const text = setting ? wording`${reason} ${remedyBy(setting, trusted(nameOf(setting)))}` : reason;
  if (details === undefined) return text;
  // The same whether or not an answer has loaded the converter before.
  return wording`${text}\n${trusted(render(cleanedRow(details, withoutTags)))}`;
}

const describeApiError = <K extends ApiErrorKind>(
  { kind, facts }: ApiError<K>,
  nameOf: NameOf,
): Wording => apiWords[kind](facts, nameOf);

const apiWords: { [K in ApiErrorKind]: (facts: FactsOf[K], nameOf: NameOf) => Wording } = {
  'key-refused': ({ host }, nameOf) =>
    wording`The key was not accepted by ${trusted(host)}; keys belong to one tenant's address. Check that ${trusted(nameOf('baseUrl'))} and the key are of the same tenant; keys are issued under Settings → Integrations → API Key.`,
  'not-permitted': (facts) =>
    wording`${trusted(facts.host)} does not let this key read ${trusted(facts.path ?? '')}${trusted(facts.upstreamMessage === undefined ? ', or does not accept the key' : '')}.${itSays(facts)} An administrator can allow it under Settings → Integrations → API Key.`,
  'not-found': () =>
    wording`There is no such record, or it has been deleted. Ids are exact: take one from a list or from cpq_find.`,
  'no-route': ({ host, path }, nameOf) =>
    wording`${trusted(host)} has no route ${trusted(path ?? '')}: ${trusted(nameOf('baseUrl'))} is probably not the tenant's API address, or the tenant does not have this feature.`,
  'web-page': ({ host }, nameOf) =>
    wording`${trusted(host)} answered with a web page: this looks like the web interface, not the API. ${trusted(nameOf('baseUrl'))} must be the tenant's API address, the part before /public-api.`,
  redirect: ({ host }, nameOf) =>
    wording`${trusted(host)} answered with a redirect, which is not followed because the key would be sent along. Set ${trusted(nameOf('baseUrl'))} to the final address.`,
  refused: (facts) =>
    wording`${trusted(facts.host)} refused the request.${itSays(facts)} Change the arguments; asking the same again will not help.`,
  'rate-limited': ({ host, seconds }) =>
    askedToWait(wording`${trusted(host)} accepts no more requests for now`, seconds),
  'budget-spent': ({ seconds, reserved }) =>
    reserved
      ? wording`${reserved} requests are left in the tenant's budget, and this server keeps them for single records and pages: reading a whole collection has to wait. Ask for one record or one page, or again ${whenToRetry(seconds)}.`
      : askedToWait(
          wording`The tenant's request budget, which all its programs share, is used up`,
          seconds,
        ),
  'server-error': ({ host, status, seconds }) => {
    const what = wording`${trusted(host)} answered with status ${trusted(String(status))}`;
    return seconds === undefined ? isDown(what) : askedToWait(what, seconds);
  },
  'connection-lost': ({ host, byUs }) =>
    byUs
      ? wording`This server is being closed, so no complete answer of ${trusted(host)} was waited for. Ask again when it runs again.`
      : isDown(wording`${trusted(host)} closed the connection`),
  unreachable: ({ host, code }, nameOf) =>
    wording`${trusted(host)} cannot be reached (${trusted(code)}). Check the address in ${trusted(nameOf('baseUrl'))}, the network, a proxy or VPN, and the certificate.`,
  'circuit-open': ({ host, seconds, code }) =>
    wording`${trusted(host)} ${code ? wording`cannot be reached (${trusted(code)})` : 'failed several times in a row'}, so requests such as this one are not sent to it for a moment. Ask again ${whenToRetry(seconds)}.`,
  'timed-out': ({ host }) =>
    wording`No complete answer from ${trusted(host)} in time. Ask for less at once (a smaller size, a filter), or again in a minute.`,
  malformed: notReadable,
  'embedded-error': (facts) =>
    wording`${trusted(facts.host)} answered ${trusted(facts.path ?? '')} with an error instead of records, also after trying again. This is not an empty result: ask again in a minute.${itSays(facts)}`,
  unexpected: notReadable,
  'too-large': ({ host }) =>
    wording`The answer of ${trusted(host)} is larger than this server accepts. Ask for a smaller size.`,
};

const itSays = ({ upstreamMessage }: ErrorFacts): Wording =>
  upstreamMessage === undefined ? wording`` : wording` It says: ${quote(upstreamMessage, 300)}.`;

const askedToWait = (why: Wording, seconds: number | undefined): Wording =>
  wording`${why}. Ask again ${whenToRetry(seconds)}.`;

const whenToRetry = (seconds: number | undefined): Wording =>
  seconds === undefined ? wording`in about a minute` : wording`in ${plural(seconds, 'second')}`;

const isDown = (what: Wording): Wording =>
  wording`${what}, also after trying again. It may be down: ask again in a minute.`;

function notReadable({ host, path, problem }: FactsOf['malformed' | 'unexpected']): Wording {
  return wording`The answer of ${trusted(host)} to ${trusted(path ?? '')} cannot be read: ${trusted(problem)}. This is not an empty result. Ask again; if this persists, the address or the API's version is not supported by this server.`;
}
