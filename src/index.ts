import {
  inOptions,
  type Options,
  optionName,
  settingsFrom,
  tenantSettings,
} from './commands/options.ts';
import { resolveAddress } from './commands/start.ts';
import {
  openCommon,
  openHandle,
  type SharedServices,
  type TenantHandle,
} from './commands/tenant-handle.ts';
import { validName } from './commands/tenants.ts';
import type { SettingName } from './config/settings.ts';
import { ConfigError } from './config.ts';
import { embeddedHost } from './hosts/embedded.ts';
import { createLog, factsOf } from './log.ts';

/** A permission; `read` includes every read. */
export type CpqGrant =
  | 'read'
  | 'company:read'
  | 'contact:read'
  | 'opportunity:read'
  | 'product:read'
  | 'quote:read'
  | 'quote_template:read'
  | 'quote_widget:read'
  | 'pricing_book:read'
  | 'category:read'
  | 'discount_group:read'
  | 'contract_item:read'
  | 'opportunity:write';

export type CpqToolset = 'routes' | 'briefs' | 'events' | 'changes';

/**
 * What the tenants of a host share. Each option is also a setting of the command, described in docs/settings.md. No
 * option is read from the environment.
 */
export interface CpqHostOptions {
  /** Folder for persistent state, such as the journal of changes. Default: the user's state folder. */
  stateDir?: string | undefined;
  /** Redis for the state, which several processes then share, as `redis://host:6379`. */
  redisUrl?: string | URL | undefined;
  /** Memory for cached collections of all tenants together, in MB. Default 256. */
  cacheMegabytes?: number | undefined;
  /** Log level on stderr. Default `warn`. */
  logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined;
}

/** One tenant; each option but `name` is also a setting. */
export interface CpqTenantOptions {
  /**
   * Names the state of the tenant, such as its changes and events; a–z, 0–9 and hyphens. With a name it keeps its state
   * when its key is replaced; without one each key has its own. `default` has the state that the commands use for a single tenant.
   */
  name?: string | undefined;
  /** The tenant's API address, the part before `/public-api`. */
  baseUrl?: string | URL | undefined;
  /** Issued under Settings → Integrations → API Key. */
  apiKey?: string | undefined;
  /** A file that contains the key, instead of `apiKey`. */
  apiKeyFile?: string | undefined;
  /** Serves the embedded tenant; needs the optional package `node-sqlite3-wasm`, but no address and no key. */
  sandbox?: boolean | undefined;
  /** Granted permissions. Default `['read']`: no writes. */
  grants?: readonly CpqGrant[] | undefined;
  /** Listed tools. Default `routes` and `briefs`, `events` with a webhook secret, `changes` if a write is granted. */
  toolsets?: readonly CpqToolset[] | undefined;
  /** Exact names of tools to list: only these, or besides those of `toolsets`; `-cpq_find` leaves one out. */
  tools?: readonly string[] | undefined;
  /** Page of a record in the product, as `https://app.example.com/{resource}/{id}`, which answers link to. */
  recordUrl?: string | undefined;
  /** A file that says where the fields of records are, where they are not as documented. */
  fieldsFile?: string | undefined;
  /** Name of the offset parameter of list routes, or `none`. Default `from`. */
  pageParam?: string | undefined;
  /** The tenant's rate limit: requests in ten minutes, shared by all its programs. Default 500. */
  rateLimit?: number | undefined;
  /** Seconds until a cached collection is read again. Default 300. */
  freshSeconds?: number | undefined;
  /** Whether collections are kept for a day, in the state folder or Redis. Default `on`. */
  keepCollections?: 'on' | 'off' | undefined;
  /** Days for which snapshots of the pipeline are kept; 0 keeps none. Default 400. */
  historyDays?: number | undefined;
  /**
   * How a person agrees to a write: in a form of the host, or if it has none in a view (`view`); in a form only (`ask`);
   * or where there is neither by a token, for hosts that ask before every call themselves (`token`). Default `view`.
   */
  consent?: 'view' | 'ask' | 'token' | undefined;
  /** Maximum writes per hour. Default 20. */
  writesPerHour?: number | undefined;
  /** Fields of an opportunity that may be written. Default all. */
  writeFields?: readonly string[] | undefined;
  /** The only stages that may be set, by name or id. Default all. */
  allowedStages?: readonly string[] | undefined;
  /** Secret sent with webhook deliveries, at least 16 characters. */
  webhookSecret?: string | undefined;
  /** A file that contains the secret, instead of `webhookSecret`. */
  webhookSecretFile?: string | undefined;
}

/** Options of a server for one tenant. */
export interface CpqServerOptions extends CpqHostOptions, CpqTenantOptions {}

/** The part of an MCP transport that is used; the transports of the SDKs satisfy it. */
export interface CpqTransport {
  start(): Promise<void>;
  send(message: object, options?: object): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

export interface CpqConnection {
  /** Ends this connection and closes the transport. */
  close(): Promise<void>;
}

/** A server for one tenant and any number of clients. */
export interface CpqServer {
  /** The listed tools, in order. */
  readonly tools: readonly { readonly name: string; readonly title: string }[];
  /**
   * Serves a client over a transport, such as a linked in-memory pair, stdio or a socket. Returns at once;
   * errors of the transport are logged.
   * @throws Error after `close`
   */
  connect(transport: CpqTransport): CpqConnection;
  /**
   * Answers one HTTP request statelessly, with 503 after `close`. It checks neither credentials nor Host and Origin
   * headers: that is up to the caller.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Stores the events of one webhook delivery. The secret is expected in the header `x-webhook-secret` or as the last
   * segment of the path. Answers 200 after the events are stored durably, 401 without the configured secret, 503 if the
   * service should deliver them again.
   * @throws CpqOptionError if no webhook secret is configured
   */
  receiveWebhook(request: Request): Promise<Response>;
  /** Ends every connection and closes the tenant. */
  close(): Promise<void>;
}

/** Servers for the tenants of one program, which share cache, state and connections. */
export interface CpqHost {
  /**
   * Opens a tenant. Its data is separate from that of other tenants.
   * @throws CpqOptionError that names the option, never a secret; Error when Redis refuses the password
   */
  tenant(options: CpqTenantOptions): Promise<CpqServer>;
  /** Closes all tenants and the state. */
  close(): Promise<void>;
}

/** A missing or invalid option. */
export class CpqOptionError extends Error {
  override readonly name = 'CpqOptionError';
}

const sharedSettings: readonly SettingName[] = [
  'stateDir',
  'redisUrl',
  'cacheMegabytes',
  'logLevel',
];
const allSettings: readonly SettingName[] = [
  ...sharedSettings,
  ...tenantSettings,
  ...(['sandbox', 'keepCollections', 'historyDays'] as const),
];

/** Tenants with the same name and address share their state. */
interface StateOwner {
  name: string | undefined;
  key: string;
}

/**
 * Opens a host for many tenants inside the calling program.
 *
 * ```ts
 * const host = createCpqHost({ cacheMegabytes: 512, stateDir });
 * const cpq = await host.tenant({ baseUrl, apiKey, grants: ['read'] });
 * cpq.connect(transport);
 * ```
 * @throws CpqOptionError that names the option, never a secret
 */
export function createCpqHost(options: CpqHostOptions = {}): CpqHost {
  const own = { ...options };
  const settings = hostSettings(own);
  const log = createLog(settings.logLevel);
  const servers = new Map<CpqServer, StateOwner>();
  let common: Promise<SharedServices> | undefined;
  let closed = false;

  /** A failure is forgotten: the next tenant tries again. */
  function openShared(): Promise<SharedServices> {
    common ??= openCommon(settings, log).catch((error) => {
      common = undefined;
      throw error;
    });
    return common;
  }

  /** @throws ConfigError; Error when Redis refuses the password, or the host is closed */
  async function open({ name: givenName, ...given }: Options): Promise<CpqServer> {
    const shared = sharedSettings.find((name) => name in given);
    if (shared !== undefined) throw new ConfigError(`"${shared}" is an option of the host`);
    const name = givenName === undefined ? undefined : validName(givenName);
    const ofTenant = settingsFrom({ ...own, ...given }, allSettings);
    const address = await resolveAddress(ofTenant);
    try {
      const services = await openShared();
      if (closed) throw new Error('the host is closed');
      const { baseUrl, key } = address;
      const owner = { name: name && `${name} at ${baseUrl.href}`, key };
      refuseOtherKey(owner, [...servers.values()]);
      const more = { stateByKey: name === undefined, nameOf: optionName };
      const handle = openHandle(name ?? baseUrl.host, ofTenant, address, services, more);
      const server = serverFor(handle, () => servers.delete(server));
      servers.set(server, owner);
      return server;
    } catch (error) {
      await address.close?.();
      throw error;
    }
  }

  return {
    tenant: (given) => open({ ...given }).catch(rethrowNamingOptions),
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all([...servers.keys()].map((server) => server.close()));
      await (await common)?.state.close();
    },
  };
}

function hostSettings(options: Options) {
  try {
    return settingsFrom(options, sharedSettings);
  } catch (error) {
    rethrowNamingOptions(error);
  }
}

/** It would share its journal and events with the tenant of that name. @throws ConfigError */
function refuseOtherKey({ name, key }: StateOwner, owners: readonly StateOwner[]): void {
  if (!owners.some((other) => name && other.name === name && other.key !== key)) return;
  throw new ConfigError(
    `name: the tenant ${name} is open with another key. Close it first, or choose another name.`,
  );
}

/**
 * Opens a server for one tenant inside the calling program.
 *
 * ```ts
 * const cpq = await createCpqServer({ baseUrl, apiKey });
 * const [ours, theirs] = InMemoryTransport.createLinkedPair();
 * cpq.connect(theirs);
 * await client.connect(ours);
 * ```
 * @throws CpqOptionError that names the option, never a secret
 */
export async function createCpqServer(options: CpqServerOptions = {}): Promise<CpqServer> {
  const { stateDir, redisUrl, cacheMegabytes, logLevel, ...tenantOptions } = { ...options };
  const host = createCpqHost({ stateDir, redisUrl, cacheMegabytes, logLevel });
  const cpq = await host.tenant(tenantOptions).catch(async (error: unknown) => {
    await host.close();
    throw error;
  });
  return {
    ...cpq,
    async close() {
      await cpq.close();
      await host.close();
    },
  };
}

function serverFor(handle: TenantHandle, onClosed: () => void): CpqServer {
  const { webhooks, log, endpoint } = handle;
  const host = embeddedHost(endpoint, (error) => log.warn('protocol', factsOf(error)));
  return {
    tools: endpoint.parts.surface.list.map(({ name, title = name }) => ({ name, title })),
    // The SDKs declare narrower message types for the same interface.
    connect: (transport) => host.connect(transport as Parameters<typeof host.connect>[0]),
    fetch: host.fetch,
    async receiveWebhook(request) {
      const missing = 'Webhooks are accepted only with a secret: set webhookSecret';
      if (!webhooks) throw new CpqOptionError(missing);
      const { answerDelivery } = await import('./hosts/webhooks.ts');
      const onError = (error: unknown) => log.error('webhook not stored', factsOf(error));
      return answerDelivery(webhooks, request, onError);
    },
    async close() {
      await host.close();
      await handle.close();
      onClosed();
    },
  };
}

/** Replaces a ConfigError with one that names the options. */
function rethrowNamingOptions(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  throw new CpqOptionError(inOptions(error.message));
}
