import { setTimeout as pause } from 'node:timers/promises';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { errorCode } from '../../values.ts';
import { StateUnavailable } from '../port.ts';

export interface LinkOptions {
  url: URL;
  /** Logs that Redis became unavailable, or is available again. */
  report(event: string, facts: Record<string, unknown>): void;
  /** Timeout of a command, after which Redis counts as unavailable. */
  commandMs?: number;
}

/** A period in which Redis is unavailable. */
export interface Outage {
  since: Date;
  reason: string;
}

type Argument = string | Buffer;

interface Subscription {
  channel: string;
  listener: (message: string) => void;
  onMissed: () => void;
  isActive: boolean;
}

const defaultCommandMs = 2_000;
const firstConnectMs = 3_000;
const probeMs = 500;
/** Pings detect a dead connection that is otherwise idle. */
const pingMs = 5_000;
const socketTimeoutMs = 15_000;

/** Authentication errors, which a retry cannot solve. */
const authErrors = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;

/**
 * Two connections to Redis, one for commands and one for subscriptions. While Redis is unavailable, every command
 * fails at once with StateUnavailable. Lost connections are re-established automatically.
 */
export class RedisLink {
  readonly #commands: ReturnType<typeof createRedisClient>;
  readonly #subscriber: ReturnType<typeof createRedisClient>;
  readonly #options: LinkOptions;
  readonly #reconnectListeners = new Set<() => void>();
  readonly #subscriptions = new Set<Subscription>();
  #probe: NodeJS.Timeout | undefined;
  /** Why Redis is unusable although it is connected. */
  #unusable: StateUnavailable | undefined;
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
  }

  /**
   * Connects. If Redis cannot be reached, retries in the background; until then commands fail with
   * StateUnavailable.
   * @throws Error when Redis rejects the user or password
   */
  static async open(options: LinkOptions): Promise<RedisLink> {
    const link = new RedisLink(options);
    const rejection = await Promise.race([link.#connect(), pauseFor(firstConnectMs)]);
    if (rejection !== undefined) {
      await link.close();
      throw new Error(`Redis at ${options.url.host} rejects the connection: ${rejection}`);
    }
    link.#updateStatus();
    return link;
  }

  get isUp(): boolean {
    return !this.#unusable && this.#commands.isReady;
  }

  get outage(): Outage | undefined {
    return this.#outage;
  }

  /** @throws StateUnavailable; Redis's error for an invalid command */
  async send(args: readonly Argument[]): Promise<unknown> {
    return this.#withTimeout(() => this.#commands.sendCommand([...args]));
  }

  /** Like `send`, but returns strings as buffers. @throws StateUnavailable */
  async sendForBytes(args: readonly Argument[]): Promise<unknown> {
    return this.#withTimeout(() => this.#commands.sendCommand([...args], asBytes));
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
    return this.sendForBytes([
      'EVAL',
      script,
      String(keys.length),
      ...keys,
      ...values.map(toArgument),
    ]);
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

  /** Calls the listener whenever Redis becomes available again. */
  onReconnect(listener: () => void): void {
    this.#reconnectListeners.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#probe);
    for (const client of [this.#commands, this.#subscriber]) if (client.isOpen) client.destroy();
  }

  /** @returns the reason if Redis rejects the connection */
  async #connect(): Promise<string | undefined> {
    this.#subscriber.on('ready', () => {
      for (const subscription of this.#subscriptions) {
        // The client restores active subscriptions, but messages may have been lost meanwhile.
        if (subscription.isActive) subscription.onMissed();
        else void this.#attach(subscription);
      }
    });
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

  async #withTimeout<T>(send: () => Promise<T>): Promise<T> {
    if (!this.isUp) throw this.#unusable ?? unreachableError();
    const timeout = new Timeout(this.#options.commandMs ?? defaultCommandMs);
    try {
      return await Promise.race([send(), timeout.expired]);
    } catch (error) {
      throw this.#toStateError(error);
    } finally {
      timeout.cancel();
    }
  }

  /** Converts an error, and marks Redis as unusable if later commands would fail too. */
  #toStateError(error: unknown): unknown {
    if (error instanceof ResponseTimeout) this.#markUnusable(error);
    if (error instanceof StateUnavailable) return error;
    if (!(error instanceof ErrorReply)) return new StateUnavailable('Redis closed the connection');
    if (wrongType.test(error.message)) return new StateUnavailable(wrongTypeReason);
    const [, reason] = unavailableErrors.exec(error.message) ?? [];
    if (reason === undefined && error.message.startsWith('ERR ')) return error;
    const failure = new StateUnavailable(
      `Redis reports ${reason ?? error.message.split(' ', 1)[0]}`,
    );
    if (reason !== undefined) this.#markUnusable(failure);
    return failure;
  }

  /** Rejects all commands until Redis accepts a write again. */
  #markUnusable(reason: StateUnavailable): void {
    if (this.#unusable || this.#closed) return;
    this.#unusable = reason;
    this.#updateStatus(reason);
    const probe = async () => {
      if (this.#closed) return;
      if (await this.#acceptsWrites()) this.#unusable = undefined;
      else this.#probe = setTimeout(probe, probeMs).unref();
      this.#updateStatus();
    };
    void probe();
  }

  async #acceptsWrites(): Promise<boolean> {
    if (!this.#commands.isReady) return false;
    const write = this.#commands.sendCommand(['SET', 'cpq:probe', '1', 'PX', '1000']);
    const answer = await Promise.race([write.catch(() => undefined), pauseFor(probeMs)]);
    return answer !== undefined;
  }

  #updateStatus(error?: Error): void {
    if (this.#closed) return;
    const { url, report } = this.#options;
    if (!this.isUp && !this.#outage) {
      this.#outage = { since: new Date(), reason: (this.#unusable ?? unreachableError()).code };
      const code = errorCode(error);
      report('shared state lost', { redis: url.host, ...(code === undefined ? {} : { code }) });
    } else if (this.isUp && this.#outage) {
      this.#outage = undefined;
      report('shared state back', { redis: url.host });
      for (const listener of this.#reconnectListeners) listener();
    }
  }
}

class ResponseTimeout extends StateUnavailable {}

class Timeout {
  /** Rejects after the timeout. */
  readonly expired: Promise<never>;
  #timer: NodeJS.Timeout | undefined;
  #cancelled = false;

  constructor(ms: number) {
    this.expired = new Promise((_, reject) => {
      const expire = () => {
        if (!this.#cancelled) reject(new ResponseTimeout('Redis does not answer'));
      };
      // If this process was blocked, the response may have arrived already: setImmediate lets it be read first.
      this.#timer = setTimeout(() => setImmediate(expire), ms);
    });
  }

  cancel(): void {
    this.#cancelled = true;
    clearTimeout(this.#timer);
  }
}

const unreachableError = (): StateUnavailable => new StateUnavailable('Redis cannot be reached');

const asBytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

const toArgument = (value: Argument | number): Argument =>
  typeof value === 'number' ? String(value) : value;

function createRedisClient(url: URL) {
  return createClient({
    url: url.href,
    name: 'cpq-mcp',
    disableOfflineQueue: true,
    pingInterval: pingMs,
    socket: {
      connectTimeout: defaultCommandMs,
      socketTimeout: socketTimeoutMs,
      // Retries forever, with jitter, so that processes do not reconnect at the same time.
      reconnectStrategy: (tries: number) =>
        Math.min(1_000, 50 * 2 ** Math.min(tries, 5)) * (0.5 + Math.random()),
    },
  });
}

/** Errors of an unavailable Redis; older versions only quote the code in a script's error. */
const unavailableErrors = /(?:^|-)(READONLY|OOM|LOADING|MISCONF|MASTERDOWN|NOREPLICAS|BUSY)\b/;
/** A key that was written by another program; scripts quote the error. */
const wrongType = /\bWRONGTYPE\b/;
const wrongTypeReason =
  'Redis has one of its keys with another type: give this server a database of its own';

const pauseFor = (ms: number): Promise<undefined> => pause(ms, undefined, { ref: false });
