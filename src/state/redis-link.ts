import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { StateUnavailable } from './port.ts';

export interface LinkOptions {
  url: URL;
  /** Tells whoever runs this that Redis was lost, or is back. */
  report(event: string, facts: Record<string, unknown>): void;
  /** How long one command may take before Redis counts as lost. */
  commandMs?: number;
}

/** Redis is of no use now. */
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
/** Traffic that shows a dead connection even where nobody asks for anything. */
const pingMs = 5_000;
const socketTimeoutMs = 15_000;

/** Wrong passwords and the like: waiting does not help. */
const authErrors = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;

/**
 * The connection to Redis: one for commands, in the order in which they are sent, and one that listens.
 * While Redis is away every command fails at once, with StateUnavailable; the connection comes back by itself.
 */
export class RedisLink {
  readonly #commands: ReturnType<typeof createRedisClient>;
  readonly #subscriber: ReturnType<typeof createRedisClient>;
  readonly #options: LinkOptions;
  readonly #reconnectListeners = new Set<() => void>();
  readonly #subscriptions = new Set<Subscription>();
  #probe: NodeJS.Timeout | undefined;
  /** Why it is of no use although it is connected. */
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
    this.#subscriber.on('error', () => {}); // It comes back by itself, and is heard of then.
  }

  /**
   * Connects. Where Redis cannot be reached it goes on trying in the background, and everything fails
   * with StateUnavailable meanwhile.
   * @throws Error when Redis refuses this user or password
   */
  static async open(options: LinkOptions): Promise<RedisLink> {
    const link = new RedisLink(options);
    const rejection = await Promise.race([link.#connect(), delay(firstConnectMs)]);
    if (rejection !== undefined) {
      await link.close();
      throw new Error(`Redis at ${options.url.host} refuses: ${rejection}`);
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

  /** @throws StateUnavailable; an Error of Redis's own for a command that it does not take */
  async send(args: readonly Argument[]): Promise<unknown> {
    return this.#withTimeout(() => this.#commands.sendCommand([...args]));
  }

  /** The same, with texts as they are stored. @throws StateUnavailable */
  async sendForBytes(args: readonly Argument[]): Promise<unknown> {
    return this.#withTimeout(() => this.#commands.sendCommand([...args], asBytes));
  }

  /**
   * Runs a script as one step. Sent whole: by its digest it might have to be sent twice, and what was
   * sent after it would come first.
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
   * Hears a channel until the result is called, across lost connections. `onMissed` is called whenever
   * messages may have passed unheard.
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
      void this.#subscriber.unsubscribe(channel, listener).catch(() => {}); // Gone with the connection.
    };
  }

  /** Calls it whenever Redis can be reached again. */
  onReconnect(listener: () => void): void {
    this.#reconnectListeners.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#probe);
    for (const client of [this.#commands, this.#subscriber]) if (client.isOpen) client.destroy();
  }

  /** @returns why it is refused, if it is */
  async #connect(): Promise<string | undefined> {
    this.#subscriber.on('ready', () => {
      for (const subscription of this.#subscriptions) {
        // What heard before hears again by itself, but something may have passed meanwhile.
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
      // The connection broke: it is tried again with the next one.
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

  /** What it means for whoever asked; nobody else needs to find out for himself that Redis is of no use. */
  #toStateError(error: unknown): unknown {
    if (error instanceof ResponseTimeout) this.#markUnusable(error);
    if (error instanceof StateUnavailable) return error;
    if (!(error instanceof ErrorReply))
      return new StateUnavailable('Redis broke off the connection');
    const [, reason] = unavailableErrors.exec(error.message) ?? [];
    if (reason === undefined && commandErrors.test(error.message)) return error;
    const failure = new StateUnavailable(`Redis says ${reason ?? error.message.split(' ', 1)[0]}`);
    if (reason !== undefined) this.#markUnusable(failure);
    return failure;
  }

  /** Until it takes a write again, nobody asks it for anything. */
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
    const answer = await Promise.race([write.catch(() => undefined), delay(probeMs)]);
    return answer !== undefined;
  }

  #updateStatus(error?: Error): void {
    if (this.#closed) return;
    const { url, report } = this.#options;
    if (!this.isUp && !this.#outage) {
      this.#outage = { since: new Date(), reason: (this.#unusable ?? unreachableError()).code };
      const code = (error as NodeJS.ErrnoException | undefined)?.code;
      report('shared state lost', { redis: url.host, ...(code === undefined ? {} : { code }) });
    } else if (this.isUp && this.#outage) {
      this.#outage = undefined;
      report('shared state back', { redis: url.host });
      for (const listener of this.#reconnectListeners) listener();
    }
  }
}

/** Redis did not answer in time. */
class ResponseTimeout extends StateUnavailable {}

/** The time in which a command must be answered. */
class Timeout {
  /** Rejects when it is over. */
  readonly expired: Promise<never>;
  #timer: NodeJS.Timeout | undefined;
  #cancelled = false;

  constructor(ms: number) {
    this.expired = new Promise((_, reject) => {
      const expire = () => {
        if (!this.#cancelled) reject(new ResponseTimeout('Redis does not answer'));
      };
      // Where this process stood still, the answer may be there already: it is read first.
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
      // Never given up; jittered, so that many processes do not come back in step.
      reconnectStrategy: (tries: number) =>
        Math.min(1_000, 50 * 2 ** Math.min(tries, 5)) * (0.5 + Math.random()),
    },
  });
}

/** What Redis says while it cannot do its work; an older one only quotes it where a script was told. */
const unavailableErrors = /(?:^|-)(READONLY|OOM|LOADING|MISCONF|MASTERDOWN|NOREPLICAS|BUSY)\b/;
/** What it says of the command itself. */
const commandErrors = /^(ERR|WRONGTYPE)\b/;

const delay = (ms: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(resolve, ms, undefined).unref());
