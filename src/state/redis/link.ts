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

/** A period in which Redis cannot be reached. */
export interface Outage {
  since: Date;
}

type Argument = string | Buffer;

interface Subscription {
  channel: string;
  listener: (message: string) => void;
  onMissed: () => void;
  isActive: boolean;
}

const connectMs = 2_000;
const firstConnectMs = 3_000;
/** A connection on which Redis does not even answer pings for this long is lost. */
const socketTimeoutMs = 2_000;
const pingMs = 700;

/** Authentication errors, which a retry cannot solve. */
const authErrors = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;

/**
 * Two connections to Redis, one for commands and one for subscriptions. While Redis is unreachable, every command
 * fails at once with StateUnavailable. Lost connections are re-established automatically.
 */
export class RedisLink {
  readonly #commands: ReturnType<typeof createRedisClient>;
  readonly #subscriber: ReturnType<typeof createRedisClient>;
  readonly #options: LinkOptions;
  readonly #reconnectListeners = new Set<() => void>();
  readonly #subscriptions = new Set<Subscription>();
  #outage: Outage | undefined;
  #closed = false;

  private constructor(options: LinkOptions) {
    this.#options = options;
    this.#commands = createRedisClient(options.url);
    this.#subscriber = createRedisClient(options.url);
    this.#commands.on('ready', () => this.#updateStatus());
    this.#commands.on('reconnecting', () => this.#updateStatus());
    this.#commands.on('error', (error: Error) => this.#updateStatus(error));
    this.#subscriber.on('error', () => {}); // It reconnects; `ready` restores the subscriptions.
    this.#subscriber.on('ready', () => {
      for (const subscription of this.#subscriptions) {
        // The client restores active subscriptions, but messages may have been lost meanwhile.
        if (subscription.isActive) subscription.onMissed();
        else void this.#attach(subscription);
      }
    });
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

  get outage(): Outage | undefined {
    return this.#outage;
  }

  /** @throws StateUnavailable */
  async send(args: readonly Argument[]): Promise<unknown> {
    return this.#commands.sendCommand([...args]).catch(rethrowAsUnavailable);
  }

  /** Like `send`, but returns strings as buffers. @throws StateUnavailable */
  async sendForBytes(args: readonly Argument[]): Promise<unknown> {
    return this.#commands.sendCommand([...args], asBytes).catch(rethrowAsUnavailable);
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

  /**
   * Subscribes to a channel, across lost connections. Calls `onMissed` whenever messages may have been lost.
   * @returns a function that unsubscribes
   */
  subscribe(
    channel: string,
    listener: (message: string) => void,
    onMissed: () => void,
  ): () => void {
    const subscription: Subscription = { channel, listener, onMissed, isActive: false };
    this.#subscriptions.add(subscription);
    void this.#attach(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
      void this.#subscriber.unsubscribe(channel, listener).catch(() => {}); // The connection is closed.
    };
  }

  /** Calls the listener whenever Redis can be reached again. */
  onReconnect(listener: () => void): void {
    this.#reconnectListeners.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const client of [this.#commands, this.#subscriber]) if (client.isOpen) client.destroy();
  }

  /** @returns the reason if Redis rejects the connection */
  async #connect(): Promise<string | undefined> {
    const failure = new Promise<string | undefined>((resolve) => {
      this.#commands.once('error', ({ message }: Error) =>
        resolve(authErrors.test(message) ? message : undefined),
      );
    });
    const both = Promise.all([this.#commands.connect(), this.#subscriber.connect()]);
    return Promise.race([failure, both.then(() => undefined).catch(() => failure)]);
  }

  async #attach(subscription: Subscription): Promise<void> {
    if (!this.#subscriber.isReady) return;
    try {
      await this.#subscriber.subscribe(subscription.channel, subscription.listener);
      subscription.isActive = true;
      subscription.onMissed();
    } catch {
      // The connection was lost: `ready` tries again.
    }
  }

  #updateStatus(error?: Error): void {
    if (this.#closed) return;
    const { url, report } = this.#options;
    const { isReady } = this.#commands;
    if (!isReady && !this.#outage) {
      this.#outage = { since: new Date() };
      const code = errorCode(error);
      report('shared state lost', { redis: url.host, ...(code === undefined ? {} : { code }) });
    } else if (isReady && this.#outage) {
      this.#outage = undefined;
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

const ownDatabase = 'give this server a database of its own';

/** Its message is not repeated, because it may quote the command. */
function rethrowAsUnavailable(error: unknown): never {
  if (!(error instanceof ErrorReply)) throw new StateUnavailable('Redis cannot be reached');
  // Older versions only quote the code in a script's error.
  const [, code] = /(?:^|-)(?!ERR\b)([A-Z]{3,})\b/.exec(error.message) ?? [];
  if (code === 'WRONGTYPE')
    throw new StateUnavailable(`Redis has one of its keys with another type: ${ownDatabase}`);
  throw new StateUnavailable(
    code === undefined
      ? `Redis refuses a command: ${ownDatabase}, where it may use every command`
      : `Redis reports ${code}`,
  );
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
