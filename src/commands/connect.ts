import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readCommandLine, readSettings, requireTenant } from '../config.ts';
import { replaceFile } from '../state/files/files.ts';
import { shortHash } from '../state/short-hash.ts';
import { hostNamed, inApplicationData } from './config/hosts.ts';
import { variables } from './config/launch.ts';
import { keptVariables } from './config/write.ts';
import { fileOf, install } from './config.ts';
import { table } from './doctor/report.ts';
import { examine } from './doctor.ts';
import type { CommandContext } from './start.ts';
import { openTerminal } from './terminal.ts';

export const help = `Use: cpq-mcp connect HOST [--base-url URL] [--grants LIST] [--file PATH]
Asks for the API address and the key, checks both as "doctor" does, keeps the key in a file that only you can read, and
adds the server to the assistant. The key is not shown; it can also be piped in, after the address.
Run it again to replace address and key: other variables of the entry are kept. The hosts: cpq-mcp config --help`;

const ownFlags = { file: 'string', 'base-url': 'string', grants: 'string' } as const;

export async function run(argv: readonly string[], context: CommandContext): Promise<void> {
  const { env, stderr } = context;
  const { flags, words } = readCommandLine(argv, {}, ownFlags, []);
  const host = hostNamed(words, help);
  const terminal = openTerminal(context);
  const address = flags['base-url'] ?? (await terminal.ask('API address (before /public-api): '));
  const baseUrl = address.includes('://') ? address : `https://${address}`;
  const given = { [variables.baseUrl]: baseUrl };
  readSettings([], given);
  const key = await terminal.ask('API key (Settings → Integrations → API Key): ', 'hidden');
  terminal.close();
  stderr.write('Checking both …\n');
  const { file = fileOf(host, context) } = flags;
  const kept = await keptVariables(file, host.root);
  let grants = flags.grants ?? (kept[variables.grants] || env[variables.grants] || undefined);
  const read = () =>
    readSettings([], { ...kept, ...given, [variables.key]: key, [variables.grants]: grants });
  const tenant = requireTenant(read());
  let report = await examine(read(), env);
  if (!report.ok && grants === undefined && report.grants !== undefined) {
    grants = report.grants;
    report = await examine(read(), env);
  }
  if (!report.ok) throw new Error(`Nothing was stored.\n${table(report)}`);
  const apiKeyFile = keyPath(tenant.baseUrl, context);
  await mkdir(dirname(apiKeyFile), { recursive: true, mode: 0o700 });
  await replaceFile(apiKeyFile, `${tenant.key}\n`);
  stderr.write(
    `Address and key work${grants === undefined ? '' : `, for ${grants}`}. The key is in ${apiKeyFile}, which only you can read; it is read when the server starts.\n`,
  );
  const names = Object.keys(kept).filter((name) => name !== variables.grants || !flags.grants);
  if (names.length > 0) stderr.write(`Kept from the previous entry: ${names.join(', ')}.\n`);
  await install({ host, file, baseUrl, grants, apiKeyFile, kept }, context);
}

/** One file for each address: tenants may differ in the path alone, and in characters that no file name can have. */
function keyPath({ host, pathname }: URL, { env, home }: CommandContext): string {
  const { platform } = process;
  const address = `${host}${pathname}`.replace(/\/$/, '');
  const inName = address.replaceAll(/[^\w.-]/g, '_');
  const name = inName === address ? address : `${inName}-${shortHash(address)}`;
  return inApplicationData(`cpq-mcp/${name}.key`)({ env, home, platform });
}
