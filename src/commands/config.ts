import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, readSettings } from '../config.ts';
import { isOneOf, messageOf } from '../values.ts';
import { commandForms } from './config/add-commands.ts';
import { type ConfigHost, headersFor, hosts } from './config/hosts.ts';
import {
  type AuthName,
  authNames,
  baseUrlPlaceholder,
  type Entry,
  inputId,
  type Launch,
  type LaunchOptions,
  secrets,
  serverName,
  toLaunch,
  variables,
} from './config/launch.ts';

const nameWidth = Math.max(...Object.keys(hosts).map(({ length }) => length));

export const usage = `Use: cpq-mcp config HOST [--write [--file PATH]] [--sandbox] [--base-url URL] [--grants LIST]
                           [--api-key-file PATH] [--windows]
     cpq-mcp config HOST --http URL [--auth ${authNames.join('|')}] [--write [--file PATH]]
Hosts:
${Object.entries(hosts)
  .map(([name, { title }]) => `  ${name.padEnd(nameWidth)}  ${title}`)
  .join('\n')}`;

/** The usage with what each flag means. */
export const help = `${usage}
Flags:
  --write              install the entry instead of printing it; keeps the rest of the file, and a copy (.bak);
                       not for hosts with a command of their own, which is printed, nor for Goose
  --file PATH          edit this file instead of the user's, such as a project's
  --base-url URL       the tenant's API address; default: from ${variables.baseUrl}
  --grants LIST        granted permissions; default: from ${variables.grants}
  --api-key-file PATH  read the key from this file; default: from ${variables.keyFile}
  --sandbox            use the embedded tenant, without address and key
  --http URL           connect to a team's server instead of starting one
  --auth METHOD        how that server authenticates; default: token, on this machine none
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
  if (!entry) editedByHost(request, launch.remote?.url ?? '');
  else if (request.write) await write(request, launch, entry);
  else await print(request, launch, entry);
}

function parseRequest(argv: readonly string[]): ConfigRequest {
  const text = { type: 'string' } as const;
  const yes = { type: 'boolean' } as const;
  const options = {
    ...{ http: text, auth: text, file: text, 'base-url': text, grants: text, 'api-key-file': text },
    ...{ write: yes, sandbox: yes, windows: yes },
  };
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    const host = hostNamed(positionals);
    const { env, platform } = process;
    const keyFile = values['api-key-file'] ?? env[variables.keyFile];
    return {
      host,
      file: values.file ?? host.file({ environment: env, platform, home: homedir() }),
      write: values.write ?? false,
      http: values.http,
      auth: authOf(values),
      sandbox: values.sandbox ?? false,
      windows: values.windows ?? platform === 'win32',
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

/** @returns undefined if the host takes this only in its settings dialog */
export function entryFor(
  { host, file }: Pick<ConfigRequest, 'host' | 'file'>,
  launch: Launch,
): Entry | undefined {
  const { remote } = launch;
  if (remote) return host.http(remote, headersFor(host, remote, file), launch);
  return host.stdio(launch, host.secret(secrets.key, file));
}

async function print({ host, file }: ConfigRequest, launch: Launch, entry: Entry): Promise<void> {
  const { entryText } = await import('./config/formats.ts');
  const again = isWritable(host) ? ', or run this command again with --write' : '';
  process.stderr.write(`${host.title}: add this to ${file}${again}\n\n`);
  process.stdout.write(entryText(host, entry, host.inputs?.(launch)));
  const command = host.addCommand?.(launch, entry) ?? [];
  const ways = (command.length > 0 ? commandForms(command, launch) : []).map(
    ([shell, line]): [string, string] => [`Or run this command${shell}`, line],
  );
  const other = host.alternative?.(launch, entry);
  const also = [...ways, ...(other ? [other] : [])].map(([how, it]) => `\n${how}:\n  ${it}\n`);
  process.stderr.write(`${also.join('')}\n${nextSteps(host, entry)}\n`);
}

/** Whether its file is edited: not where the host's own command does that. */
const isWritable = ({ format, addCommand }: ConfigHost): boolean =>
  format === 'json' && addCommand === undefined;

async function write(request: ConfigRequest, launch: Launch, entry: Entry): Promise<void> {
  const { host, file } = request;
  if (!isWritable(host)) {
    const command = host.addCommand?.(launch, entry);
    const [[, line] = ['', '']] = command ? commandForms(command, launch) : [];
    const how = line === '' ? 'add the entry that is printed without it' : `run ${line}`;
    throw new ConfigError(`--write does not edit the file of ${host.title}: ${how}`);
  }
  const { writeEntry } = await import('./config/write.ts');
  const written = await writeEntry(file, host.root, entry).catch((error: unknown) => {
    throw new Error(
      `${file}: ${messageOf(error)}. It was not changed: correct it first, or add the entry by hand that the same command prints without --write.`,
    );
  });
  const { backup } = written;
  const kept = backup === undefined ? '' : `\nThe previous version is in ${backup}`;
  const done = written.changed
    ? `Added ${serverName} to ${file}.${kept}`
    : `${file} is already up to date.`;
  process.stdout.write(`${done}\n${nextSteps(host, written.entry)}\n`);
}

/** What remains to be done by hand, one step a line. */
export function nextSteps({ title, restart }: ConfigHost, entry: Entry): string {
  const text = JSON.stringify(entry);
  // Names of variables are the ends of keys, too.
  const values = text.replaceAll('":', '');
  const steps = Object.values(secrets).flatMap((secret) => {
    const { variable, placeholder, title: what } = secret;
    if (text.includes(placeholder)) return [`Replace ${placeholder} with your ${what}.`];
    if (text.includes(`{input:${inputId(secret)}}`))
      return [`${title} asks for the ${what} at the first start and stores it securely.`];
    return values.includes(`${variable}"`) || values.includes(`${variable}}"`)
      ? [`The ${what} is not in the file: start ${title} with ${variable} in its environment.`]
      : [];
  });
  if (text.includes(baseUrlPlaceholder))
    steps.unshift(`Replace ${baseUrlPlaceholder} with the tenant's API address.`);
  return [...steps, restart].join('\n');
}

/** Some hosts accept a URL only in their settings dialog. */
function editedByHost({ host, write: toWrite }: ConfigRequest, url: string): void {
  const how = `${host.title} takes an address under Settings → Connectors → Add custom connector: ${url}`;
  if (toWrite) throw new ConfigError(`${how}. Its file cannot contain one.`);
  process.stderr.write(`${how}\nIt must be reachable from the internet over https.\n`);
}
