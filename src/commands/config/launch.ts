import { readFileSync, realpathSync } from 'node:fs';
import { ConfigError, environmentName } from '../../config.ts';
import { fieldOf, isObject, messageOf } from '../../values.ts';
import { version } from '../../version.ts';

/** What a host's configuration holds about one server. */
export type Entry = Record<string, unknown>;

/** How to reach the server, independent of the host's format. */
export interface Launch {
  /** URL of a running server; otherwise the host starts one. */
  http?: string;
  command: string;
  args: string[];
  /** Variables that are not secret. */
  env: Record<string, string>;
  /** Whether a key is needed in the environment. */
  needsKey: boolean;
  /** Whether commands are quoted for Windows. */
  windows: boolean;
}

export interface LaunchOptions {
  http?: string | undefined;
  sandbox: boolean;
  windows: boolean;
  /** Use this copy and this Node, never npx. */
  local: boolean;
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
} as const;
/** Placeholders for values that the user fills in. */
export const placeholders = { baseUrl: 'https://YOUR-TENANT', key: 'YOUR_API_KEY' } as const;

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
  return choice.http === undefined ? launch : { ...launch, http: httpAddress(choice.http) };
}

function environment({ baseUrl, grants, apiKeyFile }: LaunchOptions): Record<string, string> {
  return {
    [variables.baseUrl]: baseUrl ?? placeholders.baseUrl,
    ...(apiKeyFile === undefined ? {} : { [variables.keyFile]: apiKeyFile }),
    ...(grants === undefined ? {} : { [variables.grants]: grants }),
  };
}

/**
 * This copy by its path. The name alone starts whatever the registry has under it, so npx is used only where it
 * fetched this copy from the registry, and for this version.
 */
function commandLine({ local, windows }: LaunchOptions): [string, ...string[]] {
  const path = realpathSync(process.argv[1] ?? '');
  const cache = /^(.*[/\\]_npx[/\\][^/\\]+[/\\]node_modules)[/\\]/.exec(path)?.[1];
  if (cache === undefined) return [process.execPath, path];
  if (local || !isFromRegistry(cache)) {
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
  try {
    const lock: unknown = JSON.parse(readFileSync(`${modules}/.package-lock.json`, 'utf8'));
    const packages = isObject(lock) ? lock.packages : undefined;
    const own = isObject(packages) ? packages[`node_modules/${serverName}`] : undefined;
    const url = String(fieldOf(own, 'resolved'));
    return /^https?:/.test(url) && url.endsWith(`/${serverName}/-/${serverName}-${version}.tgz`);
  } catch (error) {
    throw new ConfigError(`npm's list of installed packages cannot be read: ${messageOf(error)}`);
  }
}

function httpAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol))
    return url.pathname === '/' ? `${url.origin}/mcp` : url.href;
  throw new ConfigError(`--http: "${text}" is not an address such as http://127.0.0.1:3333/mcp`);
}
