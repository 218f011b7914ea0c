import { realpathSync } from 'node:fs';
import { ConfigError, environmentName } from '../../config.ts';

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
  /** Use this copy and this Node instead of npx. */
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

/** On Windows npx is a script, which only cmd can start. */
function commandLine({ local, windows }: LaunchOptions): [string, ...string[]] {
  if (local) return [process.execPath, bundlePath()];
  return windows ? ['cmd', '/c', 'npx', '-y', serverName] : ['npx', '-y', serverName];
}

function bundlePath(): string {
  const path = realpathSync(process.argv[1] ?? '');
  if (/[/\\]_npx[/\\]/.test(path)) {
    throw new ConfigError(
      '--local: this copy is in the npx cache, which may be cleared at any time',
    );
  }
  return path;
}

function httpAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol))
    return url.pathname === '/' ? `${url.origin}/mcp` : url.href;
  throw new ConfigError(`--http: "${text}" is not an address such as http://127.0.0.1:3333/mcp`);
}
