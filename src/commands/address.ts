import { requireTenant, type Settings } from '../config.ts';

/** A tenant's address and key. */
export interface Address {
  baseUrl: URL;
  key: string;
  close(): Promise<void>;
}

/** @throws ConfigError if neither a tenant nor the sandbox is configured */
export const resolveAddress = (settings: Settings): Promise<Address> =>
  settings.sandbox
    ? embeddedSandbox()
    : Promise.resolve({ ...requireTenant(settings), async close() {} });

/** Starts a sandbox in this process, on a free loopback port. */
async function embeddedSandbox(): Promise<Address> {
  const { startSandbox } = await import('../sandbox/index.ts');
  const sandbox = await startSandbox();
  const [tenant] = sandbox.tenants;
  return { baseUrl: new URL(tenant.baseUrl), key: tenant.keys.all, close: () => sandbox.close() };
}
