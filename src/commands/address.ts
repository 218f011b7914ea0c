import { requireTenant, type Settings } from '../config.ts';
import type { GeneratedHistory } from '../history/generated-history.ts';

/** A tenant's address and key. */
export interface Address {
  baseUrl: URL;
  key: string;
  /** Of the embedded tenant. */
  generatedHistory?: GeneratedHistory;
  close(): Promise<void>;
}

/** @throws ConfigError if neither a tenant nor the sandbox is configured */
export const resolveAddress = (settings: Settings): Promise<Address> =>
  settings.sandbox ? embeddedSandbox() : Promise.resolve(configuredAddress(settings));

/** @throws ConfigError if no tenant is configured */
export const configuredAddress = (settings: Settings): Address => ({
  ...requireTenant(settings),
  async close() {},
});

/** Starts a sandbox in this process, on a free loopback port. */
async function embeddedSandbox(): Promise<Address> {
  const { startSandbox } = await import('../sandbox/index.ts');
  const sandbox = await startSandbox();
  const [{ name, baseUrl, keys }] = sandbox.tenants;
  return {
    baseUrl: new URL(baseUrl),
    key: keys.all,
    generatedHistory: sandbox.past(name),
    close: () => sandbox.close(),
  };
}
