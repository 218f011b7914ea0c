import { realpathSync } from 'node:fs';
import { ConfigError, environmentName } from '../../config.ts';

/** What a host's configuration holds about one server. */
export type Entry = Record<string, unknown>;

/** What the host is to connect to, before it is put into the host's own words. */
export interface Launch {
  /** Of a server that runs already; otherwise the host starts one. */
  http?: string;
  command: string;
  args: string[];
  /** Settings that are no secret. */
  env: Record<string, string>;
  /** Whether a key is needed, and is not read from a file. */
  needsKey: boolean;
  /** Whether commands are quoted for Windows. */
  windows: boolean;
}

export interface LaunchOptions {
  http?: string | undefined;
  sandbox: boolean;
  windows: boolean;
  /** This very copy and this Node instead of npx. */
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
/** Stands where a person, or what a host keeps for them, puts the real one. */
export const placeholders = { baseUrl: 'https://YOUR-TENANT', key: 'YOUR_API_KEY' } as const;

/** @throws ConfigError for an address that is none */
export function toLaunch(choice: LaunchOptions): Launch {
  const [command, ...args] = commandLine(choice);
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

/** On Windows npx is a script, which only the command interpreter can start. */
function commandLine({ local, windows }: LaunchOptions): [string, ...string[]] {
  if (local) return [process.execPath, bundlePath()];
  return windows ? ['cmd', '/c', 'npx', '-y', serverName] : ['npx', '-y', serverName];
}

function bundlePath(): string {
  const path = realpathSync(process.argv[1] ?? '');
  if (/[/\\]_npx[/\\]/.test(path)) {
    throw new ConfigError('--local: this copy lies in a cache of npx that may be cleared any time');
  }
  return path;
}

function httpAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol))
    return url.pathname === '/' ? `${url.origin}/mcp` : url.href;
  throw new ConfigError(`--http: "${text}" is not an address such as http://127.0.0.1:3333/mcp`);
}
