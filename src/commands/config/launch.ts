import { realpathSync } from 'node:fs';
import { environmentName } from '../../config/settings.ts';
import { ConfigError } from '../../config.ts';
import { isLoopback } from '../../setting-values.ts';

/** A secret that an entry needs. It is never written: each host has its own way to keep it. */
export interface Secret {
  /** Environment variable of hosts that read secrets from one. */
  variable: string;
  /** What the user replaces in hosts that keep secrets in the file. */
  placeholder: string;
  title: string;
  /** The variable of a program, or the header, that contains it after the prefix. */
  field: string;
  prefix: string;
}

/** A server that the host starts, or a running one that it connects to. */
export type Launch = ({ command: string; args: string[] } | { url: string }) & {
  /** Variables or headers that are not secret. */
  values: Record<string, string>;
  /** Absent if none is needed, it is read from a file, or callers sign in at an identity provider. */
  secret?: Secret | undefined;
};

export const authNames = ['none', 'token', 'oauth', 'key'] as const;

export interface LaunchOptions {
  http?: string | undefined;
  /** Default: none for this machine, token for others. */
  auth?: (typeof authNames)[number] | undefined;
  sandbox?: boolean;
  baseUrl?: string | undefined;
  grants?: string | undefined;
  apiKeyFile?: string | undefined;
  /** Other variables of the entry. */
  kept?: Record<string, string>;
}

export const serverName = 'cpq-mcp';
export const variables = {
  baseUrl: environmentName('baseUrl'),
  key: environmentName('apiKey'),
  keyFile: environmentName('apiKeyFile'),
  grants: environmentName('grants'),
} as const;
export const baseUrlPlaceholder = 'https://YOUR-TENANT';
export const secrets = {
  key: {
    variable: variables.key,
    placeholder: 'YOUR_API_KEY',
    title: 'API key (Settings → Integrations → API Key)',
    field: variables.key,
    prefix: '',
  },
  token: {
    variable: 'CPQ_ACCESS_TOKEN',
    placeholder: 'YOUR_ACCESS_TOKEN',
    title: 'access token (cpq_…)',
    field: 'Authorization',
    prefix: 'Bearer ',
  },
} as const satisfies Record<string, Secret>;

/** How to reach the server, independent of the host's format. @throws ConfigError for an invalid address */
export function toLaunch(choice: LaunchOptions, script: string): Launch {
  const { http, sandbox, baseUrl, grants, apiKeyFile, kept } = choice;
  if (http !== undefined) return toRemote(http, choice);
  const [command, ...args] = commandLine(script);
  if (sandbox) return { command, args: [...args, '--sandbox'], values: {} };
  const values = {
    ...kept,
    [variables.baseUrl]: baseUrl ?? baseUrlPlaceholder,
    ...(apiKeyFile === undefined ? {} : { [variables.keyFile]: apiKeyFile }),
    ...(grants === undefined ? {} : { [variables.grants]: grants }),
  };
  return { command, args, values, secret: apiKeyFile === undefined ? secrets.key : undefined };
}

function toRemote(http: string, { auth, baseUrl }: LaunchOptions): Launch {
  const url = URL.canParse(http) ? new URL(http) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`--http: "${http}" is not an address such as http://127.0.0.1:3333/mcp`);
  const method = auth ?? (isLoopback(url.hostname) ? 'none' : 'token');
  const isOwnKey = method === 'key' && baseUrl !== undefined;
  const ownKey = method === 'key' ? { ...secrets.key, field: 'api-key' } : undefined;
  return {
    url: url.pathname === '/' ? `${url.origin}/mcp` : url.href,
    secret: method === 'token' ? secrets.token : ownKey,
    values: isOwnKey ? { 'cpq-base-url': baseUrl } : {},
  };
}

/** This copy by its path: the name alone starts whatever the registry has under it. */
function commandLine(script: string): [string, ...string[]] {
  const path = realpathSync(script);
  if (!/[/\\]_npx[/\\]/.test(path)) return [process.execPath, path];
  throw new ConfigError(
    'This copy is in the cache of npx, which may be cleared at any time. Install what you gave npx with npm install --global, and run this command again as cpq-mcp.',
  );
}
