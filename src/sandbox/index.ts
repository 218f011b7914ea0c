import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Change, Settings } from './context.ts';
import { type Database, openDatabase } from './database.ts';
import type { RollingWindow } from './limits.ts';
import type { RequestLog } from './log.ts';
import type { SandboxOptions, SandboxTenant } from './options.ts';
import type { Past } from './past.ts';
import { SandboxService } from './sandbox-service.ts';
import { handle } from './server.ts';
import type { Webhooks } from './webhooks.ts';

export type { Change } from './context.ts';
export type { Database } from './database.ts';
export type { SandboxOptions, SandboxTenant } from './options.ts';

const DEFAULT_TENANTS = ['harborpeak', 'nordlicht'];

export interface Sandbox {
  url: string;
  tenants: [SandboxTenant, ...SandboxTenant[]];
  /** The SQLite handle. The first access creates the data of every tenant that has none yet. */
  readonly database: Database;
  /** The past of a tenant's opportunities and quotes: two hundred days, made from the seed when they are first asked for. */
  past(tenant: string): Past;
  /** The requests to the API. */
  log: RequestLog;
  /** Can be changed while it runs. */
  settings: Settings;
  limits: RollingWindow;
  webhooks: Webhooks;
  /** Calls the listener after every write; returns a function that unsubscribes it. */
  onChange(listener: (change: Change) => void): () => void;
  close(): Promise<void>;
}

/**
 * Starts the embedded tenant, over SQLite, on the loopback interface. It answers at once: the data of a tenant is
 * created with its first request.
 * @throws Error when `node-sqlite3-wasm` is not installed, the file cannot be opened or the port is taken.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const names = options.tenants ?? DEFAULT_TENANTS;
  checkNames(names);
  const database = await openDatabase(options.file);
  const service = new SandboxService(database, names, options);
  const server = createServer((request, response) => void handle(service, request, response));
  server.keepAliveTimeout = 60_000;
  const url = await listen(server, options.port ?? 0).catch((error: unknown) => {
    database.close();
    throw error;
  });
  const tenants = service.tenantsAt(url);
  return {
    url,
    tenants,
    get database() {
      for (const name of names) service.contextFor(name);
      return database;
    },
    past: (tenant) => service.pastOf(tenant),
    log: service.log,
    settings: service.settings,
    limits: service.limits,
    webhooks: service.webhooks,
    onChange: (listener) => service.listen(listener),
    close() {
      service.webhooks.close();
      return close(server, database);
    },
  };
}

function checkNames(names: string[]): void {
  if (names.length > 0 && names.every((name) => /^[A-Za-z0-9][A-Za-z0-9-]*$/.test(name))) return;
  throw new Error('Tenant names are letters, digits and hyphens, and there is at least one.');
}

async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server, database: Database): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
  database.close();
}
