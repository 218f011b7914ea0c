import { editDistance, nearestOf } from '../text/nearest.ts';

const prefix = 'CPQ_';

/** Variables of assistants, in which they keep a secret for this server (`commands/config`). */
const ofAssistants = ['CPQ_ACCESS_TOKEN', 'CPQ_LOGIN'];

/** What Kubernetes and Docker set for a service called cpq or cpq-…, such as `CPQ_MCP_SERVICE_HOST`. */
const ofService = /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/i;
const serviceUrl = /^(tcp|udp|sctp):\/\//;

/** Whether a variable was set for a service of the network, and by nobody who meant a setting. */
export const isOfService = (name: string, value: string | undefined): boolean =>
  ofService.test(name) || (/_PORT$/i.test(name) && serviceUrl.test(value ?? ''));

/** Words of names that would restrict what callers and agents may do. */
const restricts = new RegExp(
  `(^|_)(${[
    'WRIT(E|ES|ABLE|ING)|READ_?ONLY|STAGES?|FIELDS?|GRANTS?|CONSENT|CONFIRM',
    '(DIS)?ALLOW(ED)?|DENY|DENIED|FORBIDDEN|BLOCK(ED)?|BARRED|PROTECT(ED)?|APPROVAL',
    'LIMITS?|MAX(IMUM)?|RATE|BUDGET|PER_[A-Z]+|CALLS|STREAMS',
  ].join('|')})(_|$)`,
);

interface UnknownVariables {
  /** A sentence for each that was probably meant as a setting. */
  refused: string[];
  /** Names of all others. */
  ignored: string[];
}

/**
 * The variables with our prefix that are no settings. Those that are refused resemble a setting, or would restrict
 * something: ignoring them would leave a limit unset that somebody relies on.
 */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): UnknownVariables {
  const unknown: UnknownVariables = { refused: [], ignored: [] };
  const known = [...settings, ...ofAssistants];
  for (const [given, value] of Object.entries(environment)) {
    // On Windows a variable is found in any letter case.
    const name = given.toUpperCase();
    const isKnown = known.includes(name) && environment[name] !== undefined;
    if (value === undefined || !name.startsWith(prefix) || isKnown) continue;
    const like = isOfService(given, value) ? undefined : likeSetting(name, settings);
    if (like === undefined) unknown.ignored.push(given);
    else unknown.refused.push(`${given} is not a setting${like}`);
  }
  return unknown;
}

/** That a name resembles a setting, or would restrict something; undefined if it does neither. */
function likeSetting(name: string, settings: readonly string[]): string | undefined {
  const nearest = nearestOf(name, settings) ?? '';
  if (editDistance(name, nearest) <= (name.length < prefix.length + 6 ? 1 : 2))
    return `. Nearest: ${nearest}`;
  return restricts.test(name) ? '' : undefined;
}
