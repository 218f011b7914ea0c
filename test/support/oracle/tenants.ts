import { describe } from 'vitest';
import { type Serving, serving } from '../hosts.ts';
import { quickOrAll } from '../sampling.ts';
import { type Sandbox, type SandboxTenant, startSandbox } from '../sandbox.ts';
import { shared, useDay } from '../shared.ts';
import { addEdgeCases } from './edge-cases.ts';
import type { Ask, Rows } from './sql.ts';

/** A tenant of the sandbox, its database, and calls of a server for it. */
export interface TenantFixture extends Pick<Serving, 'call' | 'refused'> {
  /** Today, for the sandbox and the server. */
  today: string;
  /** Rows of the database; the first `?` is the tenant, the second the day, then the given values. */
  ask: Ask;
}

interface Setting {
  seed: number;
  today: string;
  scale: number;
  /** Adds edge cases that the sandbox does not create. */
  withEdgeCases?: boolean;
  /** Which of its tenants; default: both. */
  tenants?: readonly number[];
}

const settings: readonly [Setting, Setting, Setting] = [
  { seed: 1, today: '2026-06-15', scale: 0.2 },
  { seed: 2, today: '2028-02-29', scale: 0.15 },
  { seed: 3, today: '2025-01-01', scale: 0.25, withEdgeCases: true },
];

/** Both tenants of three seeds, with the same tests; the quick suite has one tenant of two seeds. */
export function describeTenants(body: (fixture: () => Promise<TenantFixture>) => void): void {
  const [one, , other] = settings;
  const tested = quickOrAll<readonly Setting[]>(
    [
      { ...one, tenants: [0] },
      { ...other, tenants: [1] },
    ],
    settings,
  );
  for (const setting of tested) describeTenant(setting, body);
}

/** The tenants of one seed. */
export function describeTenant(
  setting: Setting,
  body: (fixture: () => Promise<TenantFixture>) => void,
): void {
  const sandbox = shared(() => startTenants(setting));
  for (const at of setting.tenants ?? [0, 1]) {
    const name = at === 0 ? 'USD, probability 0–1' : 'EUR, probability 0–100';
    describe(`${name}, seed ${setting.seed}, on ${setting.today}`, () =>
      body(shared(async () => fixtureOf(await sandbox(), at, setting.today))));
  }
}

export async function startTenants(setting: Omit<Setting, 'tenants'>): Promise<Sandbox> {
  const { seed, today, scale, withEdgeCases } = setting;
  const sandbox = await startSandbox({ seed, scale, now: new Date(`${today}T09:00:00Z`) });
  if (withEdgeCases)
    for (const { name } of sandbox.tenants) addEdgeCases(sandbox.database, name, today);
  return sandbox;
}

function fixtureOf(sandbox: Sandbox, at: number, today: string): TenantFixture {
  const tenant = sandbox.tenants[at];
  if (!tenant) throw new Error(`There is no tenant ${at}`);
  const { database } = sandbox;
  useDay(today);
  return {
    today,
    ...serving({ at: () => addressOf(tenant) }),
    ask: (sql, ...more) => database.prepare(sql).all(tenant.name, today, ...more) as Rows,
  };
}

const addressOf = ({ baseUrl, keys }: SandboxTenant) => ({ baseUrl, key: keys.read });
