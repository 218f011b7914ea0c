import { ConfigError, readSettings, requireTenant, type Settings } from '../config.ts';
import type { SnapshotStore, State } from '../state/port.ts';
import { clearSnapshots, StoredHistory, StoredQuoteHistory } from '../tenant/history/history.ts';
import { namespaceOf } from '../tenant/tenant.ts';
import { openState } from './common.ts';
import { defaultName } from './tenant-handle.ts';
import { readTenants } from './tenants.ts';

export const usage = `Use: cpq-mcp history list [--tenant T]
     cpq-mcp history clear [--tenant T]
The tenants are those of the settings, which can be given as flags; default: all of them.`;

/** Lists or deletes the snapshots of the pipeline. */
export async function history(argv: readonly string[]): Promise<void> {
  const [verb = 'list', ...rest] = argv[0]?.startsWith('-') ? ['list', ...argv] : argv;
  if (verb !== 'list' && verb !== 'clear') throw new ConfigError(usage);
  const { tenant, flags } = takeTenant(rest);
  const settings = readSettings(flags, process.env);
  await withHistories(settings, async (histories) => {
    for (const [name, stored] of chosen(histories, tenant)) {
      const text =
        verb === 'list'
          ? ((await describeKept(stored)) ?? 'no days are kept')
          : `deleted ${days(await clearSnapshots(stored.store))}`;
      process.stdout.write(`${name}: ${text}\n`);
    }
  });
}

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
  store: SnapshotStore;
  opportunities: StoredHistory;
  quotes: StoredQuoteHistory;
}

type Histories = ReadonlyMap<string, TenantHistory>;

function chosen(histories: Histories, tenant: string | undefined): Histories {
  if (tenant === undefined) return histories;
  const found = histories.get(tenant);
  if (found) return new Map([[tenant, found]]);
  throw new ConfigError(`--tenant must be one of ${[...histories.keys()].join(', ')}`);
}

/**
 * Opens the histories of the configured tenants, by name.
 * @throws ConfigError if no tenant is configured
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
    return await work(openAll(state, namespaces, settings));
  } finally {
    await state.close();
  }
}

function namespacesOf(settings: Settings): Map<string, string> {
  const { tenantsFile } = settings;
  if (tenantsFile === undefined)
    return new Map([[defaultName, namespaceOf(requireTenant(settings).baseUrl, undefined)]]);
  const tenants = [...readTenants(tenantsFile, settings)];
  return new Map(
    tenants.map(([name, tenant]) => {
      const { baseUrl } = requireTenant(tenant);
      return [name, namespaceOf(baseUrl, name === defaultName ? undefined : name)];
    }),
  );
}

const openAll = (
  state: State,
  namespaces: ReadonlyMap<string, string>,
  { historyDays }: Settings,
): Histories =>
  new Map(
    [...namespaces].map(([name, namespace]) => {
      const store = state.snapshots(namespace);
      const opportunities = new StoredHistory(store, historyDays);
      return [name, { store, opportunities, quotes: new StoredQuoteHistory(store, historyDays) }];
    }),
  );

/** How many days are kept for each tenant that has any. */
export const describeHistories = (settings: Settings): Promise<string> =>
  withHistories(settings, async (histories) => {
    const texts = await Promise.all(
      [...histories].map(async ([name, stored]) => {
        const kept = await describeKept(stored);
        return histories.size === 1 || kept === undefined ? kept : `${name} ${kept}`;
      }),
    );
    return texts.filter((text) => text !== undefined).join('; ');
  });

async function describeKept({ opportunities, quotes }: TenantHistory): Promise<string | undefined> {
  const [ofDeals, ofQuotes] = [rangeOf(await opportunities.days()), rangeOf(await quotes.days())];
  return ofQuotes === undefined ? ofDeals : `${ofDeals ?? 'no days'}; of the quotes ${ofQuotes}`;
}

function rangeOf(kept: readonly string[]): string | undefined {
  const [first, last] = [kept[0], kept.at(-1)];
  return first === undefined ? undefined : `${days(kept.length)}, ${first} to ${last}`;
}

const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`);
