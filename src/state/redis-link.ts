import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { StateLost } from './port.ts';

export interface LinkOptions {
  url: URL;
  /** Tells whoever runs this that Redis was lost, or is back. */
  tell(event: string, facts: Record<string, unknown>): void;
  /** How long one command may take before Redis counts as lost. */
  commandMs?: number;
}

type Argument = string | Buffer;

interface Ear {
  channel: string;
  listener: (message: string) => void;
  missed: () => void;
  hears: boolean;
}

const usualCommandMs = 2_000;
const firstConnectMs = 3_000;
const probeMs = 500;
/** Traffic that shows a dead connection even where nobody asks for anything. */
const pingMs = 5_000;
const silentMs = 15_000;

/** Wrong passwords and the like: waiting does not help. */
const refusals = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;

/**
 * The connection to Redis: one for commands, in the order in which they are sent, and one that listens.
 * While Redis is away every command fails at once, with StateLost; the connection comes back by itself.
 */
export class RedisLink {
  readonly #commands: ReturnType<typeof clientOf>;
  readonly #listening: ReturnType<typeof clientOf>;
  readonly #options: LinkOptions;
  readonly #backListeners = new Set<() => void>();
  readonly #ears = new Set<Ear>();
  #probe: NodeJS.Timeout | undefined;
  /** Connected, but did not answer in time. */
  #hung = false;
  #lostSince: Date | undefined;
  #closed = false;

  private constructor(options: LinkOptions) {
    this.#options = options;
    this.#commands = clientOf(options.url);
    this.#listening = clientOf(options.url);
    this.#commands.on('ready', () => this.#judge());
    this.#commands.on('reconnecting', () => this.#judge());
    this.#commands.on('error', (error: Error) => this.#judge(error));
    this.#listening.on('error', () => {}); // It comes back by itself, and is heard of then.
  }

  /**
   * Connects. Where Redis cannot be reached it goes on trying in the background, and everything fails
   * with StateLost meanwhile.
   * @throws Error when Redis refuses this user or password
   */
  static async open(options: LinkOptions): Promise<RedisLink> {
    const link = new RedisLink(options);
    const refused = await Promise.race([link.#connect(), pauseOf(firstConnectMs)]);
    if (refused !== undefined) {
      await link.close();
      throw new Error(`Redis at ${options.url.host} refuses: ${refused}`);
    }
    link.#judge();
    return link;
  }

  get isUp(): boolean {
    return !this.#hung && this.#commands.isReady;
  }

  get lostSince(): Date | undefined {
    return this.#lostSince;
  }

  /** @throws StateLost; an Error of Redis's own for a command that it does not take */
  async send(words: readonly Argument[]): Promise<unknown> {
    return this.#within(() => this.#commands.sendCommand([...words]));
  }

  /** The same, with texts as they are stored. @throws StateLost */
  async sendForBytes(words: readonly Argument[]): Promise<unknown> {
    return this.#within(() => this.#commands.sendCommand([...words], asBytes));
  }

  /**
   * Runs a script as one step. Sent whole: by its digest it might have to be sent twice, and what was
   * sent after it would come first.
   * @throws StateLost
   */
  async run(
    script: string,
    keys: readonly string[],
    values: readonly (Argument | number)[],
  ): Promise<unknown> {
    return this.sendForBytes(['EVAL', script, String(keys.length), ...keys, ...values.map(plain)]);
  }

  /**
   * Hears a channel until the result is called, across lost connections. `missed` is called whenever
   * messages may have passed unheard.
   */
  listen(channel: string, listener: (message: string) => void, missed: () => void): () => void {
    const ear: Ear = { channel, listener, missed, hears: false };
    this.#ears.add(ear);
    void this.#attach(ear);
    return () => {
      this.#ears.delete(ear);
      void this.#listening.unsubscribe(channel, listener).catch(() => {}); // Gone with the connection.
    };
  }

  /** Calls it whenever Redis can be reached again. */
  onBack(listener: () => void): void {
    this.#backListeners.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#probe);
    for (const client of [this.#commands, this.#listening]) if (client.isOpen) client.destroy();
  }

  /** @returns why it is refused, if it is */
  async #connect(): Promise<string | undefined> {
    this.#listening.on('ready', () => {
      for (const ear of this.#ears) {
        // What heard before hears again by itself, but something may have passed meanwhile.
        if (ear.hears) ear.missed();
        else void this.#attach(ear);
      }
    });
    const failure = new Promise<string | undefined>((resolve) => {
      this.#commands.once('error', ({ message }: Error) =>
        resolve(refusals.test(message) ? message : undefined),
      );
    });
    const both = Promise.all([this.#commands.connect(), this.#listening.connect()]);
    return Promise.race([failure, both.then(() => undefined).catch(() => failure)]);
  }

  async #attach(ear: Ear): Promise<void> {
    if (!this.#listening.isReady) return;
    try {
      await this.#listening.subscribe(ear.channel, ear.listener);
      ear.hears = true;
      ear.missed();
    } catch {
      // The connection broke: it is tried again with the next one.
    }
  }

  async #within<T>(send: () => Promise<T>): Promise<T> {
    if (!this.isUp) throw new StateLost('Redis cannot be reached');
    const { commandMs = usualCommandMs } = this.#options;
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      late = setTimeout(() => {
        this.#hang();
        reject(new StateLost('Redis does not answer'));
      }, commandMs);
    });
    try {
      return await Promise.race([send(), tooLate]);
    } catch (error) {
      throw translate(error);
    } finally {
      clearTimeout(late);
    }
  }

  /** Until it answers again, nobody waits for it any more. */
  #hang(): void {
    if (this.#hung || this.#closed) return;
    this.#hung = true;
    this.#judge();
    const ask = async () => {
      if (this.#closed) return;
      const answered = this.#commands.isReady
        ? await Promise.race([this.#commands.ping().catch(() => {}), pauseOf(probeMs)])
        : undefined;
      if (answered === undefined) this.#probe = setTimeout(ask, probeMs).unref();
      else this.#hung = false;
      this.#judge();
    };
    void ask();
  }

  #judge(error?: Error): void {
    if (this.#closed) return;
    const { url, tell } = this.#options;
    if (!this.isUp && !this.#lostSince) {
      this.#lostSince = new Date();
      const code = (error as NodeJS.ErrnoException | undefined)?.code;
      tell('shared state lost', { redis: url.host, ...(code === undefined ? {} : { code }) });
    } else if (this.isUp && this.#lostSince) {
      this.#lostSince = undefined;
      tell('shared state back', { redis: url.host });
      for (const listener of this.#backListeners) listener();
    }
  }
}

const asBytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

const plain = (value: Argument | number): Argument =>
  typeof value === 'number' ? String(value) : value;

function clientOf(url: URL) {
  return createClient({
    url: url.href,
    name: 'cpq-mcp',
    disableOfflineQueue: true,
    pingInterval: pingMs,
    socket: {
      connectTimeout: usualCommandMs,
      socketTimeout: silentMs,
      // Never given up; jittered, so that many processes do not come back in step.
      reconnectStrategy: (tries: number) =>
        Math.min(1_000, 50 * 2 ** Math.min(tries, 5)) * (0.5 + Math.random()),
    },
  });
}

/** What Redis says of a command itself; every other refusal means that it cannot do its work now. */
const isAboutCommand = /^(ERR|WRONGTYPE)\b/;

function translate(error: unknown): unknown {
  if (error instanceof StateLost) return error;
  if (!(error instanceof ErrorReply)) return new StateLost('Redis broke off the connection');
  return isAboutCommand.test(error.message)
    ? error
    : new StateLost(`Redis says ${error.message.split(' ', 1)[0]}`);
}

const pauseOf = (ms: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(resolve, ms, undefined).unref());
