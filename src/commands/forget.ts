import type { Settings } from '../config/settings.ts';
import { ConfigError, readCommandLine } from '../config.ts';
import { type StoredPart, storedKinds } from '../state/port.ts';
import { namespaceOf } from '../tenant/shared-state.ts';
import { isOneOf } from '../values.ts';
import type { CommandContext } from './start.ts';
import { defaultName, openState } from './tenant-handle.ts';
import { tenantsOf } from './tenants.ts';

export const help = `Use: cpq-mcp forget [TENANT | --all] [--only ${storedKinds.join('|')}] [--yes]
Lists what is stored about tenants in the state folder or in Redis; with --yes, deletes what it lists of TENANT, a name
that the list shows, or of --all. Stop the server, or remove the tenant from it, before: it stores what it reads again.
The settings are the server's, from the environment or as flags.`;

const ownFlags = { all: 'boolean', yes: 'boolean', only: 'string' } as const;

export async function run(argv: readonly string[], context: CommandContext): Promise<void> {
  const { settings, flags, words } = readCommandLine(argv, context.env, ownFlags);
  const { all, yes, only } = flags;
  const [wanted, ...more] = words;
  const isChosen = wanted !== undefined || all !== undefined;
  const isUnknown = only !== undefined && !isOneOf(storedKinds, only);
  if (more.length > 0 || (wanted && all) || (yes && !isChosen) || isUnknown)
    throw new ConfigError(help);
  const names = namesOf(settings);
  const state = await openState(settings, { warn: () => {} });
  try {
    const stored = (await state.stored()).filter(({ kind }) => (only ?? kind) === kind);
    const nameOf = ({ tenant }: StoredPart) => names.get(tenant) ?? tenant;
    const parts = stored.filter(
      (part) => wanted === undefined || [nameOf(part), part.tenant].includes(wanted),
    );
    if (parts.length === 0 && wanted !== undefined) {
      const known = [...new Set(stored.map(nameOf))].join(', ') || 'none';
      const message = `No ${only ?? 'data'} is stored about ${wanted}. Tenants with any: ${known}`;
      throw new ConfigError(message);
    }
    if (yes) await state.remove(parts);
    const rows = parts.map((part) => `${nameOf(part)}  ${part.kind}  ${part.place}\n`);
    context.stdout.write(rows.join(''));
    const how = isChosen ? 'add --yes' : 'name a tenant, and add --yes';
    const done = yes ? 'Deleted.' : `Nothing was deleted: ${how}.`;
    context.stderr.write(`${parts.length === 0 ? 'Nothing is stored.' : done}\n`);
  } finally {
    await state.close();
  }
}

/** The names of the configured tenants by their names in the state. */
const namesOf = (settings: Settings): ReadonlyMap<string, string> =>
  new Map(
    [...tenantsOf(settings)].flatMap(([name, { baseUrl }]) =>
      baseUrl ? [[namespaceOf(baseUrl, name === defaultName ? undefined : name), name]] : [],
    ),
  );
