import { readFileSync, realpathSync } from 'node:fs';
import { ConfigError, environmentName } from '../../config.ts';
import { fieldOf, parseJson } from '../../values.ts';
import { version } from '../../version.ts';

/** What a host's configuration holds about one server. */
export type Entry = Record<string, unknown>;

/** A secret that an entry needs. It is never written: each host has its own way to keep it. */
export interface Secret {
  /** Environment variable of hosts that read secrets from one. */
  variable: string;
  /** What the user replaces in hosts that keep secrets in the file. */
  placeholder: string;
  /** Name in messages. */
  title: string;
  /** Question of hosts that ask for secrets. */
  question: string;
}

/** The header that authenticates a host at a running server. */
interface Login {
  header: 'Authorization' | 'api-key';
  prefix: '' | 'Bearer ';
  secret: Secret;
}

/** A running server. */
export interface Remote {
  url: string;
  /** Absent if callers are not authenticated, or sign in at an identity provider. */
  login?: Login;
  /** Headers that are not secret. */
  headers: Record<string, string>;
}

/** How to reach the server, independent of the host's format. */
export interface Launch {
  /** Present if the host connects to a running server, and starts none. */
  remote?: Remote;
  command: string;
  args: string[];
  /** Variables that are not secret. */
  env: Record<string, string>;
  /** Whether a key is needed in the environment. */
  needsKey: boolean;
  /** Whether commands are quoted for Windows. */
  windows: boolean;
}

/** How callers of a running server authenticate. */
export const authNames = ['none', 'token', 'oauth', 'key'] as const;
export type AuthName = (typeof authNames)[number];

export interface LaunchOptions {
  http?: string | undefined;
  /** Default: none for this machine, token for others. */
  auth?: AuthName | undefined;
  sandbox: boolean;
  windows: boolean;
  baseUrl?: string | undefined;
  grants?: string | undefined;
  apiKeyFile?: string | undefined;
}

export const serverName = 'cpq-mcp';
/** The variables that an entry can hold. */
export const variables = {
  baseUrl: environmentName('baseUrl'),
  key: environmentName('apiKey'),
  keyFile: environmentName('apiKeyFile'),
  grants: environmentName('grants'),
  /** Read by the bridge of hosts that send no headers themselves. */
  login: 'CPQ_LOGIN',
} as const;
/** Placeholder of an address that the user fills in. */
export const baseUrlPlaceholder = 'https://YOUR-TENANT';
export const secrets = {
  key: {
    variable: variables.key,
    placeholder: 'YOUR_API_KEY',
    title: 'key',
    question: 'API key (Settings → Integrations → API Key)',
  },
  token: {
    variable: 'CPQ_ACCESS_TOKEN',
    placeholder: 'YOUR_ACCESS_TOKEN',
    title: 'access token',
    question: 'Access token of the server (cpq_…)',
  },
} as const satisfies Record<string, Secret>;

/** Names, in lower case, of variables and headers that hold an address, a key or a token of ours. */
export const ownNames: readonly string[] = [
  ...[variables.baseUrl, variables.key, variables.keyFile, variables.login],
  ...['authorization', 'api-key', 'cpq-base-url'],
].map((name) => name.toLowerCase());

/** Whether a person has to fill in the value, or the host refers to a secret by it. */
export const isPlaceholder = (value: unknown): boolean =>
  typeof value === 'string' && /YOUR[-_]|^(Bearer )?(\$|\{env:)/.test(value);

/** @throws ConfigError for an invalid address */
export function toLaunch(choice: LaunchOptions): Launch {
  const [command, ...args] = choice.http === undefined ? commandLine(choice) : [serverName];
  const launch: Launch = {
    command,
    args: choice.sandbox ? [...args, '--sandbox'] : args,
    env: choice.sandbox ? {} : environment(choice),
    needsKey: !choice.sandbox && choice.apiKeyFile === undefined,
    windows: choice.windows,
  };
  return choice.http === undefined ? launch : { ...launch, remote: toRemote(choice.http, choice) };
}

function toRemote(http: string, { auth, baseUrl }: LaunchOptions): Remote {
  const url = httpAddress(http);
  const login = logins[auth ?? (isThisMachine(url) ? 'none' : 'token')];
  const isOwnKey = login?.header === 'api-key' && baseUrl !== undefined;
  return {
    url,
    ...(login && { login }),
    headers: isOwnKey ? { 'cpq-base-url': baseUrl } : {},
  };
}

/** Id of a secret among the inputs of VS Code, such as `cpq-api-key`. */
export const inputId = ({ variable }: Secret): string =>
  variable.toLowerCase().replaceAll('_', '-');

const logins: Readonly<Record<AuthName, Login | undefined>> = {
  none: undefined,
  oauth: undefined,
  token: { header: 'Authorization', prefix: 'Bearer ', secret: secrets.token },
  key: { header: 'api-key', prefix: '', secret: secrets.key },
};

const isThisMachine = (url: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);

function environment({ baseUrl, grants, apiKeyFile }: LaunchOptions): Record<string, string> {
  return {
    [variables.baseUrl]: baseUrl ?? baseUrlPlaceholder,
    ...(apiKeyFile === undefined ? {} : { [variables.keyFile]: apiKeyFile }),
    ...(grants === undefined ? {} : { [variables.grants]: grants }),
  };
}

/**
 * This copy by its path. The name alone starts whatever the registry has under it, so npx is used only where it
 * fetched this copy from the registry, and for this version.
 */
function commandLine({ windows }: LaunchOptions): [string, ...string[]] {
  const path = realpathSync(process.argv[1] ?? '');
  const cache = /^(.*[/\\]_npx[/\\][^/\\]+[/\\]node_modules)[/\\]/.exec(path)?.[1];
  if (cache === undefined) return [process.execPath, path];
  if (!isFromRegistry(cache)) {
    throw new ConfigError(
      'This copy is in the cache of npx, which may be cleared at any time. Install it in a folder that stays, and run config from there.',
    );
  }
  const npx = ['npx', '-y', `${serverName}@${version}`] as const;
  // On Windows npx is a script, which only cmd can start.
  return windows ? ['cmd', '/c', ...npx] : [...npx];
}

/** Whether npm fetched this version from a registry, by its own record of what it installed. */
function isFromRegistry(modules: string): boolean {
  const lock = parseJson(readFileSync(`${modules}/.package-lock.json`, 'utf8'));
  const own = fieldOf(fieldOf(lock, 'packages'), `node_modules/${serverName}`);
  const url = String(fieldOf(own, 'resolved'));
  return /^https?:/.test(url) && url.endsWith(`/${serverName}/-/${serverName}-${version}.tgz`);
}

function httpAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol))
    return url.pathname === '/' ? `${url.origin}/mcp` : url.href;
  throw new ConfigError(`--http: "${text}" is not an address such as http://127.0.0.1:3333/mcp`);
}
