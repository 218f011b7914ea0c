import { ConfigError, readCommandLine, type Settings } from '../config.ts';
import { clearSnapshots, StoredHistory, StoredQuoteHistory } from '../history/history.ts';
import type { SnapshotStore, State } from '../state/port.ts';
import { namespaceOf } from '../tenant/shared-state.ts';
import { openState } from './common.ts';
import { defaultName } from './tenant-handle.ts';
import { readTenants } from './tenants.ts';

export const help = `Use: cpq-mcp history list [--tenant T]
     cpq-mcp history clear [--tenant T | --all]
"list" shows all histories in the state folder or in Redis; "clear" deletes those of the configured tenants, with
--all every one, and the collections that the folder keeps of them. T is a name that "list" shows. Settings can be given as flags.`;

/** The snapshots of one tenant. */
interface KeptHistory {
  /** That of the configured tenant, or the name in the state. */
  name: string;
  namespace: string;
  isConfigured: boolean;
  store: SnapshotStore;
}

/** Lists or deletes the snapshots of the pipeline. */
export async function run(argv: readonly string[]): Promise<void> {
  const own = { tenant: 'string', all: 'boolean' } as const;
  const { settings, flags, words } = readCommandLine(argv, process.env, own);
  const { tenant, all } = flags;
  const [verb = 'list', ...more] = words;
  const isForOne = verb === 'list' || tenant !== undefined;
  if (!['list', 'clear'].includes(verb) || more.length > 0 || (all && isForOne))
    throw new ConfigError(help);
  if (settings.sandbox)
    throw new ConfigError(
      'The embedded tenant generates its history; no snapshots of it are kept.',
    );
  const namespaces = namespacesOf(settings);
  const state = await openState(settings, { warn: () => {} });
  try {
    const others = (await state.snapshotTenants()).filter((name) => !namespaces.has(name));
    const kept = [...namespaces, ...others.map((it) => [it, undefined] as const)].map(
      ([namespace, name]): KeptHistory => ({
        name: name ?? namespace,
        namespace,
        isConfigured: name !== undefined,
        store: state.snapshots(namespace),
      }),
    );
    if (all) await state.collections?.forget?.(0);
    const chosen = kept.filter(({ name, isConfigured }) =>
      tenant === undefined ? verb === 'list' || all || isConfigured : name === tenant,
    );
    if (chosen.length === 0 && kept.length > 0) throw new ConfigError(unknownTenant(kept));
    if (chosen.length === 0) process.stdout.write('no history is kept\n');
    for (const { name, namespace, isConfigured, store } of chosen) {
      const text =
        verb === 'list'
          ? await describeKept(store, settings)
          : await clear(state, namespace, store);
      const which = isConfigured ? name : `${name} (${notConfigured})`;
      process.stdout.write(`${which}: ${text}\n`);
    }
  } finally {
    await state.close();
  }
}

const unknownTenant = (kept: readonly KeptHistory[]): string =>
  `There is no such tenant: name one with --tenant, or delete every history with --all. Kept: ${kept.map(({ name }) => name).join(', ')}`;

async function clear({ collections }: State, tenant: string, store: SnapshotStore) {
  await collections?.forget?.(0, tenant);
  return `deleted ${days(await clearSnapshots(store))}`;
}

const notConfigured = "of a caller's own key, or of a tenant that is not configured";

/** The names of the configured tenants by their names in the state. */
function namespacesOf(settings: Settings): Map<string, string> {
  const { tenantsFile, baseUrl } = settings;
  const tenants = tenantsFile
    ? readTenants(tenantsFile, settings)
    : [[defaultName, { baseUrl }] as const];
  return new Map(
    [...tenants].flatMap(([name, { baseUrl }]) =>
      baseUrl ? [[namespaceOf(baseUrl, name === defaultName ? undefined : name), name]] : [],
    ),
  );
}

async function describeKept(store: SnapshotStore, { historyDays }: Settings): Promise<string> {
  const ofDeals = rangeOf(await new StoredHistory(store, historyDays).days());
  const ofQuotes = rangeOf(await new StoredQuoteHistory(store, historyDays).days());
  if (ofQuotes === undefined) return ofDeals ?? 'no days are kept';
  return `${ofDeals ?? 'no days'}; of the quotes ${ofQuotes}`;
}

function rangeOf(kept: readonly string[]): string | undefined {
  const [first, last] = [kept[0], kept.at(-1)];
  return first === undefined ? undefined : `${days(kept.length)}, ${first} to ${last}`;
}

const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`);
