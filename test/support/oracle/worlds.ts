import { describe } from 'vitest';
import { anyHost, type Connection } from '../hosts.ts';
import { quickOrAll } from '../sampling.ts';
import { askService, type Sandbox, type SandboxTenant, startSandbox } from '../sandbox.ts';
import { shared } from '../shared.ts';
import { clockAt } from './clock.ts';
import { spoil } from './spoil.ts';
import type { Ask, Rows } from './sql.ts';

/** A tenant of the sandbox, its database and a server for it. */
export interface World {
  /** Today, for the sandbox and the server. */
  today: string;
  /** Whether it has awkward rows that the sandbox does not create. */
  spoilt: boolean;
  server(): Promise<Connection>;
  /** Starts another server, which has read nothing yet. */
  serverAnew(): Promise<Connection>;
  /** Rows of the database; the first `?` is the tenant, the second the day, then the given values. */
  ask: Ask;
  /** Runs SQL that changes the tenant; its first `?` is the tenant. */
  change(sql: string, ...more: (string | number)[]): void;
  /** Writes by the service's API. */
  put(path: string, body: Record<string, unknown>): Promise<unknown>;
}

interface Setting {
  seed: number;
  today: string;
  scale: number;
  /** Adds awkward rows that the sandbox does not create. */
  spoilt?: boolean;
  /** The first tenant only. */
  first?: boolean;
}

const settings: readonly Setting[] = [
  { seed: 1, today: '2026-06-15', scale: 0.2 },
  { seed: 2, today: '2028-02-29', scale: 0.15 },
  { seed: 3, today: '2025-01-01', scale: 0.25, spoilt: true },
];

/** Both tenants of three seeds, with the same tests; the quick suite leaves out the second seed. */
export function describeWorlds(body: (world: () => Promise<World>) => void): void {
  const tested = quickOrAll(
    settings.filter(({ seed }) => seed !== 2),
    settings,
  );
  for (const setting of tested) describeWorld(setting, body);
}

/** Both tenants of one seed. */
export function describeWorld(setting: Setting, body: (world: () => Promise<World>) => void): void {
  const sandbox = shared(() => started(setting));
  for (const at of setting.first ? [0] : [0, 1]) {
    const name = at === 0 ? 'USD, probability 0–1' : 'EUR, probability 0–100';
    describe(`${name}, seed ${setting.seed}, on ${setting.today}`, () =>
      body(shared(async () => worldOf(await sandbox(), at, setting))));
  }
}

async function started({ seed, today, scale, spoilt }: Setting): Promise<Sandbox> {
  const sandbox = await startSandbox({ seed, scale, now: new Date(`${today}T09:00:00Z`) });
  if (spoilt) for (const { name } of sandbox.tenants) spoil(sandbox.database, name, today);
  return sandbox;
}

function worldOf(sandbox: Sandbox, at: number, { today, spoilt = false }: Setting): World {
  const tenant = sandbox.tenants[at];
  if (!tenant) throw new Error(`There is no tenant ${at}`);
  const { database } = sandbox;
  const serverAnew = () => anyHost.start(addressOf(tenant), { env: clockAt(today) });
  const writer = { baseUrl: tenant.baseUrl, key: tenant.keys.all };
  return {
    today,
    spoilt,
    server: shared(serverAnew),
    serverAnew,
    put: (path, body) => askService(writer, path, { method: 'PUT', body: JSON.stringify(body) }),
    ask: (sql, ...more) => database.prepare(sql).all(tenant.name, today, ...more) as Rows,
    change: (sql, ...more) => void database.prepare(sql).run(tenant.name, ...more),
  };
}

const addressOf = ({ baseUrl, keys }: SandboxTenant) => ({ baseUrl, key: keys.read });
