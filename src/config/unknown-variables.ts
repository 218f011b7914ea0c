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
  for (const [name, value] of Object.entries(environment)) {
    const isOurs = value !== undefined && name.toUpperCase().startsWith(prefix);
    if (!isOurs || isKnown(name, environment, settings)) continue;
    const nearest = isOfService(name, value) ? [] : meantBy(name.toUpperCase(), settings);
    if (nearest.length === 0) unknown.ignored.push(name);
    else unknown.refused.push(`${name} is not a setting. Nearest: ${nearest.join(', ')}`);
  }
  return unknown;
}

/** On Windows a variable is found in any letter case. */
const isKnown = (
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): boolean => {
  const known = name.toUpperCase();
  const isSetting = settings.includes(known) || ofAssistants.includes(known);
  return isSetting && environment[known] !== undefined;
};

/** The settings that a name may stand for; none if it resembles no setting and would restrict nothing. */
function meantBy(name: string, settings: readonly string[]): string[] {
  const nearest = nearestOf(name, settings) ?? '';
  const length = name.length - prefix.length;
  if (editDistance(name, nearest) <= (length < 6 ? 1 : 2)) return [nearest];
  if (!restricts.test(name)) return [];
  const shared = settings.map((setting) => ({ setting, words: sharedWords(name, setting) }));
  const most = Math.max(...shared.map(({ words }) => words));
  return most === 0
    ? [nearest]
    : shared.filter(({ words }) => words === most).map(({ setting }) => setting);
}

const wordsOf = (name: string): string[] =>
  name
    .slice(prefix.length)
    .split('_')
    .map((word) => word.replace(/S$/, ''));

const sharedWords = (name: string, other: string): number => {
  const words = wordsOf(other);
  return wordsOf(name).filter((word) => words.includes(word)).length;
};
