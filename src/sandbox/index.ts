import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openDatabase } from './database.ts';
import type { SandboxOptions, SandboxTenant } from './options.ts';
import { SandboxService } from './sandbox-service.ts';
import { handle } from './server.ts';

export type { Change } from './context.ts';
export type { Database } from './database.ts';
export type { SandboxOptions, SandboxTenant } from './options.ts';

const DEFAULT_TENANTS = ['harborpeak', 'nordlicht'];

export interface Sandbox extends SandboxService {
  url: string;
  tenants: [SandboxTenant, ...SandboxTenant[]];
  server: Server;
  close(): Promise<void>;
}

/**
 * Starts the embedded tenant, over SQLite, on the loopback interface. It answers at once: the data of a tenant is
 * created with its first request.
 * @throws Error when `node-sqlite3-wasm` is not installed, the file cannot be opened, the port is taken or an option
 * cannot be used.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { tenants: names = DEFAULT_TENANTS, scale = 1, now } = options;
  if (names.length === 0 || new Set(names).size < names.length)
    throw new Error('tenants must have a name or more, each once');
  if (!(scale > 0 && scale < Number.POSITIVE_INFINITY)) throw new Error('scale must be above 0');
  if (now && Number.isNaN(now.getTime())) throw new Error('now must be a valid date');
  const database = await openDatabase(options.file);
  const service = new SandboxService(database, names, options);
  const server = createServer((request, response) => void handle(service, request, response));
  server.keepAliveTimeout = 60_000;
  const url = await listen(server, options.port ?? 0).catch((error: unknown) => {
    database.close();
    throw error;
  });
  return Object.assign(service, {
    ...{ url, server, tenants: service.tenantsAt(url) },
    async close() {
      service.webhooks.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      database.close();
    },
  });
}

async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
