import { setTimeout as pause } from 'node:timers/promises';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { errorCode } from '../../values.ts';
import { StateUnavailable } from '../port.ts';
import { shortHash } from '../short-hash.ts';

export interface LinkOptions {
  url: URL;
  /** Logs that Redis became unavailable, or is available again. */
  report(event: string, facts: Record<string, unknown>): void;
}

type Argument = string | Buffer;

const connectMs = 2_000;
const firstConnectMs = 3_000;
/** A connection on which Redis does not even answer pings for this long is lost. */
const socketTimeoutMs = 2_000;
const pingMs = 700;

/** Authentication errors, which a retry cannot solve. */
const authErrors = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;

/**
 * A connection to Redis, for commands and messages. While Redis is unreachable, every command fails at once with
 * StateUnavailable. The client reconnects and subscribes again by itself.
 */
export class RedisLink {
  readonly #client: ReturnType<typeof createRedisClient>;
  readonly #options: LinkOptions;
  readonly #reconnectListeners: (() => void)[] = [];
  #lostSince: Date | undefined;
  #closed = false;

  private constructor(options: LinkOptions) {
    this.#options = options;
    this.#client = createRedisClient(options.url);
    this.#client.on('ready', () => this.#updateStatus());
    this.#client.on('reconnecting', () => this.#updateStatus());
    this.#client.on('error', (error: Error) => this.#updateStatus(error));
  }

  /**
   * Connects. If Redis cannot be reached, retries in the background; until then commands fail with
   * StateUnavailable.
   * @throws Error when Redis rejects the user or password
   */
  static async open(options: LinkOptions): Promise<RedisLink> {
    const link = new RedisLink(options);
    const timeout = pause(firstConnectMs, undefined, { ref: false });
    const rejection = await Promise.race([link.#connect(), timeout]);
    if (rejection !== undefined) {
      await link.close();
      throw new Error(`Redis at ${options.url.host} rejects the connection: ${rejection}`);
    }
    link.#updateStatus();
    return link;
  }

  /** Since when Redis cannot be reached. */
  get lostSince(): Date | undefined {
    return this.#lostSince;
  }

  /** @throws StateUnavailable */
  async send(args: readonly Argument[]): Promise<unknown> {
    return this.#client.sendCommand([...args]).catch(rethrowAsUnavailable);
  }

  /** Like `send`, but returns strings as buffers. @throws StateUnavailable */
  async sendForBytes(args: readonly Argument[]): Promise<unknown> {
    return this.#client.sendCommand([...args], asBytes).catch(rethrowAsUnavailable);
  }

  /**
   * Runs a script atomically. Uses EVAL, because EVALSHA may need a second attempt, which later commands would
   * overtake.
   * @throws StateUnavailable
   */
  async runScript(
    script: string,
    keys: readonly string[],
    values: readonly (Argument | number)[],
  ): Promise<unknown> {
    const args = values.map((value) => (typeof value === 'number' ? String(value) : value));
    return this.sendForBytes(['EVAL', script, String(keys.length), ...keys, ...args]);
  }

  /** Receives the messages of all channels whose name fits the pattern. @throws StateUnavailable */
  async listen(
    pattern: string,
    listener: (message: string, channel: string) => void,
  ): Promise<void> {
    if (!this.#client.isReady) throw new StateUnavailable('Redis cannot be reached');
    await this.#client.pSubscribe(pattern, listener).catch(rethrowAsUnavailable);
  }

  /** Calls the listener whenever Redis can be reached again. */
  onReconnect(listener: () => void): void {
    this.#reconnectListeners.push(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#client.isOpen) this.#client.destroy();
  }

  /** @returns the reason if Redis rejects the connection */
  async #connect(): Promise<string | undefined> {
    const failure = new Promise<string | undefined>((resolve) => {
      this.#client.once('error', ({ message }: Error) =>
        resolve(authErrors.test(message) ? message : undefined),
      );
    });
    const connected = this.#client.connect().then(() => undefined);
    return Promise.race([failure, connected.catch(() => failure)]);
  }

  #updateStatus(error?: Error): void {
    if (this.#closed) return;
    const { url, report } = this.#options;
    const { isReady } = this.#client;
    if (!isReady && !this.#lostSince) {
      this.#lostSince = new Date();
      const code = errorCode(error);
      report('shared state lost', { redis: url.host, ...(code === undefined ? {} : { code }) });
    } else if (isReady && this.#lostSince) {
      this.#lostSince = undefined;
      report('shared state back', { redis: url.host });
      for (const listener of this.#reconnectListeners) listener();
    }
  }
}

const asBytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

function createRedisClient(url: URL) {
  return createClient({
    url: url.href,
    name: 'cpq-mcp',
    disableOfflineQueue: true,
    pingInterval: pingMs,
    socket: {
      connectTimeout: connectMs,
      socketTimeout: socketTimeoutMs,
      // Retries forever, with jitter, so that processes do not reconnect at the same time.
      reconnectStrategy: (tries: number) =>
        Math.min(1_000, 50 * 2 ** Math.min(tries, 5)) * (0.5 + Math.random()),
    },
  });
}

/** Its message is not repeated, because it may quote the command. */
function rethrowAsUnavailable(error: unknown): never {
  if (!(error instanceof ErrorReply)) throw new StateUnavailable('Redis cannot be reached');
  // Older versions only quote the code in a script's error.
  const [, code = 'an error'] = /(?:^|-)(?!ERR\b)([A-Z]{3,})\b/.exec(error.message) ?? [];
  const isInUse = code === 'WRONGTYPE' ? ': give this server a database of its own' : '';
  throw new StateUnavailable(`Redis reports ${code}${isInUse}`);
}

/** A tenant's namespace: a hash, with the tenant's name in front if there are several tenants. */
const isNamespace = /^(?:[a-z0-9][a-z0-9-]{0,62}-)?[0-9a-f]{16}$/;

/**
 * A Redis key of a tenant: `cpq:{tenant}:…`. The braces keep all keys of a tenant on one node of a cluster. A name
 * that is not a namespace is hashed, so that Redis holds no address and no API key.
 */
export const keyOf = (tenant: string, ...rest: readonly string[]): string =>
  ['cpq', `{${isNamespace.test(tenant) ? tenant : shortHash(tenant)}}`, ...rest].join(':');

/** The entries of a reply that must be a list. @throws TypeError for any other reply */
export function listReply(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError('Redis gave no list where one was expected');
}

/** Lua that sets `now` to the clock of Redis, in milliseconds since the epoch. */
export const nowScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
