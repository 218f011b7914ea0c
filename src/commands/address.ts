import { requireTenant, type Settings } from '../config.ts';

/** Where a tenant is, and with what it is read. */
export interface Address {
  baseUrl: URL;
  key: string;
  close(): Promise<void>;
}

/** @throws ConfigError when there is neither a tenant nor the wish for the embedded one */
export const resolveAddress = (settings: Settings): Promise<Address> =>
  settings.sandbox
    ? embeddedSandbox()
    : Promise.resolve({ ...requireTenant(settings), async close() {} });

/** The sandbox of this process, on a loopback port of its own. */
async function embeddedSandbox(): Promise<Address> {
  const { startSandbox } = await import('../sandbox/index.ts');
  const sandbox = await startSandbox();
  const [tenant] = sandbox.tenants;
  return { baseUrl: new URL(tenant.baseUrl), key: tenant.keys.all, close: () => sandbox.close() };
}
