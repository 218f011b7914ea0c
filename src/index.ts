import { openTenant } from './commands/open.ts';
import { optionName, settingsFrom } from './commands/options.ts';
import { ConfigError } from './config.ts';
import { embeddedHost } from './hosts/embedded.ts';
import { factsOf } from './log.ts';

/** What the key may be used for; `read` stands for every read. */
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
 * The settings of the server; each is also a variable and a flag of the command, and described in the
 * documentation under that name. Nothing is read from the environment.
 */
export interface CpqServerOptions {
  /** The tenant's API address, the part before `/public-api`. */
  baseUrl?: string | URL | undefined;
  /** Issued under Settings → Integrations → API Key. */
  apiKey?: string | undefined;
  /** A file that holds the key, instead of `apiKey`. */
  apiKeyFile?: string | undefined;
  /** Serves the embedded tenant instead; needs the optional package `libsql`, no address and no key. */
  sandbox?: boolean | undefined;
  /** What may be done. Default `['read']`: nothing can be written. */
  grants?: readonly CpqGrant[] | undefined;
  /** Which tools are listed. Default `routes` and `briefs`, and `changes` where a write is granted. */
  toolsets?: readonly CpqToolset[] | undefined;
  /** Name of the offset parameter of list routes, or `none`. Default `from`. */
  pageParam?: string | undefined;
  /** Folder for what must be kept, such as the journal of changes. */
  stateDir?: string | undefined;
  /** How much is written to stderr. Default `warn`. */
  logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined;
  /** Requests that the tenant allows in ten minutes, all its programs together. Default 500. */
  rateLimit?: number | undefined;
  /** Seconds that a collection counts as fresh. Default 300. */
  freshSeconds?: number | undefined;
  /** Megabytes that collections may take in memory. Default 256. */
  cacheMegabytes?: number | undefined;
  /**
   * Where a host cannot ask a person before a write: `token` lets the same call come back with a token
   * of the preview, `ask` lets nothing be written. Default `token`.
   */
  consent?: 'token' | 'ask' | undefined;
  /** Most writes in any hour. Default 20. */
  writesPerHour?: number | undefined;
  /** Fields of an opportunity that may be written. Default all. */
  writeFields?: readonly string[] | undefined;
  /** Stages that may not be set, by name or id. */
  barredStages?: readonly string[] | undefined;
}

/** The part of a transport of the Model Context Protocol that is used; those of the SDKs have it. */
export interface CpqTransport {
  start(): Promise<void>;
  send(message: object, options?: object): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

export interface CpqConnection {
  /** Ends this connection, the transport included. */
  close(): Promise<void>;
}

/** A server for one tenant, to be connected to as many clients as there are. */
export interface CpqServer {
  /** What a client will find listed, in that order. */
  readonly tools: readonly { readonly name: string; readonly title: string }[];
  /**
   * Serves a client over a transport: two linked ones in memory, stdio, a socket. Returns at once; what
   * goes wrong with the transport is logged.
   */
  connect(transport: CpqTransport): CpqConnection;
  /**
   * Answers one HTTP request of the protocol, statelessly. Checks neither who asks nor from where: that
   * is for whoever puts it behind an address.
   */
  fetch(request: Request): Promise<Response>;
  /** Ends every connection and lets go of the tenant. */
  close(): Promise<void>;
}

/** An option that is missing or wrong. */
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
 * @throws CpqOptionError that names the option; never a value of a key
 */
export async function createCpqServer(options: CpqServerOptions = {}): Promise<CpqServer> {
  const opened = await namingOptions(() => openTenant(settingsFrom({ ...options }), optionName));
  const host = embeddedHost(opened, (error) => opened.log.warn('protocol', factsOf(error)));
  const tools = opened.surface.list.map(({ name, title = name }) => ({ name, title }));
  return {
    tools,
    // The SDKs write the same interface with narrower messages than are worth repeating here.
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
