import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  environmentName,
  flagOf,
  type Setting,
  type SettingName,
  type Settings,
  settings,
  variableOf,
} from './config/settings.ts';
import { onlyExcludes, type ToolSelection } from './mcp/surface.ts';
import { InvalidValue } from './setting-values.ts';
import { parseGrants, writeGrant } from './tenant/grants.ts';
import { editDistance, nearestOf } from './text/nearest.ts';
import type { Toolset } from './tool-kit/toolsets.ts';
import { errorCode, keysOf, messageOf } from './values.ts';

/** Wrong use or configuration; commands print it to stderr and exit with status 2. It names settings by `environmentName`. */
export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

export type CommandLine = ReturnType<typeof readCommandLine>;

/** @throws ConfigError that names the setting and the remedy, never a secret */
export const readSettings = (argv: readonly string[], environment: Environment): Settings =>
  readCommandLine(argv, environment).settings;

/** @param own the command's flags; words are allowed if there are any. @param allowed settings with a flag here */
export function readCommandLine(
  argv: readonly string[],
  environment: Environment,
  own: Readonly<Record<string, 'string' | 'boolean'>> = {},
  allowed: readonly SettingName[] = keysOf(settings),
): { settings: Settings } & ReturnType<typeof readFlags> {
  const { refused } = unknownVariables(environment);
  if (refused.length > 0)
    throw new ConfigError(`${refused.join('. ')}. Every setting: cpq-mcp http --help`);
  const { flags, words } = readFlags(argv, own, allowed);
  const read: Record<string, unknown> = {};
  for (const name of keysOf(settings)) {
    const { fallback }: Setting = settings[name];
    const variable = variableOf(name);
    const fromFlag = allowed.includes(name) ? flags[flagOf(name) ?? ''] : undefined;
    const given = fromFlag ?? givenIn(variable, environment[variable]) ?? fallback;
    if (given !== undefined) read[name] = validate(name, given, fromFlag !== undefined);
  }
  const given = read as Settings;
  const grants = parseGrants([...given.grants, ...(given.allowWrites ? [writeGrant] : [])]);
  return { settings: withSecretsFromFiles({ ...given, grants }), flags, words };
}

const variableNames = keysOf(settings).map(variableOf);

/** Warnings about variables with our prefix that are no settings. */
export function settingWarnings(environment: Environment): string[] {
  const { ignored } = unknownVariables(environment);
  return ignored.length > 0 ? [`ignored, as they are no settings: ${ignored.join(', ')}`] : [];
}

/** For an optional field without a value, a desktop host passes the placeholder of its manifest. */
const givenIn = (name: string, value: string | undefined): string | undefined =>
  value === '' || /^\$\{user_config\.\w+\}$/.test(value ?? '') || isOfService(name, value)
    ? undefined
    : value;

/**
 * The flags without their hyphens, with the text `true` for a switch, and the words that are neither flags nor their
 * values.
 */
function readFlags(
  argv: readonly string[],
  own: Readonly<Record<string, 'string' | 'boolean'>>,
  allowed: readonly SettingName[],
): { flags: Readonly<Record<string, string | undefined>>; words: readonly string[] } {
  const ofSettings = allowed.map((name) => {
    const { bare }: Setting = settings[name];
    return [flagOf(name) ?? '', bare ? 'boolean' : 'string'] as const;
  });
  const types = [...ofSettings, ...Object.entries(own)].filter(([flag]) => flag !== '');
  const options = Object.fromEntries(types.map(([flag, type]) => [flag, { type }]));
  const allowPositionals = Object.keys(own).length > 0;
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals });
    const given = Object.entries(values).map(([flag, value]) => [flag, String(value)]);
    return { flags: Object.fromEntries(given), words: positionals };
  } catch (error) {
    if (argv.some((word) => /^--api-key(=|$)/.test(word))) {
      const instead = `Set ${environmentName('apiKey')} or ${environmentName('apiKeyFile')}.`;
      throw new ConfigError(
        `There is no flag --api-key: it would show the key in lists of processes. ${instead}`,
      );
    }
    // A long word that is not expected may be a key.
    const [problem] = messageOf(error)
      .replace(/^(Unexpected argument) '.{8,}'/s, '$1')
      .split('. ');
    throw new ConfigError(`${problem}. Its flags: cpq-mcp COMMAND --help`);
  }
}

function validate(name: SettingName, given: string, byFlag: boolean): unknown {
  const { parse, isFile, description }: Setting = settings[name];
  const named = byFlag ? `--${flagOf(name)}` : environmentName(name);
  const read = () => parse(isFile ? fileContent(named, given) : given);
  return parseAs(named, read, `. ${description}.`);
}

/** @throws ConfigError that names the setting, for an InvalidValue. @param explained follows what is wrong */
export function parseAs<T>(named: string, parse: () => T, explained = ''): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new ConfigError(`${named}: ${error.message}${explained}`);
  }
}

/** Each can be read from a file. */
const secretNames = ['apiKey', 'webhookSecret', 'metricsToken'] as const;

function withSecretsFromFiles(read: Settings): Settings {
  const found = secretNames.flatMap((name) => {
    const path = read[`${name}File`];
    if (path === undefined || read[name] !== undefined) return [];
    return [
      [name, validate(name, fileContent(environmentName(`${name}File`), path), false)] as const,
    ];
  });
  return { ...read, ...Object.fromEntries(found) };
}

/** The text of a file. @param named the setting or flag that names it. @throws ConfigError when it cannot be read */
export function fileContent(named: string, path: string): string {
  try {
    // Editors of Windows begin a file with a byte order mark.
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const code = errorCode(error) ?? 'unreadable';
    throw new ConfigError(`${named}: ${path} cannot be read (${code})`);
  }
}

/** The tenant's address and key. @throws ConfigError that says which is missing and where to get it */
export function requireTenant(read: Settings): { baseUrl: URL; key: string } {
  const { baseUrl, apiKey } = read;
  if (baseUrl !== undefined && apiKey !== undefined) return { baseUrl, key: apiKey };
  const keyNames = `${environmentName('apiKey')} or ${environmentName('apiKeyFile')}`;
  const missing = [
    ...(baseUrl === undefined ? [`${environmentName('baseUrl')} (the tenant's API address)`] : []),
    ...(apiKey === undefined ? [`${keyNames} (the key)`] : []),
  ];
  throw new ConfigError(
    `Missing: ${missing.join(' and ')}. A key is issued in the product under Settings → Integrations → API Key. To try it without either, set ${environmentName('sandbox')}.`,
  );
}

/** The configured tools; default: routes and briefs, with events and changes if they can be used. */
export function toolSelectionOf(read: Settings): ToolSelection {
  const tools = read.tools ?? new Set();
  if (read.tools && !read.toolsets && !onlyExcludes(tools)) return { tools, toolsets: new Set() };
  const usual: Toolset[] = ['routes', 'briefs'];
  if (read.webhookSecret !== undefined) usual.push('events');
  if (read.grants.has(writeGrant)) usual.push('changes');
  return { tools, toolsets: read.toolsets ?? new Set(usual) };
}

const prefix = 'CPQ_';

/** Variables of assistants, in which they keep a secret for this server (`commands/config`). */
const ofAssistants = ['CPQ_ACCESS_TOKEN', 'CPQ_LOGIN'];

/** What Kubernetes and Docker set for a service called cpq or cpq-…, such as `CPQ_MCP_SERVICE_HOST`. */
const ofService = /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/i;
const serviceUrl = /^(tcp|udp|sctp):\/\//;

/** Whether a variable was set for a service of the network, and by nobody who meant a setting. */
const isOfService = (name: string, value: string | undefined): boolean =>
  ofService.test(name) || (/_PORT$/i.test(name) && serviceUrl.test(value ?? ''));

/** Words of names that would restrict what callers and agents may do. */
const restricts = new RegExp(
  `(^|_)(${[
    'WRIT(E|ES|ABLE|ING)|READ_?ONLY|STAGES?|FIELDS?|GRANTS?|CONSENT|CONFIRM',
    '(DIS)?ALLOW(ED)?|DENY|DENIED|FORBIDDEN|BLOCK(ED)?|BARRED|PROTECT(ED)?|APPROVAL',
    'LIMITS?|MAX(IMUM)?|RATE|BUDGET|PER_[A-Z]+|CALLS|STREAMS',
  ].join('|')})(_|$)`,
);

/**
 * The variables with our prefix that are no settings. Those that are refused, each with a sentence, resemble a setting,
 * or would restrict something: ignoring them would leave a limit unset that somebody relies on.
 */
function unknownVariables(environment: Environment): { refused: string[]; ignored: string[] } {
  const unknown: ReturnType<typeof unknownVariables> = { refused: [], ignored: [] };
  const known = [...variableNames, ...ofAssistants];
  for (const [given, value] of Object.entries(environment)) {
    // On Windows a variable is found in any letter case.
    const name = given.toUpperCase();
    const isKnown = known.includes(name) && environment[name] !== undefined;
    if (value === undefined || !name.startsWith(prefix) || isKnown) continue;
    const like = isOfService(given, value) ? undefined : likeSetting(name);
    if (like === undefined) unknown.ignored.push(given);
    else unknown.refused.push(`${given} is not a setting${like}`);
  }
  return unknown;
}

/** That a name resembles a setting, or would restrict something; undefined if it does neither. */
function likeSetting(name: string): string | undefined {
  const nearest = nearestOf(name, variableNames) ?? '';
  if (editDistance(name, nearest) <= (name.length < prefix.length + 6 ? 1 : 2))
    return `. Nearest: ${nearest}`;
  return restricts.test(name) ? '' : undefined;
}
