import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import {
  type Change,
  type Sandbox,
  type SandboxOptions,
  type SandboxTenant,
  startSandbox as startReal,
} from '../../src/sandbox/index.ts';
import { closing, newFolder } from './shared.ts';

export type { Sandbox, SandboxTenant } from '../../src/sandbox/index.ts';

/** The address and key of a tenant. */
export interface Address {
  baseUrl: string;
  key: string;
}

/** Any key, for a service that accepts all. */
export const testKey = 'testing0key0testing0key0testing0key00000';

export type KeyName = keyof SandboxTenant['keys'];

export interface Requested {
  method: string;
  /** With the query. */
  path: string;
  status: number;
}
const requested = new WeakMap<Sandbox, Requested[]>();

/** Starts the sandbox in this process, by default without a rate limit; stopped after the tests of the file. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const file = join(newFolder(), 'sandbox.db');
  copyFileSync(await seeded(options), file);
  const sandbox = closing(await startReal({ rateLimit: false, ...options, file }));
  // As fast as a database in memory.
  sandbox.database.exec(
    `pragma locking_mode = exclusive; pragma journal_mode = memory; pragma synchronous = off;
     pragma cache_size = -65536`,
  );
  return recordRequests(sandbox);
}

/** The same sandbox, whose requests from now on are `requestsTo`. */
export function recordRequests(sandbox: Sandbox): Sandbox {
  const requests: Requested[] = [];
  requested.set(sandbox, requests);
  sandbox.server.on('request', ({ method = '', url: path = '' }, response) => {
    const of = { method, path, status: response.statusCode };
    requests.push(Object.defineProperty(of, 'status', { get: () => response.statusCode }));
  });
  return sandbox;
}

/** A file with the data of such tenants, which take long to make: each is made once in a run. */
async function seeded({ tenants, seed, scale, now }: SandboxOptions): Promise<string> {
  const morning = new Date(`${new Date().toISOString().slice(0, 10)}T09:00:00Z`);
  const data = { seed, scale, now: now ?? morning, ...(tenants && { tenants }) };
  const name = createHash('sha256').update(JSON.stringify(data)).digest('hex');
  const made = join(inject('seeded'), name);
  if (existsSync(made)) return made;
  const draft = join(newFolder(), name);
  const sandbox = await startReal({ ...data, file: draft });
  void sandbox.database; // Makes the data of all tenants.
  await sandbox.close();
  renameSync(draft, made);
  return made;
}

/** The requests that a sandbox was sent, oldest first. */
export const requestsTo = (sandbox: Sandbox): readonly Requested[] => requested.get(sandbox) ?? [];

/** The address of the first tenant, with one of its keys. */
export function addressIn(sandbox: Sandbox, key: KeyName = 'read'): Address {
  const [{ baseUrl, keys }] = sandbox.tenants;
  return { baseUrl, key: keys[key] };
}

/** The service's answer, requested without the server's code. */
export async function askService(
  { baseUrl, key }: Address,
  path: string,
  init: RequestInit = {},
): Promise<unknown> {
  const headers = { 'api-key': key, 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/public-api${path}`, { ...init, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Sends the event of a change that a person made in the product, not through the API. */
export function announce(
  sandbox: Sandbox,
  subject: Change['subject'],
  event: Change['event'],
  record: { id: string; [field: string]: unknown },
): void {
  const [{ name: tenant }] = sandbox.tenants;
  const at = new Date().toISOString();
  sandbox.webhooks.announce({ tenant, subject, event, id: record.id, at, record });
}
