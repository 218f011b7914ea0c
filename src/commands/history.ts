import { ConfigError, readSettings, requireTenant, type Settings } from '../config.ts';
import { clearSnapshots, StoredHistory, StoredQuoteHistory } from '../history/history.ts';
import type { SnapshotStore, State } from '../state/port.ts';
import { namespaceOf } from '../tenant/shared-state.ts';
import { openState } from './common.ts';
import { defaultName } from './tenant-handle.ts';
import { readTenants } from './tenants.ts';

export const usage = `Use: cpq-mcp history list [--tenant T]
     cpq-mcp history clear [--tenant T | --all]
"list" shows all histories in the state folder or in Redis; "clear" deletes those of the configured tenants, with
--all every one. T is a name that "list" shows. Settings can be given as flags.`;

/** Lists or deletes the snapshots of the pipeline. */
export async function history(argv: readonly string[]): Promise<void> {
  const [verb = 'list', ...rest] = argv[0]?.startsWith('-') ? ['list', ...argv] : argv;
  if (verb !== 'list' && verb !== 'clear') throw new ConfigError(usage);
  const { tenant, flags } = takeTenant(rest);
  const all = flags.includes('--all');
  if (all && (verb === 'list' || tenant !== undefined)) throw new ConfigError(usage);
  const settings = readSettings(
    flags.filter((flag) => flag !== '--all'),
    process.env,
  );
  await withHistories(settings, async (histories) => {
    if (tenant !== undefined) return run(verb, named(histories, tenant));
    if (verb === 'list' || all) return run(verb, histories);
    const configured = configuredOnly(histories);
    if (configured.size === 0) throw new ConfigError(nothingConfigured);
    return run(verb, configured);
  });
}

async function run(verb: 'list' | 'clear', histories: Histories): Promise<void> {
  if (histories.size === 0) process.stdout.write('no history is kept\n');
  for (const [name, stored] of histories) {
    const text =
      verb === 'list'
        ? ((await describeKept(stored)) ?? 'no days are kept')
        : `deleted ${days(await clearSnapshots(stored.store))}`;
    const which = stored.isConfigured ? name : `${name} (${notConfigured})`;
    process.stdout.write(`${which}: ${text}\n`);
  }
}

const nothingConfigured =
  'No tenant is configured: name a history of "cpq-mcp history list" with --tenant, or delete every one with --all';
const notConfigured = "of a caller's own key, or of a tenant that is not configured";

function takeTenant(argv: readonly string[]): { tenant: string | undefined; flags: string[] } {
  const flags = [...argv];
  const at = flags.findIndex((word) => word === '--tenant' || word.startsWith('--tenant='));
  if (at < 0) return { tenant: undefined, flags };
  const [word = ''] = flags.splice(at, 1);
  const tenant = word.includes('=') ? word.slice('--tenant='.length) : flags.splice(at, 1)[0];
  if (!tenant) throw new ConfigError(usage);
  return { tenant, flags };
}

/** What is kept of one tenant. */
interface TenantHistory {
  /** False for a history in the state that belongs to no tenant of the settings. */
  isConfigured: boolean;
  store: SnapshotStore;
  opportunities: StoredHistory;
  quotes: StoredQuoteHistory;
}

/** By name, or for one that is not configured by the name in the state. */
type Histories = ReadonlyMap<string, TenantHistory>;

const configuredOnly = (histories: Histories): Histories =>
  new Map([...histories].filter(([, { isConfigured }]) => isConfigured));

/** @throws ConfigError for an unknown name */
function named(histories: Histories, tenant: string): Histories {
  const found = histories.get(tenant);
  if (found) return new Map([[tenant, found]]);
  const names = [...histories.keys()].join(', ') || 'there is none';
  throw new ConfigError(`--tenant must be the name of a history: ${names}`);
}

/**
 * Opens every history of the state: first those of the configured tenants.
 * @throws ConfigError for the embedded tenant
 */
async function withHistories<T>(
  settings: Settings,
  work: (histories: Histories) => Promise<T>,
): Promise<T> {
  if (settings.sandbox)
    throw new ConfigError(
      'The embedded tenant generates its history; no snapshots of it are kept.',
    );
  const namespaces = namespacesOf(settings);
  const state = await openState(settings, { warn: () => {} });
  try {
    return await work(await openAll(state, namespaces, settings));
  } finally {
    await state.close();
  }
}

function namespacesOf(settings: Settings): Map<string, string> {
  const { tenantsFile, baseUrl } = settings;
  if (tenantsFile === undefined)
    return new Map(baseUrl && [[defaultName, namespaceOf(baseUrl, undefined)]]);
  const tenants = [...readTenants(tenantsFile, settings)];
  return new Map(
    tenants.map(([name, tenant]) => {
      const { baseUrl } = requireTenant(tenant);
      return [name, namespaceOf(baseUrl, name === defaultName ? undefined : name)];
    }),
  );
}

async function openAll(
  state: State,
  namespaces: ReadonlyMap<string, string>,
  { historyDays }: Settings,
): Promise<Histories> {
  const configured = new Set(namespaces.values());
  const others = (await state.snapshotTenants()).filter((name) => !configured.has(name));
  const open = (namespace: string): TenantHistory => {
    const store = state.snapshots(namespace);
    const opportunities = new StoredHistory(store, historyDays);
    const quotes = new StoredQuoteHistory(store, historyDays);
    return { isConfigured: configured.has(namespace), store, opportunities, quotes };
  };
  return new Map([
    ...[...namespaces].map(([name, namespace]) => [name, open(namespace)] as const),
    ...others.map((namespace) => [namespace, open(namespace)] as const),
  ]);
}

async function describeKept({ opportunities, quotes }: TenantHistory): Promise<string | undefined> {
  const [ofDeals, ofQuotes] = [rangeOf(await opportunities.days()), rangeOf(await quotes.days())];
  return ofQuotes === undefined ? ofDeals : `${ofDeals ?? 'no days'}; of the quotes ${ofQuotes}`;
}

function rangeOf(kept: readonly string[]): string | undefined {
  const [first, last] = [kept[0], kept.at(-1)];
  return first === undefined ? undefined : `${days(kept.length)}, ${first} to ${last}`;
}

const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`);
