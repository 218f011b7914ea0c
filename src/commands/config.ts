import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, readSettings } from '../config.ts';
import { isOneOf, messageOf } from '../values.ts';
import { type ConfigHost, headersFor, hosts } from './config/hosts.ts';
import {
  type AuthName,
  authNames,
  type Entry,
  type Launch,
  type LaunchOptions,
  secrets,
  serverName,
  toLaunch,
  variables,
} from './config/launch.ts';
import type { FileFormat } from './config/merge.ts';
import { nextSteps } from './config/next-steps.ts';

const nameWidth = Math.max(...Object.keys(hosts).map(({ length }) => length));

export const usage = `Use: cpq-mcp config HOST [--write [--file PATH]] [--sandbox] [--base-url URL] [--grants LIST]
                           [--api-key-file PATH] [--windows] [--local]
     cpq-mcp config HOST --http URL [--auth ${authNames.join('|')}] [--write [--file PATH]]
Hosts:
${Object.entries(hosts)
  .map(([name, { title }]) => `  ${name.padEnd(nameWidth)}  ${title}`)
  .join('\n')}`;

/** The usage with what each flag means. */
export const help = `${usage}
Flags:
  --write              install the entry instead of printing it; keeps the rest of the file, and a copy (.bak);
                       not for Codex, which has a command for that
  --file PATH          edit this file instead of the user's, such as a project's .mcp.json
  --base-url URL       the tenant's API address; default: from ${variables.baseUrl}
  --grants LIST        granted permissions; default: from ${variables.grants}
  --api-key-file PATH  read the key from this file; default: from ${variables.keyFile}
  --sandbox            use the embedded tenant, without address and key
  --http URL           connect to a team's server instead of starting one
  --auth METHOD        how that server authenticates; default: token, on this machine none
  --local              start this copy by its path, also if npx fetched it
  --windows            print the Windows form on another system`;

interface ConfigRequest extends LaunchOptions {
  host: ConfigHost;
  write: boolean;
  file: string;
}

/**
 * Prints the configuration of a host: the entry to stdout, so that it can be piped, everything else to
 * stderr. With --write the host's file is changed instead.
 */
export async function config(argv: readonly string[]): Promise<void> {
  const request = parseRequest(argv);
  // Validates as the server does at its start.
  readSettings([], {
    [variables.baseUrl]: request.baseUrl,
    [variables.grants]: request.grants,
  });
  const launch = toLaunch(request);
  const entry = entryFor(request, launch);
  if (!entry) return editedByHost(request, launch.remote?.url ?? '');
  if (request.write) await write(request, launch, entry);
  else await print(request, launch, entry);
}

function parseRequest(argv: readonly string[]): ConfigRequest {
  const text = { type: 'string' } as const;
  const yes = { type: 'boolean' } as const;
  const options = {
    ...{ http: text, auth: text, file: text, 'base-url': text, grants: text, 'api-key-file': text },
    ...{ write: yes, sandbox: yes, windows: yes, local: yes },
  };
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    const host = hostNamed(positionals);
    const { environment: env, ...where } = thisMachine();
    const keyFile = values['api-key-file'] ?? env[variables.keyFile];
    return {
      host,
      file: values.file ?? host.file({ environment: env, ...where }),
      write: values.write ?? false,
      http: values.http,
      auth: authOf(values),
      sandbox: values.sandbox ?? false,
      windows: values.windows ?? where.platform === 'win32',
      local: values.local ?? false,
      baseUrl: values['base-url'] ?? env[variables.baseUrl],
      grants: values.grants ?? env[variables.grants],
      apiKeyFile: keyFile === undefined ? undefined : resolve(keyFile),
    };
  } catch (error) {
    throw new ConfigError(`${messageOf(error).split('. ')[0]}.\n${usage}`);
  }
}

/** @throws Error for another method, or one for a server that the host starts itself */
function authOf({ auth, http }: { auth?: string; http?: string }): AuthName | undefined {
  if (auth === undefined) return undefined;
  if (http === undefined) throw new Error('--auth is for a running server: name it with --http');
  if (isOneOf(authNames, auth)) return auth;
  throw new Error(`--auth: "${auth}" is none of ${authNames.join(', ')}`);
}

/** @throws Error; the usage text that follows it lists the hosts */
function hostNamed([name, ...more]: readonly string[]): ConfigHost {
  if (name === undefined) throw new Error('Name a host');
  if (more.length > 0) throw new Error(`Name one host, not ${[name, ...more].join(' and ')}`);
  const host = Object.hasOwn(hosts, name) ? hosts[name] : undefined;
  if (!host) throw new Error(`There is no host "${name}"`);
  return host;
}

const thisMachine = () => ({
  platform: process.platform,
  home: homedir(),
  environment: process.env,
});

/** @returns undefined if the host takes this only in its settings dialog */
export function entryFor(
  { host, file }: Pick<ConfigRequest, 'host' | 'file'>,
  launch: Launch,
): Entry | undefined {
  const { remote } = launch;
  if (remote) return host.http(remote, headersFor(host, remote, file), launch);
  return host.stdio(launch, host.secret(secrets.key, file));
}

async function print(request: ConfigRequest, launch: Launch, entry: Entry): Promise<void> {
  const { host, file } = request;
  process.stderr.write(
    `${host.title}: add this to ${file}, or run this command again with --write\n\n`,
  );
  process.stdout.write(await entrySnippet(host, launch, entry));
  const also = host.alternatives(launch, entry).map(([how, what]) => `\n${how}:\n  ${what}\n`);
  process.stderr.write(`${also.join('')}\n${nextSteps(host, entry)}\n`);
}

/** An entry in the format of the host's file, with the objects around it. */
export async function entrySnippet(
  host: ConfigHost,
  launch: Launch,
  entry: Entry,
): Promise<string> {
  const format = await formats[host.format]();
  return format.print(host.root, serverName, entry, host.inputs?.(launch) ?? []);
}

/** Loaded on demand: some bring a parser. */
const formats: Readonly<Record<ConfigHost['format'], () => Promise<FileFormat>>> = {
  json: () => import('./config/edit-json.ts'),
  toml: () => import('./config/toml.ts'),
  yaml: () => import('./config/edit-yaml.ts'),
};

async function write(request: ConfigRequest, launch: Launch, entry: Entry): Promise<void> {
  const { host, file } = request;
  const [{ changeFile }, { NotEdited }, format] = await Promise.all([
    import('./config/file.ts'),
    import('./config/merge.ts'),
    formats[host.format](),
  ]);
  const { edit: editFile } = format;
  if (!editFile) throw addedByHost(host, launch, entry);
  const edit = (before: string) =>
    editFile(before, host.root, serverName, entry, host.inputs?.(launch) ?? []);
  try {
    const { path, entry: merged, changed, backup } = await changeFile(file, edit);
    const kept = backup === undefined ? '' : `\nThe previous version is in ${backup}`;
    const done = changed
      ? `Added ${serverName} to ${path}.${kept}`
      : `${path} is already up to date.`;
    process.stdout.write(`${done}\n${nextSteps(host, merged)}\n`);
  } catch (error) {
    if (!(error instanceof NotEdited)) throw error;
    throw new Error(
      `${file} ${error.message}. It was not changed: correct it first, or add the entry by hand that the same command prints without --write.`,
    );
  }
}

/** Where the host's own command adds the entry, its file is not edited. */
function addedByHost(host: ConfigHost, launch: Launch, entry: Entry): ConfigError {
  const [[, command] = []] = host.alternatives(launch, entry);
  const how = command === undefined ? 'add the entry that is printed without it' : `run ${command}`;
  return new ConfigError(`--write does not edit the file of ${host.title}: ${how}`);
}

/** Some hosts accept a URL only in their settings dialog. */
function editedByHost({ host, write: toWrite }: ConfigRequest, url: string): void {
  const how = `${host.title} takes an address under Settings → Connectors → Add custom connector: ${url}`;
  if (toWrite) throw new ConfigError(`${how}. Its file cannot contain one.`);
  process.stderr.write(`${how}\nIt must be reachable from the internet over https.\n`);
}
