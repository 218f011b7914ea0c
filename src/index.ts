import { openTenant } from './commands/open.ts';
import { optionName, settingsFrom } from './commands/options.ts';
import { ConfigError } from './config.ts';
import { embeddedHost } from './hosts/embedded.ts';
import { factsOf } from './log.ts';

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
 * Options of the server; each is also a setting of the command, described in docs/settings.md. The
 * environment is not read.
 */
export interface CpqServerOptions {
  /** The tenant's API address, the part before `/public-api`. */
  baseUrl?: string | URL | undefined;
  /** Issued under Settings → Integrations → API Key. */
  apiKey?: string | undefined;
  /** A file that contains the key, instead of `apiKey`. */
  apiKeyFile?: string | undefined;
  /** Serves the embedded tenant; needs the optional package `libsql`, but no address and no key. */
  sandbox?: boolean | undefined;
  /** Granted permissions. Default `['read']`: no writes. */
  grants?: readonly CpqGrant[] | undefined;
  /** Listed tools. Default `routes` and `briefs`, and `changes` if a write is granted. */
  toolsets?: readonly CpqToolset[] | undefined;
  /** Name of the offset parameter of list routes, or `none`. Default `from`. */
  pageParam?: string | undefined;
  /** Folder for persistent state, such as the journal of changes. */
  stateDir?: string | undefined;
  /** Log level on stderr. Default `warn`. */
  logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined;
  /** The tenant's rate limit: requests in ten minutes, shared by all its programs. Default 500. */
  rateLimit?: number | undefined;
  /** Seconds until a cached collection is read again. Default 300. */
  freshSeconds?: number | undefined;
  /** Memory for cached collections, in MB. Default 256. */
  cacheMegabytes?: number | undefined;
  /** Days for which snapshots of the pipeline are kept; 0 keeps none. Default 400. */
  historyDays?: number | undefined;
  /**
   * Writes through hosts that cannot ask a person: `token` allows confirming a preview with a token, `ask`
   * refuses the write. Default `token`.
   */
  consent?: 'token' | 'ask' | undefined;
  /** Maximum writes per hour. Default 20. */
  writesPerHour?: number | undefined;
  /** Fields of an opportunity that may be written. Default all. */
  writeFields?: readonly string[] | undefined;
  /** Stages that may not be set, by name or id. */
  barredStages?: readonly string[] | undefined;
}

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
   */
  connect(transport: CpqTransport): CpqConnection;
  /**
   * Answers one HTTP request statelessly. It checks neither credentials nor Host and Origin headers: that is
   * up to the caller.
   */
  fetch(request: Request): Promise<Response>;
  /** Ends every connection and closes the tenant. */
  close(): Promise<void>;
}

/** A missing or invalid option. */
export class CpqOptionError extends Error {
  override readonly name = 'CpqOptionError';
}

/**
 * Opens a server inside the calling program.
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
  const opened = await namingOptions(() => openTenant(settingsFrom({ ...options }), optionName));
  const host = embeddedHost(opened, (error) => opened.log.warn('protocol', factsOf(error)));
  const tools = opened.surface.list.map(({ name, title = name }) => ({ name, title }));
  return {
    tools,
    // The SDKs declare narrower message types for the same interface.
    connect: (transport) => host.connect(transport as Parameters<typeof host.connect>[0]),
    fetch: host.fetch,
    async close() {
      await host.close();
      await opened.close();
    },
  };
}

/** Replaces a ConfigError with one that names the options. */
async function namingOptions<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CpqOptionError(error.messageNaming(optionName));
  }
}
